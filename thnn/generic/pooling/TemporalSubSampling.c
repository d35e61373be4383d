/* 1-D subsampling over time: sums over windows, with a weight and a bias for each column.
 *   input         nInputFrame x inputFrameSize
 *   weight, bias  inputFrameSize
 *   output        nOutputFrame x inputFrameSize
 * Window t is kW frames from t*dW; nOutputFrame is (nInputFrame - kW)/dW + 1, rounded down.
 *   output = weight * sum + bias */
#include "generic/pooling/checks.h"
#include "generic/template.h"
#include "geometry/pooling.h"
#include "work/scratch.h"
#include "work/sizes.h"

#ifdef THNN_ONCE
/* The frames are the rows of a pooling along the height; every column is pooled by itself. */
THNNConvolution THNN_TemporalSubSampling_shapeCheck(const char *function, THNNShape input,
                                                    THNNShape gradOutput, THNNShape weight,
                                                    THNNShape bias, int firstPosition, int kW,
                                                    int dW)
{
  THNN_checkPositive(function, THNN_SCALAR(kW, firstPosition));
  THNN_checkPositive(function, THNN_SCALAR(dW, firstPosition + 1));
  THNN_checkDimensions(function, input, 2, 2, "nInputFrame x inputFrameSize");
  THNN_elements(function, input);
  const int64_t frames = input.size[0], frameSize = input.size[1];
  if (frames < kW)
    THNN_rejectShape(function, input, "at least kW = %d frames", kW);
  /* Backward, a weight of other dimensions was never accepted. */
  if (gradOutput.nDimension != THNN_NOT_PRESENT && bias.nDimension == THNN_NOT_PRESENT)
    THNN_checkDimensions(function, weight, 1, 1, "inputFrameSize");
  else
    THNN_checkNotEmpty(function, weight);
  THNN_checkSize(function, input, 1, THNN_elements(function, weight), "inputFrameSize");
  const THNNShape columns = THNN_makeShape("the columns of input", 2, 1, &frameSize);
  if (bias.nDimension != THNN_NOT_PRESENT)
    THNN_checkSameElements(function, bias, columns);
  const int64_t wanted[] = {(frames - kW) / dW + 1, frameSize};
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkSizes(function, gradOutput, 2, wanted, "nOutputFrame x inputFrameSize");
  return (THNNConvolution){.batch = 1,
                           .inputPlanes = 1,
                           .outputPlanes = 1,
                           .input = {1, frames, frameSize},
                           .output = {1, wanted[0], frameSize},
                           .kernel = {1, kW, 1},
                           .stride = {1, dW, 1},
                           .dilation = {1, 1, 1}};
}
#endif

/* Columns are independent of each other, and so are frames of the output and of gradInput. */
static int threadsFor(const THNNState *state, const THNNBlocks *blocks, const THNNConvolution *g)
{
  return THNN_threads(state, blocks->count,
                      (double)g->output[1] * (double)g->kernel[1] * (double)g->input[2]);
}

/* sum = the sum of the window's frames. */
static void sumFrames(int64_t frameSize, const real *frames, THNNRange window, const real **rows,
                      real *sum)
{
  for (int64_t i = window.begin; i < window.end; i++)
    rows[i - window.begin] = frames + i * frameSize;
  THNN_(simd).pooling.sumOfRows(frameSize, window.end - window.begin, rows, sum);
}

void THNN_(TemporalSubSampling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                             THTensor *weight, THTensor *bias, int kW, int dW,
                                             int inputFrameSize)
{
  const char *function = "TemporalSubSampling_updateOutput";
  const THNNConvolution g =
      THNN_TemporalSubSampling_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                                          THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5), 6, kW, dW);
  THNN_checkSize(function, THNN_SHAPE(input, 2), 1, inputFrameSize, "inputFrameSize");

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const THNNBlocks blocks = THNN_rowBlocks(g.output[1], kW * g.input[2]);
  const int threads = threadsFor(state, &blocks, &g);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, 2, g.output + 1);
  const THNNBuffer *factors = THNN_planIn(&plan, weight, 4);
  const THNNBuffer *terms = THNN_planIn(&plan, bias, 5);
  const int64_t room = THNN_wholeLines(kW, sizeof(real *));
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)(threads * room) * sizeof(real *));
  THNN_planAcquire(&plan);

#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    const real **rows = (const real **)scratch->data + THNN_threadIndex() * room;
    for (int64_t i = 0; i < THNN_blockLength(&blocks, block); i++) {
      const int64_t frame = block * blocks.length + i;
      real *to = (real *)out->data + frame * g.input[2];
      sumFrames(g.input[2], in->data, (THNNRange){frame * dW, frame * dW + kW}, rows, to);
      THNN_(simd).pooling.multiplyAdd(g.input[2], factors->data, to, terms->data, to);
    }
  }
  THNN_planRelease(&plan);
}

/* A thread's scratch for gradInput: the frames of gradOutput whose windows contain one frame of the
 * input, and zeros in place of a bias. */
typedef struct Areas {
  const real **rows;
  real *zeros;
} Areas;

static Areas layOut(int64_t windows, int64_t frameSize, Scratch *scratch)
{
  Areas areas;
  areas.rows = THNN_take(scratch, windows, sizeof(real *));
  areas.zeros = THNN_take(scratch, frameSize, sizeof(real));
  return areas;
}

void THNN_(TemporalSubSampling_updateGradInput)(THNNState *state, THTensor *input,
                                                THTensor *gradOutput, THTensor *gradInput,
                                                THTensor *weight, int kW, int dW)
{
  const char *function = "TemporalSubSampling_updateGradInput";
  const THNNConvolution g =
      THNN_TemporalSubSampling_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                                          THNN_SHAPE(weight, 5), THNN_NO_SHAPE, 6, kW, dW);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const int64_t windows = kW / dW + 1; /* upper bound of the windows that contain a frame */
  const THNNBlocks blocks = THNN_rowBlocks(g.input[1], windows * g.input[2]);
  const int threads = threadsFor(state, &blocks, &g);
  Scratch needed = {0};
  layOut(windows, g.input[2], &needed);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *factors = THNN_planIn(&plan, weight, 5);
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)threads * needed.used);
  THNN_planAcquire(&plan);

#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    Scratch mine = THNN_scratchOf(scratch->data, needed.used, THNN_threadIndex());
    const Areas areas = layOut(windows, g.input[2], &mine);
    THNN_(simd).pointwise.fill(g.input[2], 0, areas.zeros);
    for (int64_t i = 0; i < THNN_blockLength(&blocks, block); i++) {
      const int64_t frame = block * blocks.length + i;
      real *row = (real *)to->data + frame * g.input[2];
      sumFrames(g.input[2], from->data, THNN_windowsOver(&g, 1, frame), areas.rows, row);
      THNN_(simd).pooling.multiplyAdd(g.input[2], factors->data, row, areas.zeros, row);
    }
  }
  THNN_planRelease(&plan);
}

enum { COLUMNS = 256 }; /* columns that a block sums */

void THNN_(TemporalSubSampling_accGradParameters)(THNNState *state, THTensor *input,
                                                  THTensor *gradOutput, THTensor *gradWeight,
                                                  THTensor *gradBias, int kW, int dW, accreal scale)
{
  const char *function = "TemporalSubSampling_accGradParameters";
  const THNNConvolution g = THNN_TemporalSubSampling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 6, kW, dW);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const int64_t frameSize = g.input[2];
  const THNNBlocks blocks = {divideUp(frameSize, COLUMNS), COLUMNS, frameSize};
  const int threads = threadsFor(state, &blocks, &g);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *weights = THNN_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *biases = THNN_planInOut(&plan, gradBias, 5);
  THNN_planAcquire(&plan);

#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    const int64_t first = block * COLUMNS, columns = THNN_blockLength(&blocks, block);
    double weightSum[COLUMNS] = {0}, biasSum[COLUMNS] = {0};
    for (int64_t frame = 0; frame < g.output[1]; frame++) {
      const real *gradient = (const real *)from->data + frame * frameSize + first;
      for (int k = 0; k < kW; k++) {
        const real *x = (const real *)in->data + (frame * dW + k) * frameSize + first;
        for (int64_t i = 0; i < columns; i++)
          weightSum[i] += (double)gradient[i] * x[i];
      }
      for (int64_t i = 0; i < columns; i++)
        biasSum[i] += gradient[i];
    }
    for (int64_t i = 0; i < columns; i++) {
      ((real *)weights->data)[first + i] += (real)(scale * weightSum[i]);
      ((real *)biases->data)[first + i] += (real)(scale * biasSum[i]);
    }
  }
  THNN_planRelease(&plan);
}
