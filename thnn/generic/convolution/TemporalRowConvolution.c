/* 1-D convolution over frames, feature by feature: each feature has a kernel of its own.
 *   input    [batch x] nInputFrame x nFeature, or [batch x] nFeature x nInputFrame (featFirst)
 *   weight   nFeature x 1 x kW
 *   output   like input with nOutputFrame = (nInputFrame + 2 padW - kW) / dW + 1 frames
 * With the features first it is a depth-wise convolution of planes one row high. Otherwise a frame
 * is a row of features, which a tap multiplies by a row of the transposed weight. */
#include "generic/convolution/checks.h"
#include "generic/convolution/planewise/connected.h"
#include "generic/shared/matrix.h"
#include "geometry/convolution.h"
#include "work/sizes.h"

#ifdef THNN_ONCE
THNNPlaneJoins THNN_TemporalRowConvolution_shapeCheck(const char *function, THNNShape input,
                                                      THNNShape gradOutput, THNNShape weight,
                                                      THNNShape bias, int firstPosition, int kW,
                                                      int dW, int padW, bool featFirst)
{
  THNN_checkPositive(function, THNN_SCALAR(kW, firstPosition));
  THNN_checkPositive(function, THNN_SCALAR(dW, firstPosition + 1));
  THNN_checkDimensions(function, weight, 3, 3, "nFeature x 1 x kW");
  THNN_checkSize(function, weight, 1, 1, "one input plane for each feature");
  THNN_checkSize(function, weight, 2, kW, "kW");
  THNN_elements(function, weight);
  const int64_t features = weight.size[0];
  if (THNN_given(bias))
    THNN_checkVector(function, bias, features, "nFeature");

  THNN_checkDimensions(function, input, 2, 3,
                       featFirst ? "[batch x] nFeature x nInputFrame"
                                 : "[batch x] nInputFrame x nFeature");
  THNN_elements(function, input);
  const bool batched = input.nDimension == 3;
  const int frameDimension = batched + featFirst, featureDimension = batched + !featFirst;
  THNN_checkSize(function, input, featureDimension, features, "nFeature, as in weight");
  const int64_t frames = input.size[frameDimension], room = frames + 2 * (int64_t)padW - kW;
  if (room < 0)
    THNN_rejectShape(function, input, "at least kW - 2 padW = %lld frames in dimension %d",
                     (long long)kW - 2 * (long long)padW, frameDimension + 1);

  const int64_t batch = batched ? input.size[0] : 1, outputFrames = room / dW + 1;
  if (gradOutput.nDimension != THNN_NOT_PRESENT) {
    /* Samples beyond those of the input are ignored. */
    int64_t wanted[] = {batch, featFirst ? features : outputFrames,
                        featFirst ? outputFrames : features};
    const char *layout =
        featFirst ? "[batch x] nFeature x nOutputFrame" : "[batch x] nOutputFrame x nFeature";
    if (batched)
      THNN_checkSizesOrMore(function, gradOutput, 3, wanted, layout);
    else
      THNN_checkSizes(function, gradOutput, 2, wanted + 1, layout);
  }
  return (THNNPlaneJoins){.nDimension = 1,
                          .connections = features,
                          .multiplier = 1,
                          .imagePlanes = features,
                          .mapPlanes = features,
                          .geometry = {.batch = batch,
                                       .inputPlanes = features,
                                       .outputPlanes = features,
                                       .input = {1, 1, frames},
                                       .output = {1, 1, outputFrames},
                                       .kernel = {1, 1, kW},
                                       .stride = {1, 1, dW},
                                       .pad = {0, 0, padW},
                                       .dilation = {1, 1, 1}}};
}
#endif

/* ---- Frames first --------------------------------------------------------------------------- */

/* A convolution whose frames are rows of `features` elements. */
typedef struct Frames {
  int64_t batch, features;
  int64_t input, output; /* frames of a sample */
  int64_t kernel, stride, pad;
} Frames;

static Frames framesOf(const THNNPlaneJoins *joins)
{
  const THNNConvolution *g = &joins->geometry;
  return (Frames){g->batch,     g->inputPlanes, g->input[2], g->output[2],
                  g->kernel[2], g->stride[2],   g->pad[2]};
}

static THNNBlocks outputBlocks(const Frames *frames)
{
  return THNN_rowBlocks(frames->batch * frames->output, frames->features * frames->kernel);
}

static THNNBlocks inputBlocks(const Frames *frames)
{
  return THNN_rowBlocks(frames->batch * frames->input, frames->features * frames->kernel);
}

static int threadsFor(const THNNState *state, const Frames *frames, int64_t blocks)
{
  return THNN_threads(state, blocks,
                      (double)frames->batch * (double)frames->output * (double)frames->features *
                          (double)frames->kernel / 4);
}

/* taps[t] = the factors of tap t, one per feature. */
static void transposeWeight(const Frames *frames, const real *weight, real *taps)
{
  THNN_(simd).products.transpose(frames->features, frames->kernel, weight, frames->kernel, taps,
                                 frames->features);
}

/* Computes output frame `row`, counted through the batch, from the input frames that it sees. */
static void gatherFrame(const Frames *frames, int64_t row, const real *input, const real *taps,
                        const real *bias, real *output)
{
  const int64_t n = frames->features, sample = row / frames->output;
  const int64_t first = row % frames->output * frames->stride - frames->pad;
  real *y = output + row * n;
  if (bias)
    THNN_(simd).pointwise.copy(n, bias, y);
  else
    THNN_(simd).pointwise.fill(n, 0, y);
  for (int64_t t = 0; t < frames->kernel; t++)
    if (first + t >= 0 && first + t < frames->input)
      THNN_(simd).pooling.multiplyAdd(n, input + (sample * frames->input + first + t) * n,
                                      taps + t * n, y, y);
}

/* Computes the gradient of input frame `row`, counted through the batch, from the output frames
 * that saw it. */
static void scatterFrame(const Frames *frames, int64_t row, const real *gradOutput,
                         const real *taps, real *gradInput)
{
  const int64_t n = frames->features, sample = row / frames->input;
  const int64_t padded = row % frames->input + frames->pad;
  real *x = gradInput + row * n;
  THNN_(simd).pointwise.fill(n, 0, x);
  for (int64_t t = 0; t < frames->kernel && t <= padded; t++) {
    const int64_t o = (padded - t) / frames->stride;
    if ((padded - t) % frames->stride == 0 && o < frames->output)
      THNN_(simd).pooling.multiplyAdd(n, gradOutput + (sample * frames->output + o) * n,
                                      taps + t * n, x, x);
  }
}

/* Features that are summed together, and output frames in one partial sum. */
enum { FEATURES = 256, FRAMES = 64 };

/* gradWeight += scale * the sum of the products of all frames that tap t joins, for features
 * [first, first + n). */
static void correlateTap(const Frames *frames, int64_t t, int64_t first, int64_t n,
                         const real *input, const real *gradOutput, real scale, real *gradWeight)
{
  real sum[FEATURES], part[FEATURES];
  THNN_(simd).pointwise.fill(n, 0, sum);
  for (int64_t sample = 0; sample < frames->batch; sample++)
    for (int64_t begin = 0; begin < frames->output; begin += FRAMES) {
      THNN_(simd).pointwise.fill(n, 0, part);
      for (int64_t o = begin; o < begin + FRAMES && o < frames->output; o++) {
        const int64_t i = o * frames->stride - frames->pad + t;
        if (i >= 0 && i < frames->input)
          THNN_(simd).pooling.multiplyAdd(
              n, input + (sample * frames->input + i) * frames->features + first,
              gradOutput + (sample * frames->output + o) * frames->features + first, part, part);
      }
      THNN_(simd).pointwise.axpy(n, 1, part, sum);
    }
  for (int64_t i = 0; i < n; i++)
    gradWeight[(first + i) * frames->kernel + t] += scale * sum[i];
}

void THNN_(TemporalRowConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                THTensor *weight, THTensor *bias, THTensor *finput,
                                                THTensor *fgradInput, int kW, int dW, int padW,
                                                bool featFirst)
{
  (void)finput, (void)fgradInput;
  const char *function = "TemporalRowConvolution_updateOutput";
  const THNNPlaneJoins joins = THNN_TemporalRowConvolution_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5), 8,
      kW, dW, padW, featFirst);
  if (featFirst) {
    THNN_(connected_updateOutput)(function, state, &joins, input, output, weight, bias, NULL);
    return;
  }
  const Frames frames = framesOf(&joins);
  const bool batched = input->nDimension == 3;
  const int64_t size[] = {frames.batch, frames.output, frames.features};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, 2 + batched, size + !batched);
  THNNBuffer *kernels = THNN_planIn(&plan, weight, 4);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 5) : NULL;
  THNNBuffer *taps =
      THNN_planScratch(&plan, (size_t)(frames.kernel * frames.features) * sizeof(real));
  THNN_planAcquire(&plan);

  transposeWeight(&frames, kernels->data, taps->data);
  const THNNBlocks blocks = outputBlocks(&frames);
#pragma omp parallel for num_threads(threadsFor(state, &frames, blocks.count)) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++)
    for (int64_t j = 0; j < THNN_blockLength(&blocks, i); j++)
      gatherFrame(&frames, i * blocks.length + j, in->data, taps->data, start ? start->data : NULL,
                  out->data);
  THNN_planRelease(&plan);
}

void THNN_(TemporalRowConvolution_updateGradInput)(THNNState *state, THTensor *input,
                                                   THTensor *gradOutput, THTensor *gradInput,
                                                   THTensor *weight, THTensor *finput,
                                                   THTensor *fgradInput, int kW, int dW, int padW,
                                                   bool featFirst)
{
  (void)finput, (void)fgradInput;
  const char *function = "TemporalRowConvolution_updateGradInput";
  const THNNPlaneJoins joins = THNN_TemporalRowConvolution_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 8, kW, dW, padW, featFirst);
  if (featFirst) {
    THNN_(connected_updateGradInput)(function, state, &joins, input, gradOutput, gradInput, weight,
                                     NULL);
    return;
  }
  const Frames frames = framesOf(&joins);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *kernels = THNN_planIn(&plan, weight, 5);
  THNNBuffer *taps =
      THNN_planScratch(&plan, (size_t)(frames.kernel * frames.features) * sizeof(real));
  THNN_planAcquire(&plan);

  transposeWeight(&frames, kernels->data, taps->data);
  const THNNBlocks blocks = inputBlocks(&frames);
#pragma omp parallel for num_threads(threadsFor(state, &frames, blocks.count)) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++)
    for (int64_t j = 0; j < THNN_blockLength(&blocks, i); j++)
      scatterFrame(&frames, i * blocks.length + j, from->data, taps->data, to->data);
  THNN_planRelease(&plan);
}

void THNN_(TemporalRowConvolution_accGradParameters)(THNNState *state, THTensor *input,
                                                     THTensor *gradOutput, THTensor *gradWeight,
                                                     THTensor *gradBias, THTensor *finput,
                                                     THTensor *fgradInput, int kW, int dW, int padW,
                                                     bool featFirst, accreal scale)
{
  (void)finput, (void)fgradInput;
  const char *function = "TemporalRowConvolution_accGradParameters";
  const THNNPlaneJoins joins = THNN_TemporalRowConvolution_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, dW, padW, featFirst);
  if (featFirst) {
    THNN_(connected_accGradParameters)(function, state, &joins, input, gradOutput, gradWeight,
                                       gradBias, NULL, scale);
    return;
  }
  const Frames frames = framesOf(&joins);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *kernels = THNN_planInOut(&plan, gradWeight, 4);
  THNNBuffer *start = gradBias ? THNN_planInOut(&plan, gradBias, 5) : NULL;
  THNN_planAcquire(&plan);

  const int64_t groups = divideUp(frames.features, FEATURES);
  const int64_t tasks = groups * frames.kernel;
#pragma omp parallel for num_threads(threadsFor(state, &frames, tasks)) schedule(static)
  for (int64_t i = 0; i < tasks; i++) {
    const int64_t first = i / frames.kernel * FEATURES, left = frames.features - first;
    correlateTap(&frames, i % frames.kernel, first, left < FEATURES ? left : FEATURES, in->data,
                 from->data, (real)scale, kernels->data);
  }
  if (start)
    THNN_(matrix_addRowSum)(state, frames.batch * frames.output, frames.features, (real)scale,
                            from->data, frames.features, start->data);
  THNN_planRelease(&plan);
}
