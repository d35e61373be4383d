/* 2-D full (transposed) convolution in which a table says which planes are joined.
 *   input      nInputPlane x height x width
 *   connTable  connections x 2: an input plane and an output plane, counted from 1
 *   weight     connections x kH x kW
 *   output     nOutputPlane x outputHeight x outputWidth
 * Each input element paints its connections' kernels, scaled by its value, into the output planes.
 * outputHeight is (height - 1) dH + kH. */
#include "generic/convolution/checks.h"
#include "generic/convolution/planewise/connected.h"
#include "geometry/convolution.h"

#ifdef THNN_ONCE
THNNPlaneJoins THNN_SpatialFullConvolutionMap_shapeCheck(const char *function,
                                                         const THNNMapTensors *tensors,
                                                         int firstPosition, int nInputPlane,
                                                         int nOutputPlane, int dW, int dH)
{
  const THNNShape input = tensors->input, gradOutput = tensors->gradOutput;
  const int at = firstPosition;
  const THNNScalar stride[] = {THNN_SCALAR(dH, at + 3), THNN_SCALAR(dW, at + 2)};
  THNN_checkPositive(function, THNN_SCALAR(nInputPlane, at));
  THNN_checkPositive(function, THNN_SCALAR(nOutputPlane, at + 1));
  THNN_checkPositive(function, stride[0]);
  THNN_checkPositive(function, stride[1]);
  THNNPlaneJoins joins = THNN_connectionCheck(function, tensors, nOutputPlane);
  joins.transposed = true;
  joins.imagePlanes = nOutputPlane;
  joins.mapPlanes = nInputPlane;

  THNN_checkDimensions(function, input, 3, 3, "nInputPlane x height x width");
  THNN_elements(function, input);
  if (input.size[0] < nInputPlane)
    THNN_rejectShape(function, input, "at least nInputPlane = %d planes in dimension 1",
                     nInputPlane);
  THNNConvolution *g = &joins.geometry;
  g->batch = 1;
  g->inputPlanes = nOutputPlane;
  g->outputPlanes = input.size[0];
  for (int i = 0; i < 2; i++) {
    const int d = i + 1;
    g->stride[d] = stride[i].value;
    g->output[d] = input.size[d];
    const int64_t painted[] = {g->output[d], g->stride[d]};
    if (THNN_product(2, painted) < 0)
      THNN_rejectShape(function, input, "a size that the stride %lld leaves representable",
                       (long long)g->stride[d]);
    g->input[d] = (g->output[d] - 1) * g->stride[d] + g->kernel[d];
  }
  if (gradOutput.nDimension == THNN_NOT_PRESENT)
    return joins;

  /* Planes of gradOutput beyond those of the output are ignored. */
  const int64_t wanted[] = {nOutputPlane, g->input[1], g->input[2]};
  THNN_checkSizesOrMore(function, gradOutput, 3, wanted,
                        "nOutputPlane x outputHeight x outputWidth");
  g->inputPlanes = gradOutput.size[0];
  return joins;
}
#endif

void THNN_(SpatialFullConvolutionMap_updateOutput)(THNNState *state, THTensor *input,
                                                   THTensor *output, THTensor *weight,
                                                   THTensor *bias, THTensor *connTable,
                                                   int nInputPlane, int nOutputPlane, int dW,
                                                   int dH)
{
  const char *function = "SpatialFullConvolutionMap_updateOutput";
  const THNNMapTensors tensors = {.input = THNN_SHAPE(input, 2),
                                  .gradOutput = THNN_NO_SHAPE,
                                  .weight = THNN_SHAPE(weight, 4),
                                  .bias = THNN_SHAPE(bias, 5),
                                  .connTable = THNN_SHAPE(connTable, 6)};
  const THNNPlaneJoins joins = THNN_SpatialFullConvolutionMap_shapeCheck(
      function, &tensors, 7, nInputPlane, nOutputPlane, dW, dH);
  THNN_(connected_updateOutput)(function, state, &joins, input, output, weight, bias, connTable);
}

void THNN_(SpatialFullConvolutionMap_updateGradInput)(THNNState *state, THTensor *input,
                                                      THTensor *gradOutput, THTensor *gradInput,
                                                      THTensor *weight, THTensor *bias,
                                                      THTensor *connTable, int nInputPlane,
                                                      int nOutputPlane, int dW, int dH)
{
  (void)bias;
  const char *function = "SpatialFullConvolutionMap_updateGradInput";
  const THNNMapTensors tensors = {.input = THNN_SHAPE(input, 2),
                                  .gradOutput = THNN_SHAPE(gradOutput, 3),
                                  .weight = THNN_SHAPE(weight, 5),
                                  .bias = THNN_NO_SHAPE,
                                  .connTable = THNN_SHAPE(connTable, 7)};
  const THNNPlaneJoins joins = THNN_SpatialFullConvolutionMap_shapeCheck(
      function, &tensors, 8, nInputPlane, nOutputPlane, dW, dH);
  THNN_(connected_updateGradInput)(function, state, &joins, input, gradOutput, gradInput, weight,
                                   connTable);
}

void THNN_(SpatialFullConvolutionMap_accGradParameters)(THNNState *state, THTensor *input,
                                                        THTensor *gradOutput, THTensor *gradWeight,
                                                        THTensor *gradBias, THTensor *connTable,
                                                        int nInputPlane, int nOutputPlane, int dW,
                                                        int dH, accreal scale)
{
  const char *function = "SpatialFullConvolutionMap_accGradParameters";
  const THNNMapTensors tensors = {.input = THNN_SHAPE(input, 2),
                                  .gradOutput = THNN_SHAPE(gradOutput, 3),
                                  .weight = THNN_SHAPE(gradWeight, 4),
                                  .bias = THNN_SHAPE(gradBias, 5),
                                  .connTable = THNN_SHAPE(connTable, 6)};
  const THNNPlaneJoins joins = THNN_SpatialFullConvolutionMap_shapeCheck(
      function, &tensors, 7, nInputPlane, nOutputPlane, dW, dH);
  THNN_(connected_accGradParameters)(function, state, &joins, input, gradOutput, gradWeight,
                                     gradBias, connTable, scale);
}
