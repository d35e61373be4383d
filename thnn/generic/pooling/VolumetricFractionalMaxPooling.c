/* 3-D max pooling over regions of poolSizeH x poolSizeW x poolSizeT elements at pseudo-random
 * places. Time is the last dimension here.
 *   input            [batch x] planes x height x width x time
 *   randomSamples    batch x planes x 3: from 0 to 1, for time, for width and for height
 *   output, indices  [batch x] planes x outputH x outputW x outputT
 * Regions and indices are those of SpatialFractionalMaxPooling with one more dimension. */
#include "generic/pooling/checks.h"
#include "generic/pooling/fractional.h"

#ifdef THNN_ONCE
THNNFractional THNN_VolumetricFractionalMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    THNNShape randomSamples, int firstPosition, int outputT, int outputW, int outputH,
    int poolSizeT, int poolSizeW, int poolSizeH)
{
  const int at = firstPosition;
  const THNNFractionalArguments arguments = {
      .function = function,
      .nDimension = 3,
      .layout = "[batch x] planes x height x width x time",
      .input = input,
      .gradOutput = gradOutput,
      .indices = indices,
      .randomSamples = randomSamples,
      .output = {THNN_SCALAR(outputH, at + 2), THNN_SCALAR(outputW, at + 1),
                 THNN_SCALAR(outputT, at)},
      .pool = {THNN_SCALAR(poolSizeH, at + 5), THNN_SCALAR(poolSizeW, at + 4),
               THNN_SCALAR(poolSizeT, at + 3)}};
  return THNN_fractionalCheck(&arguments);
}
#endif

void THNN_(VolumetricFractionalMaxPooling_updateOutput)(THNNState *state, THTensor *input,
                                                        THTensor *output, int outputT, int outputW,
                                                        int outputH, int poolSizeT, int poolSizeW,
                                                        int poolSizeH, THIndexTensor *indices,
                                                        THTensor *randomSamples)
{
  THNNFractionalCall call = {"VolumetricFractionalMaxPooling_updateOutput", state,
                             .indicesPosition = 10};
  call.pooling = THNN_VolumetricFractionalMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE,
      THNN_SHAPE(randomSamples, 11), 4, outputT, outputW, outputH, poolSizeT, poolSizeW, poolSizeH);
  THNN_(fractional_updateOutput)(&call, input, output, indices, randomSamples);
}

void THNN_(VolumetricFractionalMaxPooling_updateGradInput)(
    THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, int outputT,
    int outputW, int outputH, int poolSizeT, int poolSizeW, int poolSizeH, THIndexTensor *indices)
{
  THNNFractionalCall call = {"VolumetricFractionalMaxPooling_updateGradInput", state,
                             .indicesPosition = 11};
  call.pooling = THNN_VolumetricFractionalMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 11),
      THNN_NO_SHAPE, 5, outputT, outputW, outputH, poolSizeT, poolSizeW, poolSizeH);
  THNN_(fractional_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}
