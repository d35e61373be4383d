/* 2-D convolution plane by plane: each input plane has kernels and output planes of its own.
 *   input    [batch x] nInputPlane x height x width
 *   weight   multiplier x nInputPlane x kH x kW, or multiplier x (nInputPlane * kH * kW)
 *   bias     multiplier x nInputPlane
 *   output   [batch x] (nInputPlane * multiplier) x outputHeight x outputWidth
 * Output plane c * multiplier + m is input plane c convolved with weight[m][c]. outputHeight is
 * (height + 2 padH - kH) / dH + 1, rounded down. */
#include "generic/convolution/checks.h"
#include "generic/convolution/planewise/connected.h"
#include "geometry/convolution.h"
#include "geometry/convolutionCheck.h"

#ifdef THNN_ONCE
/* Checks the weight, and sets the numbers of planes and connections from it. */
static void readWeight(const char *function, THNNShape weight, THNNScalar kH, THNNScalar kW,
                       THNNPlaneJoins *joins)
{
  if (weight.nDimension == 2) {
    const int64_t taps = kH.value * kW.value;
    THNN_checkDimensions(function, weight, 2, 2, "multiplier x (nInputPlane * kH * kW)");
    if (weight.size[1] % taps != 0)
      THNN_rejectShape(function, weight, "a multiple of kH * kW = %lld in dimension 2",
                       (long long)taps);
    joins->imagePlanes = weight.size[1] / taps;
  } else {
    THNN_checkDimensions(function, weight, 4, 4, "multiplier x nInputPlane x kH x kW");
    THNN_checkSize(function, weight, 2, kH.value, "kH");
    THNN_checkSize(function, weight, 3, kW.value, "kW");
    joins->imagePlanes = weight.size[1];
  }
  THNN_elements(function, weight);
  joins->multiplier = weight.size[0];
  joins->connections = joins->mapPlanes = joins->imagePlanes * joins->multiplier;
}

THNNPlaneJoins THNN_SpatialDepthWiseConvolution_shapeCheck(const char *function, THNNShape input,
                                                           THNNShape gradOutput, THNNShape weight,
                                                           THNNShape bias, int firstPosition,
                                                           int kW, int kH, int dW, int dH, int padW,
                                                           int padH)
{
  const int at = firstPosition;
  const THNNScalar kernel[] = {THNN_SCALAR(kH, at + 1), THNN_SCALAR(kW, at)};
  const THNNScalar stride[] = {THNN_SCALAR(dH, at + 3), THNN_SCALAR(dW, at + 2)};
  const int pad[] = {padH, padW};
  for (int i = 0; i < 2; i++) {
    THNN_checkPositive(function, kernel[i]);
    THNN_checkPositive(function, stride[i]);
  }
  THNNPlaneJoins joins = {.nDimension = 2};
  readWeight(function, weight, kernel[0], kernel[1], &joins);
  if (THNN_given(bias)) {
    const int64_t wanted[] = {joins.multiplier, joins.imagePlanes};
    THNN_checkSizes(function, bias, 2, wanted, "multiplier x nInputPlane");
  }

  THNN_checkDimensions(function, input, 3, 4, "[batch x] nInputPlane x height x width");
  THNN_elements(function, input);
  const bool batched = input.nDimension == 4;
  THNN_checkSize(function, input, batched, joins.imagePlanes, "nInputPlane");
  THNNConvolution *g = &joins.geometry;
  *g = (THNNConvolution){.batch = batched ? input.size[0] : 1,
                         .inputPlanes = joins.imagePlanes,
                         .outputPlanes = joins.mapPlanes,
                         .input = {1},
                         .output = {1},
                         .kernel = {1},
                         .stride = {1},
                         .dilation = {1, 1, 1}};
  for (int i = 0; i < 2; i++) {
    const int d = i + 1;
    g->kernel[d] = kernel[i].value;
    g->stride[d] = stride[i].value;
    g->pad[d] = pad[i];
    g->input[d] = input.size[batched + d];
    const int64_t room = g->input[d] + 2 * g->pad[d] - g->kernel[d];
    if (room < 0)
      THNN_rejectShape(function, input, "at least %s - 2 %s = %lld elements in dimension %d",
                       kernel[i].name, i ? "padW" : "padH",
                       (long long)(g->kernel[d] - 2 * g->pad[d]), batched + d + 1);
    g->output[d] = room / g->stride[d] + 1;
  }
  if (gradOutput.nDimension == THNN_NOT_PRESENT)
    return joins;

  /* Samples and planes of gradOutput beyond those of the output are ignored. */
  int64_t wanted[4];
  const char *layout = "[batch x] (nInputPlane * multiplier) x outputHeight x outputWidth";
  const int dimensions = THNN_convolutionSizes(g, 2, false, batched, wanted);
  THNN_checkDimensions(function, gradOutput, dimensions, dimensions, layout);
  for (int i = 0; i <= batched; i++)
    wanted[i] = gradOutput.size[i] > wanted[i] ? gradOutput.size[i] : wanted[i];
  THNN_checkSizes(function, gradOutput, dimensions, wanted, layout);
  g->outputPlanes = gradOutput.size[batched];
  return joins;
}
#endif

void THNN_(SpatialDepthWiseConvolution_updateOutput)(THNNState *state, THTensor *input,
                                                     THTensor *output, THTensor *weight,
                                                     THTensor *bias, THTensor *finput,
                                                     THTensor *fgradInput, int kW, int kH, int dW,
                                                     int dH, int padW, int padH)
{
  (void)finput, (void)fgradInput;
  const char *function = "SpatialDepthWiseConvolution_updateOutput";
  const THNNPlaneJoins joins = THNN_SpatialDepthWiseConvolution_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5), 8,
      kW, kH, dW, dH, padW, padH);
  THNN_(connected_updateOutput)(function, state, &joins, input, output, weight, bias, NULL);
}

void THNN_(SpatialDepthWiseConvolution_updateGradInput)(THNNState *state, THTensor *input,
                                                        THTensor *gradOutput, THTensor *gradInput,
                                                        THTensor *weight, THTensor *finput,
                                                        THTensor *fgradInput, int kW, int kH,
                                                        int dW, int dH, int padW, int padH)
{
  (void)finput, (void)fgradInput;
  const char *function = "SpatialDepthWiseConvolution_updateGradInput";
  const THNNPlaneJoins joins = THNN_SpatialDepthWiseConvolution_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 8, kW, kH, dW, dH, padW, padH);
  THNN_(connected_updateGradInput)(function, state, &joins, input, gradOutput, gradInput, weight,
                                   NULL);
}

void THNN_(SpatialDepthWiseConvolution_accGradParameters)(THNNState *state, THTensor *input,
                                                          THTensor *gradOutput,
                                                          THTensor *gradWeight, THTensor *gradBias,
                                                          THTensor *finput, THTensor *fgradInput,
                                                          int kW, int kH, int dW, int dH, int padW,
                                                          int padH, accreal scale)
{
  (void)finput, (void)fgradInput;
  const char *function = "SpatialDepthWiseConvolution_accGradParameters";
  const THNNPlaneJoins joins = THNN_SpatialDepthWiseConvolution_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, kH, dW, dH, padW, padH);
  THNN_(connected_accGradParameters)(function, state, &joins, input, gradOutput, gradWeight,
                                     gradBias, NULL, scale);
}
