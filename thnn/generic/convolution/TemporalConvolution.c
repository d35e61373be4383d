/* 1-D convolution over frames: each output frame is a linear function of kW neighbouring frames.
 *   input    [batch x] nInputFrame x inputFrameSize
 *   weight   outputFrameSize x (kW * inputFrameSize)
 *   output   [batch x] nOutputFrame x outputFrameSize
 * nOutputFrame is (nInputFrame - kW) / dW + 1, rounded down.
 *
 * The frames of a window are contiguous, so a window serves as a column of a matrix, and nothing
 * is unfolded. The columns that gemm takes must not overlap, so each product has every `period`-th
 * window, and a sample takes `period` products. Our own loops accept windows that overlap. With
 * stride 1, tiles of frames take fewer multiplications (temporalTiles.h). */
#include <limits.h>

#include "generic/convolution/checks.h"
#include "generic/convolution/temporalTiles.h"
#include "generic/convolution/temporalTilesWeight.h"
#include "generic/shared/matrix.h"
#include "work/sizes.h"

#ifdef THNN_ONCE
THNNFrames THNN_TemporalConvolution_shapeCheck(const char *function, THNNShape input,
                                               THNNShape gradOutput, THNNShape weight,
                                               THNNShape bias, THNNScalar kW, THNNScalar dW)
{
  THNN_checkPositive(function, kW);
  THNN_checkPositive(function, dW);
  THNN_checkDimensions(function, input, 2, 3, "[batch x] nInputFrame x inputFrameSize");
  THNN_elements(function, input);
  const bool batched = input.nDimension == 3;
  THNNFrames frames = {.batch = batched ? input.size[0] : 1,
                       .inputFrames = input.size[batched],
                       .inputSize = input.size[batched + 1]};
  if (frames.inputFrames < kW.value)
    THNN_rejectShape(function, input, "at least kW = %lld frames in dimension %d",
                     (long long)kW.value, batched + 1);
  frames.outputFrames = (frames.inputFrames - kW.value) / dW.value + 1;

  const int64_t window[] = {kW.value, frames.inputSize};
  THNN_checkDimensions(function, weight, 2, 2, "outputFrameSize x (kW * inputFrameSize)");
  const int64_t columns = weight.size[1];
  if (columns != THNN_product(2, window) && columns % kW.value == 0) /* the frames' size differs */
    THNN_checkSize(function, input, batched + 1, columns / kW.value, "inputFrameSize");
  THNN_checkSize(function, weight, 1, THNN_product(2, window), "kW * inputFrameSize");
  THNN_checkBlasSizes(function, weight);
  frames.outputSize = weight.size[0];
  if (bias.nDimension != THNN_NOT_PRESENT &&
      (!THNN_given(bias) || THNN_elements(function, bias) != frames.outputSize))
    THNN_rejectShape(function, bias, "%lld elements (outputFrameSize)",
                     (long long)frames.outputSize);

  /* A bound on the leading dimensions for BLAS, the distances of windows that do not overlap. */
  const int64_t leading[] = {kW.value + dW.value, frames.inputSize + frames.outputSize};
  if (THNN_product(2, leading) < 0 || THNN_product(2, leading) > INT_MAX)
    THNN_rejectShape(function, input, "frames of which kW + dW fit into 2^31 elements");
  if (gradOutput.nDimension == THNN_NOT_PRESENT)
    return frames;

  const bool fits = gradOutput.nDimension == input.nDimension &&
                    (!batched || gradOutput.size[0] >= frames.batch) &&
                    gradOutput.size[batched] >= frames.outputFrames &&
                    gradOutput.size[batched + 1] == frames.outputSize;
  if (!fits)
    THNN_rejectShape(
        function, gradOutput, "[batch x] nOutputFrame x outputFrameSize = [%lld x] %lld x %lld",
        (long long)frames.batch, (long long)frames.outputFrames, (long long)frames.outputSize);
  frames.gradientFrames = gradOutput.size[batched];
  return frames;
}
#endif

/* One residue class of a sample's output frames modulo `period`, and their windows, as the columns
 * of two matrices. */
typedef struct ResidueClass {
  int64_t first, count;                /* first output frame, and their number */
  int64_t inputLeading, outputLeading; /* reals from one column to the next */
  int64_t inputOffset, outputOffset;   /* reals before the first column */
  int64_t window;                      /* reals in a column of the input */
} ResidueClass;

/* The least distance, in output frames, at which windows do not overlap. */
static int64_t periodOf(int64_t kW, int64_t dW)
{
  return (kW + dW - 1) / dW;
}

static ResidueClass residueOf(const THNNFrames *frames, int64_t kW, int64_t dW, int64_t residue)
{
  const int64_t period = periodOf(kW, dW);
  return (ResidueClass){
      .first = residue,
      .count = (frames->outputFrames - residue + period - 1) / period,
      .inputLeading = period * dW * frames->inputSize,
      .outputLeading = period * frames->outputSize,
      .inputOffset = residue * dW * frames->inputSize,
      .outputOffset = residue * frames->outputSize,
      .window = kW * frames->inputSize,
  };
}

/* output = bias + weight * windows, for one sample. */
static void convolveSample(THNNState *state, const THNNFrames *frames, int64_t kW, int64_t dW,
                           const real *input, const real *weight, const real *bias, real *output,
                           THNNRoom room)
{
  const int64_t window = kW * frames->inputSize;
  if (THNN_(matrix_prefersDots)(state, frames->outputFrames, frames->outputSize, window)) {
    THNN_(matrix_affine)(state, frames->outputFrames, frames->outputSize, window, input,
                         dW * frames->inputSize, weight, bias, output, frames->outputSize, room);
    return;
  }
  if (simdFor(state)->panels.packs && periodOf(kW, dW) > 1) {
    const Matrix kernels = {weight, window, true};
    const Matrix windows = {input, dW * frames->inputSize, false};
    THNN_(matrix_repeatRow)(state, frames->outputFrames, frames->outputSize, bias, output,
                            frames->outputSize);
    THNN_(panelProducts_add)(state, frames->outputSize, frames->outputFrames, window, 1, kernels,
                             windows, 1, 0, 0, output, room);
    return;
  }
  for (int64_t i = 0; i < periodOf(kW, dW) && i < frames->outputFrames; i++) {
    const ResidueClass residue = residueOf(frames, kW, dW, i);
    THNN_(matrix_affine)(state, residue.count, frames->outputSize, residue.window,
                         input + residue.inputOffset, residue.inputLeading, weight, bias,
                         output + residue.outputOffset, residue.outputLeading, room);
  }
}

/* gradInput = the sum of the windows weight^T * gradOutput, for one sample. */
static void spreadSample(THNNState *state, const THNNFrames *frames, int64_t kW, int64_t dW,
                         const real *gradOutput, const real *weight, real *gradInput, THNNRoom room)
{
  THNN_(simd).pointwise.fill(frames->inputFrames * frames->inputSize, 0, gradInput);
  for (int64_t i = 0; i < periodOf(kW, dW) && i < frames->outputFrames; i++) {
    const ResidueClass residue = residueOf(frames, kW, dW, i);
    const Matrix w = {weight, residue.window, false};
    const Matrix g = {gradOutput + residue.outputOffset, residue.outputLeading, false};
    THNN_(matrix_multiplyInto)(state, residue.window, residue.count, frames->outputSize, 1, w, g, 1,
                               gradInput + residue.inputOffset, residue.inputLeading, room);
  }
}

/* Whether gradWeight stays in the second-level cache beside the operands of its products. */
static bool fitsCache(const THNNFrames *frames, int64_t kW)
{
  enum { CACHE_BYTES = 1 << 19 };
  return kW * frames->inputSize * frames->outputSize <= CACHE_BYTES / (int64_t)sizeof(real);
}

/* gradWeight += scale * windows * gradOutput of all samples, as one sum, for a gradWeight that
 * stays in the cache. */
static void correlateWindows(const THNNState *state, const THNNFrames *frames, int64_t kW,
                             int64_t dW, const real *input, const real *gradOutput, real scale,
                             real *gradWeight, THNNRoom room)
{
  const Matrix windows = {input, dW * frames->inputSize, false};
  const Matrix gradients = {gradOutput, frames->outputSize, true};
  THNN_(panelProducts_add)(state, kW * frames->inputSize, frames->outputSize, frames->outputFrames,
                           scale, windows, gradients, frames->batch,
                           frames->inputFrames * frames->inputSize,
                           frames->gradientFrames * frames->outputSize, gradWeight, room);
}

/* Computes the same for a larger gradWeight, for which gemm is faster. */
static void correlateResidues(THNNState *state, const THNNFrames *frames, int64_t kW, int64_t dW,
                              const real *input, const real *gradOutput, real scale,
                              real *gradWeight, THNNRoom room)
{
  for (int64_t sample = 0; sample < frames->batch; sample++) {
    const real *x = input + sample * frames->inputFrames * frames->inputSize;
    const real *g = gradOutput + sample * frames->gradientFrames * frames->outputSize;
    for (int64_t i = 0; i < periodOf(kW, dW) && i < frames->outputFrames; i++) {
      const ResidueClass residue = residueOf(frames, kW, dW, i);
      const Matrix windows = {x + residue.inputOffset, residue.inputLeading, false};
      const Matrix gradients = {g + residue.outputOffset, residue.outputLeading, true};
      THNN_(matrix_multiply)(state, residue.window, frames->outputSize, residue.count, scale,
                             windows, gradients, 1, gradWeight, room);
    }
  }
}

/* Describes the convolution to the algorithms with tiles. Returns the bytes of scratch that they take,
 * 0 if they are not used. */
static size_t prepareTiles(THNNState *state, const THNNFrames *frames, int kW, int dW,
                           bool backward, TemporalTiles *of)
{
  const int64_t inputSample = frames->inputFrames * frames->inputSize;
  *of = (TemporalTiles){.state = state,
                        .taps = kW,
                        .batch = frames->batch,
                        .sources = backward ? frames->outputFrames : frames->inputFrames,
                        .results = backward ? frames->inputFrames : frames->outputFrames,
                        .sourceSize = backward ? frames->outputSize : frames->inputSize,
                        .resultSize = backward ? frames->inputSize : frames->outputSize,
                        .backward = backward};
  of->sourceSample = backward ? frames->gradientFrames * frames->outputSize : inputSample;
  of->resultSample = backward ? inputSample : frames->outputFrames * frames->outputSize;
  return dW == 1 ? THNN_(temporalTiles_bytes)(of) : 0;
}

/* The same for the gradient of the weight. */
static size_t prepareWeightTiles(THNNState *state, const THNNFrames *frames, int kW, int dW,
                                 TemporalWeightTiles *of)
{
  *of = (TemporalWeightTiles){.state = state,
                              .taps = kW,
                              .batch = frames->batch,
                              .frames = frames->inputFrames,
                              .results = frames->outputFrames,
                              .inputSize = frames->inputSize,
                              .outputSize = frames->outputSize,
                              .inputSample = frames->inputFrames * frames->inputSize,
                              .gradientSample = frames->gradientFrames * frames->outputSize};
  return dW == 1 ? THNN_(temporalTilesWeight_bytes)(of) : 0;
}

/* The number of threads that share samples; if it is 1, threads share the products of each
 * sample. */
static int sampleThreads(const THNNState *state, const THNNFrames *frames, int64_t kW)
{
  return THNN_blasThreads(state, frames->batch,
                          (double)frames->batch * (double)frames->outputFrames *
                              (double)(kW * frames->inputSize) * (double)frames->outputSize / 12);
}

static size_t maximumBytes(size_t a, size_t b)
{
  return a > b ? a : b;
}

/* Returns the room for a product of `count` windows of `window` reals. */
typedef THNNRoom RoomOfResidue(const THNNState *state, const THNNFrames *frames, int64_t window,
                               int64_t count);

static THNNRoom convolvingRoom(const THNNState *state, const THNNFrames *frames, int64_t window,
                               int64_t count)
{
  return THNN_(matrix_room)(state, frames->outputSize, count, window, true, false);
}

static THNNRoom spreadingRoom(const THNNState *state, const THNNFrames *frames, int64_t window,
                              int64_t count)
{
  return THNN_(matrix_room)(state, window, count, frames->outputSize, false, false);
}

static THNNRoom correlatingRoom(const THNNState *state, const THNNFrames *frames, int64_t window,
                                int64_t count)
{
  return THNN_(matrix_room)(state, window, frames->outputSize, count, false, true);
}

/* The room for any residue class: the first ones can have one frame more than the last ones. */
static THNNRoom roomOfResidues(RoomOfResidue *room, const THNNState *state,
                               const THNNFrames *frames, int64_t kW, int64_t dW)
{
  const int64_t last = minimum(periodOf(kW, dW), frames->outputFrames) - 1;
  const int64_t window = kW * frames->inputSize;
  return THNN_(matrix_largerRoom)(
      room(state, frames, window, residueOf(frames, kW, dW, 0).count),
      room(state, frames, window, residueOf(frames, kW, dW, last).count));
}

/* The room for convolveSample; the branches correspond to its branches. */
static THNNRoom roomOfSample(const THNNState *state, const THNNFrames *frames, int64_t kW,
                             int64_t dW)
{
  const int64_t window = kW * frames->inputSize;
  if (THNN_(matrix_prefersDots)(state, frames->outputFrames, frames->outputSize, window))
    return convolvingRoom(state, frames, window, frames->outputFrames);
  if (simdFor(state)->panels.packs && periodOf(kW, dW) > 1)
    return THNN_(panelProducts_addRoom)(state, frames->outputSize, frames->outputFrames, window,
                                        true, false, 1);
  return roomOfResidues(convolvingRoom, state, frames, kW, dW);
}

/* How samples are computed: by several threads, each with room of its own, or one after the
 * other. */
typedef struct Sharing {
  int threads;
  THNNRoom room; /* room for the products of one sample */
} Sharing;

static Sharing shareSamples(const THNNState *state, const THNNFrames *frames, int64_t kW,
                            THNNRoom room)
{
  Sharing sharing = {.threads = sampleThreads(state, frames, kW), .room = room};
  if (sharing.threads > 1)
    sharing.room.threads = 1;
  return sharing;
}

static size_t sharingBytes(const Sharing *sharing)
{
  return (size_t)sharing->threads * THNN_roomBytes(sharing->room);
}

static THNNRoom ownRoom(const Sharing *sharing, void *scratch)
{
  const size_t own = THNN_roomBytes(sharing->room);
  return THNN_roomAt(sharing->room, (char *)scratch + own * (size_t)THNN_threadIndex());
}

static void convolveSamples(THNNState *state, const THNNFrames *frames, int64_t kW, int64_t dW,
                            const real *input, const real *weight, const real *bias, real *output,
                            const Sharing *sharing, void *scratch)
{
  const int64_t inputSample = frames->inputFrames * frames->inputSize;
  const int64_t outputSample = frames->outputFrames * frames->outputSize;
  THNN_blasBegin();
#pragma omp parallel for num_threads(sharing->threads) schedule(static)
  for (int64_t i = 0; i < frames->batch; i++)
    convolveSample(state, frames, kW, dW, input + i * inputSample, weight, bias,
                   output + i * outputSample, ownRoom(sharing, scratch));
  THNN_blasEnd();
}

static void spreadSamples(THNNState *state, const THNNFrames *frames, int64_t kW, int64_t dW,
                          const real *gradOutput, const real *weight, real *gradInput,
                          const Sharing *sharing, void *scratch)
{
  const int64_t inputSample = frames->inputFrames * frames->inputSize;
  const int64_t gradientSample = frames->gradientFrames * frames->outputSize;
  THNN_blasBegin();
#pragma omp parallel for num_threads(sharing->threads) schedule(static)
  for (int64_t i = 0; i < frames->batch; i++)
    spreadSample(state, frames, kW, dW, gradOutput + i * gradientSample, weight,
                 gradInput + i * inputSample, ownRoom(sharing, scratch));
  THNN_blasEnd();
}

void THNN_(TemporalConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                             THTensor *weight, THTensor *bias, int kW, int dW,
                                             int inputFrameSize, int outputFrameSize)
{
  const char *function = "TemporalConvolution_updateOutput";
  const THNNFrames frames = THNN_TemporalConvolution_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5),
      THNN_SCALAR(kW, 6), THNN_SCALAR(dW, 7));
  const bool batched = input->nDimension == 3;
  THNN_checkSize(function, THNN_SHAPE(input, 2), 1 + batched, inputFrameSize, "inputFrameSize");
  THNN_checkSize(function, THNN_SHAPE(weight, 4), 0, outputFrameSize, "outputFrameSize");
  const int64_t size[] = {frames.batch, frames.outputFrames, frames.outputSize};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, 2 + batched, size + !batched);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 4);
  THNNBuffer *start = THNN_planIn(&plan, bias, 5);
  TemporalTiles tiles;
  const size_t bytes = prepareTiles(state, &frames, kW, dW, false, &tiles);
  const Sharing sharing = shareSamples(state, &frames, kW, roomOfSample(state, &frames, kW, dW));
  THNNBuffer *scratch = THNN_planScratch(&plan, maximumBytes(bytes, sharingBytes(&sharing)));
  THNN_planAcquire(&plan);

  if (bytes == 0 || !THNN_(temporalTiles_run)(&tiles, in->data, matrix->data, start->data,
                                              out->data, scratch->data))
    convolveSamples(state, &frames, kW, dW, in->data, matrix->data, start->data, out->data,
                    &sharing, scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(TemporalConvolution_updateGradInput)(THNNState *state, THTensor *input,
                                                THTensor *gradOutput, THTensor *gradInput,
                                                THTensor *weight, int kW, int dW)
{
  const char *function = "TemporalConvolution_updateGradInput";
  const THNNFrames frames = THNN_TemporalConvolution_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, THNN_SCALAR(kW, 6), THNN_SCALAR(dW, 7));

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 5);
  TemporalTiles tiles;
  const size_t bytes = prepareTiles(state, &frames, kW, dW, true, &tiles);
  const Sharing sharing =
      shareSamples(state, &frames, kW, roomOfResidues(spreadingRoom, state, &frames, kW, dW));
  THNNBuffer *scratch = THNN_planScratch(&plan, maximumBytes(bytes, sharingBytes(&sharing)));
  THNN_planAcquire(&plan);

  if (bytes == 0 ||
      !THNN_(temporalTiles_run)(&tiles, from->data, matrix->data, NULL, to->data, scratch->data))
    spreadSamples(state, &frames, kW, dW, from->data, matrix->data, to->data, &sharing,
                  scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(TemporalConvolution_accGradParameters)(THNNState *state, THTensor *input,
                                                  THTensor *gradOutput, THTensor *gradWeight,
                                                  THTensor *gradBias, int kW, int dW, accreal scale)
{
  const char *function = "TemporalConvolution_accGradParameters";
  const THNNFrames frames = THNN_TemporalConvolution_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), THNN_SCALAR(kW, 6), THNN_SCALAR(dW, 7));

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *matrix = THNN_planInOut(&plan, gradWeight, 4);
  THNNBuffer *vector = THNN_planInOut(&plan, gradBias, 5);
  const bool windows = fitsCache(&frames, kW);
  const THNNRoom room =
      windows ? THNN_(panelProducts_addRoom)(state, kW * frames.inputSize, frames.outputSize,
                                             frames.outputFrames, false, true, frames.batch)
              : roomOfResidues(correlatingRoom, state, &frames, kW, dW);
  TemporalWeightTiles tiles;
  const size_t bytes = prepareWeightTiles(state, &frames, kW, dW, &tiles);
  const size_t most = maximumBytes(bytes, THNN_roomBytes(room));
  THNNBuffer *scratch = most > 0 ? THNN_planScratch(&plan, most) : NULL;
  THNN_planAcquire(&plan);

  const bool done =
      bytes > 0 && THNN_(temporalTilesWeight_run)(&tiles, in->data, from->data, (real)scale,
                                                  matrix->data, scratch->data);
  if (!done && windows)
    correlateWindows(state, &frames, kW, dW, in->data, from->data, (real)scale, matrix->data,
                     THNN_roomIn(room, scratch));
  else if (!done)
    correlateResidues(state, &frames, kW, dW, in->data, from->data, (real)scale, matrix->data,
                      THNN_roomIn(room, scratch));
  for (int64_t sample = 0; sample < frames.batch; sample++)
    THNN_(matrix_addRowSum)(state, frames.outputFrames, frames.outputSize, (real)scale,
                            (const real *)from->data +
                                sample * frames.gradientFrames * frames.outputSize,
                            frames.outputSize, vector->data);
  THNN_planRelease(&plan);
}
