/* Bilinear resampling of planes; the corners of input and output coincide.
 *   input, gradInput     batch x planes x inputHeight x inputWidth
 *   output, gradOutput   batch x planes x outputHeight x outputWidth
 * Output pixel y lies at y * (inputHeight - 1) / (outputHeight - 1) of the input (at 0 when
 * outputHeight is 1) and is interpolated between the rows above and below; columns likewise.
 *
 * Both directions work row by row: interpolation along x touches each input row once, and what is
 * left along y are sums of whole rows. */
#include "template.h"

#ifdef THNN_ONCE
THNNResampling THNN_SpatialUpSamplingBilinear_shapeCheck(const char *function, THNNShape input,
                                                         THNNShape gradOutput, THNNScalar batch,
                                                         THNNScalar planes, THNNScalar inputHeight,
                                                         THNNScalar inputWidth,
                                                         THNNScalar outputHeight,
                                                         THNNScalar outputWidth)
{
  THNN_checkPositive(function, outputHeight);
  THNN_checkPositive(function, outputWidth);
  if (gradOutput.nDimension == THNN_NOT_PRESENT) {
    THNN_checkDimensions(function, input, 4, 4, "batch x planes x height x width");
    return (THNNResampling){input.size[0], input.size[1],      input.size[2],
                            input.size[3], outputHeight.value, outputWidth.value};
  }
  THNN_checkPositive(function, batch);
  THNN_checkPositive(function, planes);
  THNN_checkPositive(function, inputHeight);
  THNN_checkPositive(function, inputWidth);
  const int64_t wanted[] = {batch.value, planes.value, outputHeight.value, outputWidth.value};
  THNN_checkSizes(function, gradOutput, 4, wanted,
                  "nbatch x nchannels x outputHeight x outputWidth");
  return (THNNResampling){batch.value,      planes.value,       inputHeight.value,
                          inputWidth.value, outputHeight.value, outputWidth.value};
}
#endif

/* Where an output index lies between two input indices: before + share of the way to after. */
typedef struct THNN_(Between) {
  int64_t before, after;
  real share;
} THNN_(Between);

/* Input indices per output index. Single precision for both real types, as in the original, whose
 * results would otherwise differ in the sixth digit. */
static float ratioOf(int64_t inputSize, int64_t outputSize)
{
  return outputSize > 1 ? (float)(inputSize - 1) / (float)(outputSize - 1) : 0;
}

static THNN_(Between) between(float ratio, int64_t inputSize, int64_t index)
{
  const float at = ratio * (float)index;
  int64_t before = (int64_t)at;
  if (before > inputSize - 1)
    before = inputSize - 1;
  const int64_t after = before < inputSize - 1 ? before + 1 : before;
  return (THNN_(Between)){before, after, (real)(at - (float)before)};
}

/* Threads work on whole planes; each has this much scratch of its own: the columns' places, and
 * rows of output width. */
static size_t placesBytes(const THNNResampling *sizes)
{
  return (size_t)sizes->outputWidth * sizeof(THNN_(Between));
}

static void setPlaces(const THNNResampling *sizes, THNN_(Between) * places)
{
  const float ratio = ratioOf(sizes->inputWidth, sizes->outputWidth);
  for (int64_t x = 0; x < sizes->outputWidth; x++)
    places[x] = between(ratio, sizes->inputWidth, x);
}

static void interpolateRow(int64_t outputWidth, const THNN_(Between) * places, const real *row,
                           real *result)
{
  for (int64_t x = 0; x < outputWidth; x++) {
    const real share = places[x].share;
    result[x] = (1 - share) * row[places[x].before] + share * row[places[x].after];
  }
}

/* The transposed of interpolateRow: row += what each result goes back to. */
static void spreadRow(int64_t outputWidth, const THNN_(Between) * places, const real *result,
                      real *row)
{
  for (int64_t x = 0; x < outputWidth; x++) {
    const real share = places[x].share;
    row[places[x].before] += (1 - share) * result[x];
    row[places[x].after] += share * result[x];
  }
}

/* The input row `index`, interpolated along x, in one of two row buffers. Rows come in rising
 * order and neighbours alternate, so a buffer's row is replaced when it is no longer needed. */
static const real *interpolatedRow(const THNNResampling *sizes, const THNN_(Between) * places,
                                   const real *plane, int64_t index, int64_t held[2], real *rows)
{
  real *row = rows + index % 2 * sizes->outputWidth;
  if (held[index % 2] != index) {
    interpolateRow(sizes->outputWidth, places, plane + index * sizes->inputWidth, row);
    held[index % 2] = index;
  }
  return row;
}

static void resamplePlane(const THNNResampling *sizes, const THNN_(Between) * places,
                          const real *input, real *output, real *rows)
{
  const float ratio = ratioOf(sizes->inputHeight, sizes->outputHeight);
  int64_t held[2] = {-1, -1};
  for (int64_t y = 0; y < sizes->outputHeight; y++) {
    const THNN_(Between) at = between(ratio, sizes->inputHeight, y);
    const real *above = interpolatedRow(sizes, places, input, at.before, held, rows);
    const real *below = interpolatedRow(sizes, places, input, at.after, held, rows);
    THNN_(simd).pointwise.blend(sizes->outputWidth, 1 - at.share, above, at.share, below,
                                output + y * sizes->outputWidth);
  }
}

/* Output rows are collected into the input row above and the one below them, which are spread along
 * x once no further output row reaches them. */
static void collectPlane(const THNNResampling *sizes, const THNN_(Between) * places,
                         const real *gradOutput, real *gradInput, real *rows)
{
  const int64_t width = sizes->outputWidth;
  const float ratio = ratioOf(sizes->inputHeight, sizes->outputHeight);
  THNN_(simd).pointwise.fill(sizes->inputHeight * sizes->inputWidth, 0, gradInput);
  THNN_(simd).pointwise.fill(2 * width, 0, rows);
  int64_t first = 0; /* the input row collected in buffer first % 2; first + 1 is in the other */
  for (int64_t y = 0; y <= sizes->outputHeight; y++) {
    const bool more = y < sizes->outputHeight;
    const THNN_(Between) at = between(ratio, sizes->inputHeight, more ? y : y - 1);
    const int64_t done = more ? at.before : at.after + 1;
    for (; first < done; first++) {
      /* Rows that no output pixel reaches, when the output is much smaller, stay 0. */
      real *row = rows + first % 2 * width;
      spreadRow(width, places, row, gradInput + first * sizes->inputWidth);
      THNN_(simd).pointwise.fill(width, 0, row);
    }
    if (!more)
      break;
    const real *row = gradOutput + y * width;
    THNN_(simd).pointwise.axpy(width, 1 - at.share, row, rows + at.before % 2 * width);
    THNN_(simd).pointwise.axpy(width, at.share, row, rows + at.after % 2 * width);
  }
}

/* Scratch: the columns' places, then two rows of output width for each thread. */
typedef struct Work {
  int threads;
  size_t rowsBytes; /* of one thread */
  size_t bytes;
} Work;

static Work workFor(const THNNState *state, const THNNResampling *sizes)
{
  const int64_t planes = sizes->batch * sizes->planes;
  const double pixels = (double)(sizes->inputHeight * sizes->inputWidth) +
                        (double)(sizes->outputHeight * sizes->outputWidth);
  Work work;
  work.threads = THNN_threads(state, planes, (double)planes * pixels * 2);
  work.rowsBytes = (size_t)(2 * sizes->outputWidth) * sizeof(real);
  work.bytes = placesBytes(sizes) + (size_t)work.threads * work.rowsBytes;
  return work;
}

/* The two rows of the calling thread. */
static real *rowsOf(const Work *work, const THNNResampling *sizes, void *scratch)
{
  return (real *)((char *)scratch + placesBytes(sizes) +
                  (size_t)THNN_threadIndex() * work->rowsBytes);
}

void THNN_(SpatialUpSamplingBilinear_updateOutput)(THNNState *state, THTensor *input,
                                                   THTensor *output, int outputHeight,
                                                   int outputWidth)
{
  const char *function = "SpatialUpSamplingBilinear_updateOutput";
  const THNNScalar absent = THNN_makeScalar("", 0, 0);
  const THNNResampling sizes = THNN_SpatialUpSamplingBilinear_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, absent, absent, absent, absent,
      THNN_SCALAR(outputHeight, 4), THNN_SCALAR(outputWidth, 5));
  const int64_t outputSize[] = {sizes.batch, sizes.planes, outputHeight, outputWidth};
  const Work work = workFor(state, &sizes);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, 4, outputSize);
  THNNBuffer *scratch = THNN_planScratch(&plan, work.bytes);
  THNN_planAcquire(&plan);

  THNN_(Between) *places = scratch->data;
  setPlaces(&sizes, places);
  const int64_t inputPlane = sizes.inputHeight * sizes.inputWidth;
  const int64_t outputPlane = sizes.outputHeight * sizes.outputWidth;
#pragma omp parallel for num_threads(work.threads) schedule(static)
  for (int64_t plane = 0; plane < sizes.batch * sizes.planes; plane++)
    resamplePlane(&sizes, places, (const real *)in->data + plane * inputPlane,
                  (real *)out->data + plane * outputPlane, rowsOf(&work, &sizes, scratch->data));
  THNN_planRelease(&plan);
}

void THNN_(SpatialUpSamplingBilinear_updateGradInput)(THNNState *state, THTensor *gradOutput,
                                                      THTensor *gradInput, int nbatch,
                                                      int nchannels, int inputHeight,
                                                      int inputWidth, int outputHeight,
                                                      int outputWidth)
{
  const char *function = "SpatialUpSamplingBilinear_updateGradInput";
  const THNNResampling sizes = THNN_SpatialUpSamplingBilinear_shapeCheck(
      function, THNN_NO_SHAPE, THNN_SHAPE(gradOutput, 2), THNN_SCALAR(nbatch, 4),
      THNN_SCALAR(nchannels, 5), THNN_SCALAR(inputHeight, 6), THNN_SCALAR(inputWidth, 7),
      THNN_SCALAR(outputHeight, 8), THNN_SCALAR(outputWidth, 9));
  const int64_t inputSize[] = {nbatch, nchannels, inputHeight, inputWidth};
  const Work work = workFor(state, &sizes);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 2);
  THNNBuffer *to = THNN_planOut(&plan, gradInput, 3, 4, inputSize);
  THNNBuffer *scratch = THNN_planScratch(&plan, work.bytes);
  THNN_planAcquire(&plan);

  THNN_(Between) *places = scratch->data;
  setPlaces(&sizes, places);
  const int64_t inputPlane = sizes.inputHeight * sizes.inputWidth;
  const int64_t outputPlane = sizes.outputHeight * sizes.outputWidth;
#pragma omp parallel for num_threads(work.threads) schedule(static)
  for (int64_t plane = 0; plane < sizes.batch * sizes.planes; plane++)
    collectPlane(&sizes, places, (const real *)from->data + plane * outputPlane,
                 (real *)to->data + plane * inputPlane, rowsOf(&work, &sizes, scratch->data));
  THNN_planRelease(&plan);
}
