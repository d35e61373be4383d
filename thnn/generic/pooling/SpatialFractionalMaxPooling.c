/* 2-D max pooling over regions of poolSizeH x poolSizeW elements at pseudo-random places.
 *   input            [batch x] planes x height x width
 *   randomSamples    batch x planes x 2: from 0 to 1, for width and for height
 *   output, indices  [batch x] planes x outputH x outputW
 * Along a dimension with random number u, region i of n begins at
 * floor((i + u)*step) - floor(u*step), where step is (size - poolSize)/(n - 1), and the last one
 * ends with the input. indices names the greatest element, the first of equals, by its number in
 * the plane; 0 stands where no element exceeds the lowest finite number. */
#include "generic/pooling/checks.h"
#include "generic/pooling/fractional.h"

#ifdef THNN_ONCE
THNNFractional THNN_SpatialFractionalMaxPooling_shapeCheck(const char *function, THNNShape input,
                                                           THNNShape gradOutput, THNNShape indices,
                                                           THNNShape randomSamples,
                                                           int firstPosition, int outputW,
                                                           int outputH, int poolSizeW,
                                                           int poolSizeH)
{
  const int at = firstPosition;
  const THNNFractionalArguments arguments = {
      .function = function,
      .nDimension = 2,
      .layout = "[batch x] planes x height x width",
      .input = input,
      .gradOutput = gradOutput,
      .indices = indices,
      .randomSamples = randomSamples,
      .output = {THNN_SCALAR(outputH, at + 1), THNN_SCALAR(outputW, at)},
      .pool = {THNN_SCALAR(poolSizeH, at + 3), THNN_SCALAR(poolSizeW, at + 2)}};
  return THNN_fractionalCheck(&arguments);
}
#endif

void THNN_(SpatialFractionalMaxPooling_updateOutput)(THNNState *state, THTensor *input,
                                                     THTensor *output, int outputW, int outputH,
                                                     int poolSizeW, int poolSizeH,
                                                     THIndexTensor *indices,
                                                     THTensor *randomSamples)
{
  THNNFractionalCall call = {"SpatialFractionalMaxPooling_updateOutput", state,
                             .indicesPosition = 8};
  call.pooling = THNN_SpatialFractionalMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE,
      THNN_SHAPE(randomSamples, 9), 4, outputW, outputH, poolSizeW, poolSizeH);
  THNN_(fractional_updateOutput)(&call, input, output, indices, randomSamples);
}

void THNN_(SpatialFractionalMaxPooling_updateGradInput)(THNNState *state, THTensor *input,
                                                        THTensor *gradOutput, THTensor *gradInput,
                                                        int outputW, int outputH, int poolSizeW,
                                                        int poolSizeH, THIndexTensor *indices)
{
  THNNFractionalCall call = {"SpatialFractionalMaxPooling_updateGradInput", state,
                             .indicesPosition = 9};
  call.pooling = THNN_SpatialFractionalMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 9),
      THNN_NO_SHAPE, 5, outputW, outputH, poolSizeW, poolSizeH);
  THNN_(fractional_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}
