/* 2-D subsampling: sums over windows, with a weight and a bias for each plane.
 *   input         [batch x] nInputPlane x height x width
 *   weight, bias  nInputPlane
 *   output        [batch x] nInputPlane x outputHeight x outputWidth
 * Window (y, x) is kH x kW elements from (y*dH, x*dW), wholly inside the input:
 * outputHeight is (height - kH)/dH + 1, rounded down.
 *   output = weight * sum + bias */
#include "generic/pooling/checks.h"
#include "generic/pooling/windowSums.h"
#include "geometry/convolutionCheck.h"
#include "geometry/pooling.h"
#include "work/scratch.h"

#ifdef THNN_ONCE
THNNConvolution THNN_SpatialSubSampling_shapeCheck(const char *function, THNNShape input,
                                                   THNNShape gradOutput, THNNShape weight,
                                                   THNNShape bias, int firstPosition, int kW,
                                                   int kH, int dW, int dH)
{
  const int at = firstPosition;
  const bool forward = gradOutput.nDimension == THNN_NOT_PRESENT;
  THNN_checkPositive(function, THNN_SCALAR(dW, at + 2));
  THNN_checkPositive(function, THNN_SCALAR(dH, at + 3));
  if (!forward) { /* forward, a window without elements has the sum 0 */
    THNN_checkPositive(function, THNN_SCALAR(kW, at));
    THNN_checkPositive(function, THNN_SCALAR(kH, at + 1));
  }
  THNN_checkDimensions(function, input, 3, 4, "[batch x] nInputPlane x height x width");
  THNN_elements(function, input);
  const bool batched = input.nDimension == 4;
  const int64_t *size = input.size + batched;
  THNN_checkDimensions(function, weight, 1, 1, "nInputPlane");
  THNN_checkSize(function, input, batched, weight.size[0], "nInputPlane");
  if (bias.nDimension != THNN_NOT_PRESENT)
    THNN_checkElements(function, bias, size[0], "nInputPlane");
  if (size[1] < kH || size[2] < kW)
    THNN_rejectShape(function, input, "planes of at least kH x kW = %d x %d elements", kH, kW);
  const THNNConvolution geometry = {.batch = batched ? input.size[0] : 1,
                                    .inputPlanes = size[0],
                                    .outputPlanes = size[0],
                                    .input = {1, size[1], size[2]},
                                    .output = {1, (size[1] - kH) / dH + 1, (size[2] - kW) / dW + 1},
                                    .kernel = {1, kH, kW},
                                    .stride = {1, dH, dW},
                                    .dilation = {1, 1, 1}};
  const int64_t output[] = {geometry.batch, size[0], geometry.output[1], geometry.output[2]};
  const int64_t elements = THNN_elements(function, THNN_makeShape("output", 3, 4, output));
  if (!forward)
    THNN_checkElements(function, gradOutput, elements, "the forward call's output");
  return geometry;
}
#endif

static WindowSums sumsOf(const THNNState *state, const THNNConvolution *g, bool backward)
{
  const THNNRegionSums of = THNN_windowRegionSums(g, backward);
  return THNN_(windowSums_plan)(state, &of);
}

static void listSpans(const WindowSums *sums, const THNNConvolution *g, void *memory)
{
  for (int d = 0; d < 3; d++) {
    THNNRange *spans = THNN_(windowSums_listSpans)(sums, memory, d);
    for (int64_t i = 0; i < sums->of.result[d]; i++)
      spans[i] = THNN_windowSpan(g, d, i, sums->of.backward);
  }
}

/* y = the plane's weight * y, plus its bias if there is one. */
static void weighPlanes(const WindowSums *sums, int64_t inputPlanes, const real *weight,
                        const real *bias, real *y)
{
  const int64_t elements = sums->of.result[1] * sums->of.result[2];
#pragma omp parallel for num_threads(sums->threads) schedule(static)
  for (int64_t i = 0; i < sums->of.planes; i++) {
    const int64_t plane = i % inputPlanes;
    real *to = y + i * elements;
    THNN_(simd).pooling.scale(elements, weight[plane], to, to);
    if (bias)
      THNN_(simd).pointwise.addScalar(elements, to, bias[plane], to);
  }
}

void THNN_(SpatialSubSampling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THTensor *weight, THTensor *bias, int kW, int kH,
                                            int dW, int dH)
{
  const char *function = "SpatialSubSampling_updateOutput";
  const THNNConvolution g = THNN_SpatialSubSampling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5), 6,
      kW, kH, dW, dH);
  int64_t size[4];
  const int nDimension = THNN_convolutionSizes(&g, 2, false, input->nDimension == 4, size);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const WindowSums sums = sumsOf(state, &g, false);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *factors = THNN_planIn(&plan, weight, 4);
  const THNNBuffer *terms = THNN_planIn(&plan, bias, 5);
  const THNNBuffer *scratch = THNN_planScratch(&plan, sums.bytes);
  THNN_planAcquire(&plan);

  listSpans(&sums, &g, scratch->data);
  THNN_(windowSums_run)(&sums, scratch->data, in->data, out->data);
  weighPlanes(&sums, g.inputPlanes, factors->data, terms->data, out->data);
  THNN_planRelease(&plan);
}

void THNN_(SpatialSubSampling_updateGradInput)(THNNState *state, THTensor *input,
                                               THTensor *gradOutput, THTensor *gradInput,
                                               THTensor *weight, int kW, int kH, int dW, int dH)
{
  const char *function = "SpatialSubSampling_updateGradInput";
  const THNNConvolution g =
      THNN_SpatialSubSampling_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                                         THNN_SHAPE(weight, 5), THNN_NO_SHAPE, 6, kW, kH, dW, dH);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const WindowSums sums = sumsOf(state, &g, true);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *gradient = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *factors = THNN_planIn(&plan, weight, 5);
  const THNNBuffer *scratch = THNN_planScratch(&plan, sums.bytes);
  THNN_planAcquire(&plan);

  listSpans(&sums, &g, scratch->data);
  THNN_(windowSums_run)(&sums, scratch->data, from->data, gradient->data);
  weighPlanes(&sums, g.inputPlanes, factors->data, NULL, gradient->data);
  THNN_planRelease(&plan);
}

/* The gradients that one plane of all samples contributes. */
typedef struct Gradients {
  const WindowSums *sums;
  const THNNConvolution *geometry;
  void *spans;
  const real *input, *gradOutput;
  accreal scale;
  real *weight, *bias;
} Gradients;

/* A thread's scratch: what windowSums needs, and the row of sums that it computes. */
typedef struct Areas {
  void *memory;
  real *row;
} Areas;

static Areas layOut(const WindowSums *sums, int64_t width, Scratch *scratch)
{
  Areas areas;
  areas.memory = THNN_take(scratch, (int64_t)sums->threadBytes, 1);
  areas.row = THNN_take(scratch, width, sizeof(real));
  return areas;
}

static void addPlane(const Gradients *of, int64_t plane, const Areas *areas)
{
  const THNNConvolution *g = of->geometry;
  double weightSum = 0, biasSum = 0;
  for (int64_t sample = 0; sample < g->batch; sample++) {
    const int64_t image = sample * g->inputPlanes + plane;
    for (int64_t y = 0; y < g->output[1]; y++) {
      const real *from = of->gradOutput + (image * g->output[1] + y) * g->output[2];
      THNN_(windowSums_sumRow)(of->sums, of->spans, of->input + image * g->input[1] * g->input[2],
                               0, y, areas->memory, areas->row);
      weightSum += THNN_(simd).reduce.dot(g->output[2], from, areas->row);
      biasSum += THNN_(simd).reduce.sum(g->output[2], from);
    }
  }
  of->weight[plane] += (real)(of->scale * weightSum);
  of->bias[plane] += (real)(of->scale * biasSum);
}

void THNN_(SpatialSubSampling_accGradParameters)(THNNState *state, THTensor *input,
                                                 THTensor *gradOutput, THTensor *gradWeight,
                                                 THTensor *gradBias, int kW, int kH, int dW, int dH,
                                                 accreal scale)
{
  const char *function = "SpatialSubSampling_accGradParameters";
  const THNNConvolution g = THNN_SpatialSubSampling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 6, kW, kH, dW, dH);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const WindowSums sums = sumsOf(state, &g, false);
  const int threads = THNN_threads(state, g.inputPlanes, (double)THTensor_(nElement)(input) * 2);
  Scratch needed = {0};
  layOut(&sums, g.output[2], &needed);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *weights = THNN_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *biases = THNN_planInOut(&plan, gradBias, 5);
  const THNNBuffer *spans = THNN_planScratch(&plan, sums.bytes);
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)threads * needed.used);
  THNN_planAcquire(&plan);

  listSpans(&sums, &g, spans->data);
  const Gradients gradients = {.sums = &sums,
                               .geometry = &g,
                               .spans = spans->data,
                               .input = in->data,
                               .gradOutput = from->data,
                               .scale = scale,
                               .weight = weights->data,
                               .bias = biases->data};
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t plane = 0; plane < g.inputPlanes; plane++) {
    Scratch mine = THNN_scratchOf(scratch->data, needed.used, THNN_threadIndex());
    const Areas areas = layOut(&sums, g.output[2], &mine);
    addPlane(&gradients, plane, &areas);
  }
  THNN_planRelease(&plan);
}
