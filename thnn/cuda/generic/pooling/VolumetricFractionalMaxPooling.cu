/* The twin of generic/pooling/VolumetricFractionalMaxPooling.c. */
#include "cuda/generic/pooling/fractional.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(VolumetricFractionalMaxPooling_updateOutput)(
    THCState *state, THCTensor *input, THCTensor *output, int outputT, int outputW, int outputH,
    int poolSizeT, int poolSizeW, int poolSizeH, THCIndexTensor *indices, THCTensor *randomSamples)
{
  THCFractionalCall call = {"VolumetricFractionalMaxPooling_updateOutput", state, 10, {}};
  call.pooling = THNN_VolumetricFractionalMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE,
      THNN_SHAPE(randomSamples, 11), 4, outputT, outputW, outputH, poolSizeT, poolSizeW, poolSizeH);
  THCUNN_(fractional_updateOutput)(&call, input, output, indices, randomSamples);
}

void THCUNN_(VolumetricFractionalMaxPooling_updateGradInput)(
    THCState *state, THCTensor *input, THCTensor *gradOutput, THCTensor *gradInput, int outputT,
    int outputW, int outputH, int poolSizeT, int poolSizeW, int poolSizeH, THCIndexTensor *indices)
{
  THCFractionalCall call = {"VolumetricFractionalMaxPooling_updateGradInput", state, 11, {}};
  call.pooling = THNN_VolumetricFractionalMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 11),
      THNN_NO_SHAPE, 5, outputT, outputW, outputH, poolSizeT, poolSizeW, poolSizeH);
  THCUNN_(fractional_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}
