/* Spatial convolutions from C: ordinary, transposed and plane by plane. */
#include "module.h"

static void testConvolution(void)
{
  Tensor *input = TENSOR_OF((1, 3, 3), 1, 2, 3, 4, 5, 6, 7, 8, 9), *output = emptyTensor();
  Tensor *weight = TENSOR_OF((1, 4), 1, 0, 0, -2), *bias = TENSOR_OF((1), 0.5);
  Tensor *gradOutput = TENSOR_OF((1, 2, 2), 1, 2, 3, 4), *gradInput = emptyTensor();
  Tensor *gradWeight = TENSOR_OF((1, 4), 1), *gradBias = TENSOR_OF((1), 1);
  MODULE(SpatialConvolutionMM_updateOutput)
  (NULL, input, output, weight, bias, NULL, NULL, 2, 2, 1, 1, 0, 0);
  EXPECT(output, (1, 2, 2), -8.5, -9.5, -11.5, -12.5);
  MODULE(SpatialConvolutionMM_updateGradInput)
  (NULL, input, gradOutput, gradInput, weight, NULL, NULL, 2, 2, 1, 1, 0, 0);
  EXPECT(gradInput, (1, 3, 3), 1, 2, 0, 3, 2, -4, 0, -6, -8);
  MODULE(SpatialConvolutionMM_accGradParameters)
  (NULL, input, gradOutput, gradWeight, gradBias, NULL, NULL, 2, 2, 1, 1, 0, 0, 2);
  EXPECT(gradWeight, (1, 4), 75, 95, 135, 155);
  EXPECT(gradBias, (1), 21);
  CHECK_RAISES(MODULE(SpatialConvolutionMM_updateOutput)(NULL, input, output, weight, bias, NULL,
                                                         NULL, 4, 4, 1, 1, 0, 0),
               "SpatialConvolutionMM_updateOutput: argument #");
  EXPECT(output, (1, 2, 2), -8.5, -9.5, -11.5, -12.5);
}

static void testTransposed(void)
{
  Tensor *input = TENSOR_OF((1, 2, 2), 1, 2, 3, 4), *output = emptyTensor();
  Tensor *weight = TENSOR_OF((1, 1, 2, 2), 1, 2, 3, 4), *bias = TENSOR_OF((1), 10);
  Tensor *gradInput = emptyTensor(), *gradWeight = TENSOR_OF((1, 1, 2, 2), 0);
  Tensor *gradBias = TENSOR_OF((1), 0);
  MODULE(SpatialFullConvolution_updateOutput)
  (NULL, input, output, weight, bias, NULL, NULL, 2, 2, 1, 1, 0, 0, 0, 0);
  EXPECT(output, (1, 3, 3), 11, 14, 14, 16, 30, 26, 19, 34, 26);
  MODULE(SpatialFullConvolution_updateGradInput)
  (NULL, input, output, gradInput, weight, NULL, 2, 2, 1, 1, 0, 0, 0, 0);
  EXPECT(gradInput, (1, 2, 2), 207, 236, 269, 288);
  MODULE(SpatialFullConvolution_accGradParameters)
  (NULL, input, output, gradWeight, gradBias, NULL, NULL, 2, 2, 1, 1, 0, 0, 0, 0, 1);
  EXPECT(gradWeight, (1, 1, 2, 2), 207, 236, 269, 288);
  EXPECT(gradBias, (1), 190);
}

static void testDepthWise(void)
{
  /* Each of the two planes gives two. */
  Tensor *input = TENSOR_OF((2, 1, 2), 1, 2, 3, 4), *output = emptyTensor();
  Tensor *weight = TENSOR_OF((2, 2, 1, 2), 1, 0, 0, 1, 1, 1, -1, 2);
  Tensor *bias = TENSOR_OF((2, 2), 10, 20, 30, 40), *gradInput = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((4, 1, 1), 1, 2, 3, 4);
  Tensor *gradWeight = TENSOR_OF((2, 2, 1, 2), 0), *gradBias = TENSOR_OF((2, 2), 0);
  MODULE(SpatialDepthWiseConvolution_updateOutput)
  (NULL, input, output, weight, bias, NULL, NULL, 2, 1, 1, 1, 0, 0);
  EXPECT(output, (4, 1, 1), 11, 33, 24, 45);
  MODULE(SpatialDepthWiseConvolution_updateGradInput)
  (NULL, input, gradOutput, gradInput, weight, NULL, NULL, 2, 1, 1, 1, 0, 0);
  EXPECT(gradInput, (2, 1, 2), 3, 2, -4, 11);
  MODULE(SpatialDepthWiseConvolution_accGradParameters)
  (NULL, input, gradOutput, gradWeight, gradBias, NULL, NULL, 2, 1, 1, 1, 0, 0, 1);
  EXPECT(gradWeight, (2, 2, 1, 2), 1, 2, 9, 12, 2, 4, 12, 16);
  EXPECT(gradBias, (2, 2), 1, 3, 2, 4);
}

int main(void)
{
  catchErrors();
  testConvolution();
  testTransposed();
  testDepthWise();
  return finish();
}
