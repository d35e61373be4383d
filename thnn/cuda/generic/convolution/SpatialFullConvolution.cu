/* Full (transposed) 2-D convolution: each input pixel paints a kH x kW patch of every output plane.
 *   input    [batch x] nInputPlane x height x width
 *   weight   nInputPlane x nOutputPlane x kH x kW
 *   output   [batch x] nOutputPlane x ((height - 1) dH - 2 padH + kH + adjH) x (…W)
 * It is the backward pass of the ordinary convolution from its output to its input, whose geometry
 * the shape check returns; its own backward pass is that convolution. */
#include "cuda/generic/convolution/module.cuh"
#include "generic/convolution/checks.h"

void THCUNN_(SpatialFullConvolution_updateOutput)(THCState *state, THCTensor *input,
                                                  THCTensor *output, THCTensor *weight,
                                                  THCTensor *bias, THCTensor *columns,
                                                  THCTensor *ones, int kW, int kH, int dW, int dH,
                                                  int padW, int padH, int adjW, int adjH)
{
  (void)columns, (void)ones;
  THCConvolutionCall call = {"SpatialFullConvolution_updateOutput", state, 2, true, {}};
  call.geometry = THNN_SpatialFullConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, kW, kH, dW, dH, padW, padH, adjW, adjH);
  THCUNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THCUNN_(SpatialFullConvolution_updateGradInput)(THCState *state, THCTensor *input,
                                                     THCTensor *gradOutput, THCTensor *gradInput,
                                                     THCTensor *weight, THCTensor *gradColumns,
                                                     int kW, int kH, int dW, int dH, int padW,
                                                     int padH, int adjW, int adjH)
{
  (void)gradColumns;
  THCConvolutionCall call = {"SpatialFullConvolution_updateGradInput", state, 2, true, {}};
  call.geometry = THNN_SpatialFullConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 7, kW, kH, dW, dH, padW, padH, adjW, adjH);
  THCUNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THCUNN_(SpatialFullConvolution_accGradParameters)(THCState *state, THCTensor *input,
                                                       THCTensor *gradOutput, THCTensor *gradWeight,
                                                       THCTensor *gradBias, THCTensor *columns,
                                                       THCTensor *ones, int kW, int kH, int dW,
                                                       int dH, int padW, int padH, int adjW,
                                                       int adjH, accreal scale)
{
  (void)columns, (void)ones;
  THCConvolutionCall call = {"SpatialFullConvolution_accGradParameters", state, 2, true, {}};
  call.geometry = THNN_SpatialFullConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, kH, dW, dH, padW, padH, adjW, adjH);
  THCUNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}
