/* The twin of generic/pooling/SpatialFractionalMaxPooling.c. */
#include "cuda/generic/pooling/fractional.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(SpatialFractionalMaxPooling_updateOutput)(THCState *state, THCTensor *input,
                                                       THCTensor *output, int outputW, int outputH,
                                                       int poolSizeW, int poolSizeH,
                                                       THCIndexTensor *indices,
                                                       THCTensor *randomSamples)
{
  THCFractionalCall call = {"SpatialFractionalMaxPooling_updateOutput", state, 8, {}};
  call.pooling = THNN_SpatialFractionalMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE,
      THNN_SHAPE(randomSamples, 9), 4, outputW, outputH, poolSizeW, poolSizeH);
  THCUNN_(fractional_updateOutput)(&call, input, output, indices, randomSamples);
}

void THCUNN_(SpatialFractionalMaxPooling_updateGradInput)(THCState *state, THCTensor *input,
                                                          THCTensor *gradOutput,
                                                          THCTensor *gradInput, int outputW,
                                                          int outputH, int poolSizeW, int poolSizeH,
                                                          THCIndexTensor *indices)
{
  THCFractionalCall call = {"SpatialFractionalMaxPooling_updateGradInput", state, 9, {}};
  call.pooling = THNN_SpatialFractionalMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 9),
      THNN_NO_SHAPE, 5, outputW, outputH, poolSizeW, poolSizeH);
  THCUNN_(fractional_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}
