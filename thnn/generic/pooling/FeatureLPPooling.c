/* Pooling over neighbouring features: the p-norm of each window.
 *   input, gradInput     [batch x] nFeature [x d1 [x d2]]; the batch is there when batchMode
 *   output, gradOutput   the same with (nFeature - width) / stride + 1 features
 * output = (sum of input^power over the window)^(1/power);
 * gradInput = sum over the windows of gradOutput (input / output)^(power - 1), or of 0 where output
 * is 0. */
#include "generic/pooling/checks.h"
#include "generic/template.h"

#include <stdio.h>

enum {
  MOST_WIDTH = 16, /* the original's limits, on which */
  MOST_STRIDE = 4, /* callers may rely */
  TILE = 256       /* positions that are computed together */
};

#ifdef THNN_ONCE
static void checkWithin(const char *function, THNNScalar scalar, int least, int most)
{
  if (scalar.value >= least && scalar.value <= most)
    return;
  char expected[32], found[32];
  snprintf(expected, sizeof expected, "%d to %d", least, most);
  snprintf(found, sizeof found, "%lld", (long long)scalar.value);
  THNN_reject(function, scalar.name, scalar.position, expected, found);
}

THNNFeaturePooling THNN_FeatureLPPooling_shapeCheck(const char *function, THNNShape input,
                                                    THNNShape gradOutput, THNNShape output,
                                                    THNNScalar width, THNNScalar stride,
                                                    bool batchMode)
{
  checkWithin(function, width, 2, MOST_WIDTH);
  checkWithin(function, stride, 1, MOST_STRIDE);
  const int first = batchMode ? 1 : 0;
  THNN_checkDimensions(function, input, 1 + first, 3 + first,
                       batchMode ? "batch x nFeature [x d1 [x d2]]" : "nFeature [x d1 [x d2]]");
  if (input.size[first] < width.value)
    THNN_rejectShape(function, input, "at least %lld features (width) in dimension %d",
                     (long long)width.value, first + 1);
  THNNFeaturePooling pooling = {
      .batch = batchMode ? input.size[0] : 1,
      .features = input.size[first],
      .windows = (input.size[first] - width.value) / stride.value + 1,
      .width = (int)width.value,
      .stride = (int)stride.value,
      .rows = input.nDimension > first + 1 ? input.size[first + 1] : 1,
      .columns = input.nDimension > first + 2 ? input.size[first + 2] : 1,
  };
  pooling.outputRows = pooling.rows;
  pooling.outputColumns = pooling.columns;
  if (gradOutput.nDimension == THNN_NOT_PRESENT)
    return pooling;

  /* In dimensions other than the features, output may be larger than input; the rest is ignored. */
  bool fits = output.nDimension == input.nDimension;
  for (int i = 0; fits && i < input.nDimension; i++)
    fits = i == first ? output.size[i] == pooling.windows : output.size[i] >= input.size[i];
  if (!fits)
    THNN_rejectShape(function, output, "the sizes of input, but %lld features",
                     (long long)pooling.windows);
  THNN_checkSizes(function, gradOutput, output.nDimension, output.size, "the sizes of output");
  pooling.outputRows = output.nDimension > first + 1 ? output.size[first + 1] : 1;
  pooling.outputColumns = output.nDimension > first + 2 ? output.size[first + 2] : 1;
  return pooling;
}
#endif

/* How the work is cut. Where features are neighbours in memory, a block is some samples; otherwise
 * it is a tile of positions of one sample. */
typedef struct Cut {
  bool lines;
  int64_t blocks, samples; /* number of blocks; samples in a block of lines */
  int64_t rows, columns;   /* positions of a sample; one row if input and output agree */
  int64_t tile, tiles;     /* positions in a tile; tiles in a row */
  int64_t step, outputStep, outputColumns; /* from feature to feature; from row to row of output */
} Cut;

static Cut cutOf(const THNNFeaturePooling *p)
{
  Cut cut = {.rows = p->rows, .columns = p->columns, .outputColumns = p->outputColumns};
  cut.step = p->rows * p->columns;
  cut.outputStep = p->outputRows * p->outputColumns;
  if (p->columns == p->outputColumns) {
    cut.rows = 1;
    cut.columns = cut.step;
  }
  cut.lines = cut.step == 1 && cut.outputStep == 1;
  if (cut.lines) {
    cut.samples = p->features < THNN_BLOCK_LENGTH ? THNN_BLOCK_LENGTH / p->features : 1;
    cut.blocks = (p->batch + cut.samples - 1) / cut.samples;
  } else {
    cut.tile = cut.columns < TILE ? cut.columns : TILE;
    cut.tiles = (cut.columns + cut.tile - 1) / cut.tile;
    cut.blocks = p->batch * cut.rows * cut.tiles;
  }
  return cut;
}

/* A block: offsets of its first elements in input and output, and its number of samples or
 * positions. */
typedef struct FeatureBlock {
  int64_t at, outputAt, count;
} FeatureBlock;

static FeatureBlock blockAt(const THNNFeaturePooling *p, const Cut *cut, int64_t index)
{
  FeatureBlock block;
  if (cut->lines) {
    const int64_t sample = index * cut->samples, left = p->batch - sample;
    block.count = left < cut->samples ? left : cut->samples;
    block.at = sample * p->features;
    block.outputAt = sample * p->windows;
    return block;
  }
  const int64_t column = index % cut->tiles * cut->tile, left = cut->columns - column;
  const int64_t row = index / cut->tiles % cut->rows, sample = index / cut->tiles / cut->rows;
  block.count = left < cut->tile ? left : cut->tile;
  block.at = sample * p->features * cut->step + row * cut->columns + column;
  block.outputAt = sample * p->windows * cut->outputStep + row * cut->outputColumns + column;
  return block;
}

static int threadsFor(const THNNState *state, const THNNFeaturePooling *p, const Cut *cut)
{
  return THNN_threads(state, cut->blocks,
                      8 * (double)(p->batch * p->features * p->rows * p->columns));
}

static void raise(int64_t n, const real *x, real power, real *y)
{
  if (power == 1)
    THNN_(simd).pointwise.copy(n, x, y);
  else if (power == 2)
    THNN_(simd).activation.square(n, x, NULL, y);
  else
    THNN_(simd).elementary.power(n, x, &power, y);
}

static void extractRoot(int64_t n, real power, real *y)
{
  const real inverse = 1 / power;
  if (power == 2)
    THNN_(simd).activation.sqrt(n, y, NULL, y);
  else if (power != 1)
    THNN_(simd).elementary.power(n, y, &inverse, y);
}

static void forwardLines(const THNNFeaturePooling *p, int64_t samples, real power, const real *x,
                         real *raised, real *y)
{
  raise(samples * p->features, x, power, raised);
  for (int64_t s = 0; s < samples; s++)
    THNN_(simd).pooling.sumOfColumns(p->windows, p->stride, p->width, raised + s * p->features,
                                     y + s * p->windows);
  extractRoot(samples * p->windows, power, y);
}

static void forwardTile(const THNNFeaturePooling *p, const Cut *cut, int64_t positions, real power,
                        const real *x, real *raised, real *y)
{
  const real *rows[MOST_WIDTH];
  for (int64_t f = 0; f < p->features; f++)
    raise(positions, x + f * cut->step, power, raised + f * cut->tile);
  for (int64_t o = 0; o < p->windows; o++) {
    for (int w = 0; w < p->width; w++)
      rows[w] = raised + (o * p->stride + w) * cut->tile;
    THNN_(simd).pooling.sumOfRows(positions, p->width, rows, y + o * cut->outputStep);
    extractRoot(positions, power, y + o * cut->outputStep);
  }
}

void THNN_(FeatureLPPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                          accreal power, int width, int stride, bool batchMode)
{
  const char *function = "FeatureLPPooling_updateOutput";
  const THNNFeaturePooling pooling =
      THNN_FeatureLPPooling_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE,
                                       THNN_SCALAR(width, 5), THNN_SCALAR(stride, 6), batchMode);
  int64_t size[4];
  for (int i = 0; i < input->nDimension; i++)
    size[i] = i == (batchMode ? 1 : 0) ? pooling.windows : input->size[i];
  const Cut cut = cutOf(&pooling);
  const int threads = threadsFor(state, &pooling, &cut);
  const int64_t raisedLength =
      THNN_wholeLines(pooling.features * (cut.lines ? cut.samples : cut.tile), sizeof(real));

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, input->nDimension, size);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)(threads * raisedLength) * sizeof(real));
  THNN_planAcquire(&plan);

  const real *x = in->data;
  real *y = out->data;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < cut.blocks; i++) {
    const FeatureBlock block = blockAt(&pooling, &cut, i);
    real *raised = (real *)scratch->data + THNN_threadIndex() * raisedLength;
    if (cut.lines)
      forwardLines(&pooling, block.count, (real)power, x + block.at, raised, y + block.outputAt);
    else
      forwardTile(&pooling, &cut, block.count, (real)power, x + block.at, raised,
                  y + block.outputAt);
  }
  THNN_planRelease(&plan);
}

static void backwardLines(const THNNFeaturePooling *p, int64_t samples, const real *exponent,
                          const real *x, const real *y, const real *gradOutput, real *gradInput)
{
  real taps[TILE], terms[TILE];
  THNN_(simd).pointwise.fill(samples * p->features, 0, gradInput);
  for (int64_t s = 0; s < samples; s++)
    for (int64_t o = 0; o < p->windows; o += TILE) {
      const int64_t n = p->windows - o < TILE ? p->windows - o : TILE;
      const int64_t from = s * p->features + o * p->stride, window = s * p->windows + o;
      for (int w = 0; w < p->width; w++) {
        THNN_(simd).pointwise.copyFromSteps(n, x + from + w, p->stride, taps);
        THNN_(simd).activation.normBackward(n, taps, y + window, gradOutput + window, exponent,
                                            terms);
        THNN_(simd).pointwise.addToSteps(n, terms, gradInput + from + w, p->stride);
      }
    }
}

static void backwardTile(const THNNFeaturePooling *p, const Cut *cut, int64_t positions,
                         const real *exponent, const real *x, const real *y, const real *gradOutput,
                         real *gradInput)
{
  real terms[TILE];
  for (int64_t f = 0; f < p->features; f++)
    THNN_(simd).pointwise.fill(positions, 0, gradInput + f * cut->step);
  for (int64_t o = 0; o < p->windows; o++)
    for (int w = 0; w < p->width; w++) {
      const int64_t at = (o * p->stride + w) * cut->step;
      THNN_(simd).activation.normBackward(positions, x + at, y + o * cut->outputStep,
                                          gradOutput + o * cut->outputStep, exponent, terms);
      THNN_(simd).pointwise.addToSteps(positions, terms, gradInput + at, 1);
    }
}

void THNN_(FeatureLPPooling_updateGradInput)(THNNState *state, THTensor *gradOutput,
                                             THTensor *input, THTensor *output, THTensor *gradInput,
                                             accreal power, int width, int stride, bool batchMode)
{
  const char *function = "FeatureLPPooling_updateGradInput";
  const THNNFeaturePooling pooling = THNN_FeatureLPPooling_shapeCheck(
      function, THNN_SHAPE(input, 3), THNN_SHAPE(gradOutput, 2), THNN_SHAPE(output, 4),
      THNN_SCALAR(width, 7), THNN_SCALAR(stride, 8), batchMode);
  const real exponent = (real)power - 1;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *gradients = THNN_planIn(&plan, gradOutput, 2);
  THNNBuffer *in = THNN_planIn(&plan, input, 3);
  THNNBuffer *kept = THNN_planIn(&plan, output, 4);
  THNNBuffer *out = THNN_planOutLike(&plan, gradInput, 5, input);
  THNN_planAcquire(&plan);

  const real *g = gradients->data, *x = in->data, *y = kept->data;
  real *gradient = out->data;
  const Cut cut = cutOf(&pooling);
  const int threads = threadsFor(state, &pooling, &cut);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < cut.blocks; i++) {
    const FeatureBlock block = blockAt(&pooling, &cut, i);
    if (cut.lines)
      backwardLines(&pooling, block.count, &exponent, x + block.at, y + block.outputAt,
                    g + block.outputAt, gradient + block.at);
    else
      backwardTile(&pooling, &cut, block.count, &exponent, x + block.at, y + block.outputAt,
                   g + block.outputAt, gradient + block.at);
  }
  THNN_planRelease(&plan);
}
