/* The twin of generic/convolution/planewise/SpatialConvolutionMap.c. */
#include "cuda/generic/convolution/planewise/connected.cuh"
#include "generic/convolution/checks.h"

void THCUNN_(SpatialConvolutionMap_updateOutput)(THCState *state, THCTensor *input,
                                                 THCTensor *output, THCTensor *weight,
                                                 THCTensor *bias, THCTensor *connTable,
                                                 int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THCPlanesCall call = {"SpatialConvolutionMap_updateOutput", state, false, {}};
  const THNNMapTensors tensors = {THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
                                  THNN_SHAPE(bias, 5), THNN_SHAPE(connTable, 6)};
  call.joins = THNN_SpatialConvolutionMap_shapeCheck(call.function, &tensors, false, 7, nInputPlane,
                                                     nOutputPlane, dW, dH);
  THCUNN_(connected_updateOutput)(&call, input, output, weight, bias, connTable);
}

void THCUNN_(SpatialConvolutionMap_updateGradInput)(THCState *state, THCTensor *input,
                                                    THCTensor *gradOutput, THCTensor *gradInput,
                                                    THCTensor *weight, THCTensor *bias,
                                                    THCTensor *connTable, int nInputPlane,
                                                    int nOutputPlane, int dW, int dH)
{
  (void)bias;
  THCPlanesCall call = {"SpatialConvolutionMap_updateGradInput", state, false, {}};
  const THNNMapTensors tensors = {THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                                  THNN_SHAPE(weight, 5), THNN_NO_SHAPE, THNN_SHAPE(connTable, 7)};
  call.joins = THNN_SpatialConvolutionMap_shapeCheck(call.function, &tensors, true, 8, nInputPlane,
                                                     nOutputPlane, dW, dH);
  THCUNN_(connected_updateGradInput)(&call, input, gradOutput, gradInput, weight, connTable);
}

void THCUNN_(SpatialConvolutionMap_accGradParameters)(THCState *state, THCTensor *input,
                                                      THCTensor *gradOutput, THCTensor *gradWeight,
                                                      THCTensor *gradBias, THCTensor *connTable,
                                                      int nInputPlane, int nOutputPlane, int dW,
                                                      int dH, accreal scale)
{
  THCPlanesCall call = {"SpatialConvolutionMap_accGradParameters", state, false, {}};
  const THNNMapTensors tensors = {THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                                  THNN_SHAPE(gradWeight, 4), THNN_SHAPE(gradBias, 5),
                                  THNN_SHAPE(connTable, 6)};
  call.joins = THNN_SpatialConvolutionMap_shapeCheck(call.function, &tensors, false, 7, nInputPlane,
                                                     nOutputPlane, dW, dH);
  THCUNN_(connected_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, connTable,
                                       scale);
}
