/* 2-D max pooling over regions of poolSizeH x poolSizeW elements at pseudo-random places.
 *   input            [batch x] planes x height x width
 *   randomSamples    batch x planes x 2: from 0 to 1, for width and for height
 *   output, indices  [batch x] planes x outputH x outputW
 * Along a dimension with random number u, region i of n begins at
 * floor((i + u)*step) - floor(u*step), where step is (size - poolSize)/(n - 1), and the last one
 * ends with the input. An index is the number of the greatest element, the first of equals, in
 * its plane, from 1; 0 if no element exceeds the lowest finite number. */
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
