/* 2-D convolution in which a table says which planes are joined.
 *   input      [batch x] nInputPlane x height x width
 *   connTable  connections x 2: an input plane and an output plane, counted from 1
 *   weight     connections x kH x kW
 *   output     [batch x] nOutputPlane x outputHeight x outputWidth
 * An output plane is its bias plus the input planes connected to it, each convolved with the
 * connection's kernel. outputHeight is (height - kH) / dH + 1, rounded down. */
#include "generic/convolution/checks.h"
#include "generic/convolution/planewise/connected.h"
#include "geometry/convolution.h"
#include "geometry/convolutionCheck.h"

#ifdef THNN_ONCE
THNNPlaneJoins THNN_connectionCheck(const char *function, const THNNMapTensors *tensors,
                                    int64_t nOutputPlane)
{
  const THNNShape weight = tensors->weight, connTable = tensors->connTable;
  THNN_checkDimensions(function, weight, 3, 3, "connections x kH x kW");
  THNN_elements(function, weight);
  THNN_checkDimensions(function, connTable, 2, 2, "connections x 2");
  THNN_checkSize(function, connTable, 0, weight.size[0], "connections, as in weight");
  if (connTable.size[1] < 2)
    THNN_rejectShape(function, connTable, "an input plane and an output plane in dimension 2");
  THNN_elements(function, connTable);
  if (tensors->bias.nDimension != THNN_NOT_PRESENT)
    THNN_checkElements(function, tensors->bias, nOutputPlane, "nOutputPlane");
  return (THNNPlaneJoins){.nDimension = 2,
                          .connections = weight.size[0],
                          .geometry = {.input = {1},
                                       .output = {1},
                                       .kernel = {1, weight.size[1], weight.size[2]},
                                       .stride = {1, 1, 1},
                                       .dilation = {1, 1, 1}}};
}

THNNPlaneJoins THNN_SpatialConvolutionMap_shapeCheck(const char *function,
                                                     const THNNMapTensors *tensors,
                                                     bool mayBeSmaller, int firstPosition,
                                                     int nInputPlane, int nOutputPlane, int dW,
                                                     int dH)
{
  const THNNShape input = tensors->input, gradOutput = tensors->gradOutput;
  const int at = firstPosition;
  const THNNScalar stride[] = {THNN_SCALAR(dH, at + 3), THNN_SCALAR(dW, at + 2)};
  THNN_checkPositive(function, THNN_SCALAR(nInputPlane, at));
  THNN_checkPositive(function, THNN_SCALAR(nOutputPlane, at + 1));
  THNN_checkPositive(function, stride[0]);
  THNN_checkPositive(function, stride[1]);
  THNNPlaneJoins joins = THNN_connectionCheck(function, tensors, nOutputPlane);
  joins.imagePlanes = nInputPlane;
  joins.mapPlanes = nOutputPlane;

  THNN_checkDimensions(function, input, 3, 4, "[batch x] nInputPlane x height x width");
  THNN_elements(function, input);
  const bool batched = input.nDimension == 4;
  if (input.size[batched] < nInputPlane)
    THNN_rejectShape(function, input, "at least nInputPlane = %d planes in dimension %d",
                     nInputPlane, batched + 1);
  THNNConvolution *g = &joins.geometry;
  g->batch = batched ? input.size[0] : 1;
  g->inputPlanes = input.size[batched];
  g->outputPlanes = nOutputPlane;
  for (int i = 0; i < 2; i++) {
    const int d = i + 1;
    g->stride[d] = stride[i].value;
    g->input[d] = input.size[batched + d];
    if (g->input[d] < g->kernel[d])
      THNN_rejectShape(function, input, "at least the kernel's %lld elements in dimension %d",
                       (long long)g->kernel[d], batched + d + 1);
    g->output[d] = (g->input[d] - g->kernel[d]) / g->stride[d] + 1;
  }
  if (gradOutput.nDimension == THNN_NOT_PRESENT)
    return joins;

  /* Samples and planes of gradOutput beyond those of the output are ignored. */
  int64_t wanted[4];
  const char *layout = "[batch x] nOutputPlane x outputHeight x outputWidth";
  const int dimensions = THNN_convolutionSizes(g, 2, false, batched, wanted);
  THNN_checkDimensions(function, gradOutput, dimensions, dimensions, layout);
  for (int i = 0; i <= batched; i++)
    wanted[i] = gradOutput.size[i] > wanted[i] ? gradOutput.size[i] : wanted[i];
  for (int i = batched + 1; mayBeSmaller && i < dimensions; i++)
    wanted[i] = gradOutput.size[i] < wanted[i] ? gradOutput.size[i] : wanted[i];
  THNN_checkSizes(function, gradOutput, dimensions, wanted, layout);
  g->outputPlanes = gradOutput.size[batched];
  g->output[1] = gradOutput.size[batched + 1];
  g->output[2] = gradOutput.size[batched + 2];
  return joins;
}
#endif

void THNN_(SpatialConvolutionMap_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                               THTensor *weight, THTensor *bias,
                                               THTensor *connTable, int nInputPlane,
                                               int nOutputPlane, int dW, int dH)
{
  const char *function = "SpatialConvolutionMap_updateOutput";
  const THNNMapTensors tensors = {.input = THNN_SHAPE(input, 2),
                                  .gradOutput = THNN_NO_SHAPE,
                                  .weight = THNN_SHAPE(weight, 4),
                                  .bias = THNN_SHAPE(bias, 5),
                                  .connTable = THNN_SHAPE(connTable, 6)};
  const THNNPlaneJoins joins = THNN_SpatialConvolutionMap_shapeCheck(
      function, &tensors, false, 7, nInputPlane, nOutputPlane, dW, dH);
  THNN_(connected_updateOutput)(function, state, &joins, input, output, weight, bias, connTable);
}

void THNN_(SpatialConvolutionMap_updateGradInput)(THNNState *state, THTensor *input,
                                                  THTensor *gradOutput, THTensor *gradInput,
                                                  THTensor *weight, THTensor *bias,
                                                  THTensor *connTable, int nInputPlane,
                                                  int nOutputPlane, int dW, int dH)
{
  (void)bias;
  const char *function = "SpatialConvolutionMap_updateGradInput";
  const THNNMapTensors tensors = {.input = THNN_SHAPE(input, 2),
                                  .gradOutput = THNN_SHAPE(gradOutput, 3),
                                  .weight = THNN_SHAPE(weight, 5),
                                  .bias = THNN_NO_SHAPE,
                                  .connTable = THNN_SHAPE(connTable, 7)};
  const THNNPlaneJoins joins = THNN_SpatialConvolutionMap_shapeCheck(
      function, &tensors, true, 8, nInputPlane, nOutputPlane, dW, dH);
  THNN_(connected_updateGradInput)(function, state, &joins, input, gradOutput, gradInput, weight,
                                   connTable);
}

void THNN_(SpatialConvolutionMap_accGradParameters)(THNNState *state, THTensor *input,
                                                    THTensor *gradOutput, THTensor *gradWeight,
                                                    THTensor *gradBias, THTensor *connTable,
                                                    int nInputPlane, int nOutputPlane, int dW,
                                                    int dH, accreal scale)
{
  const char *function = "SpatialConvolutionMap_accGradParameters";
  const THNNMapTensors tensors = {.input = THNN_SHAPE(input, 2),
                                  .gradOutput = THNN_SHAPE(gradOutput, 3),
                                  .weight = THNN_SHAPE(gradWeight, 4),
                                  .bias = THNN_SHAPE(gradBias, 5),
                                  .connTable = THNN_SHAPE(connTable, 6)};
  const THNNPlaneJoins joins = THNN_SpatialConvolutionMap_shapeCheck(
      function, &tensors, false, 7, nInputPlane, nOutputPlane, dW, dH);
  THNN_(connected_accGradParameters)(function, state, &joins, input, gradOutput, gradWeight,
                                     gradBias, connTable, scale);
}
