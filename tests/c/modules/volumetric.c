/* Modules over volumes from C. */
#include "module.h"

static void testConvolution(void)
{
  Tensor *input = TENSOR_OF((1, 2, 2, 2), 1, 2, 3, 4, 5, 6, 7, 8), *output = emptyTensor();
  Tensor *weight = TENSOR_OF((1, 4), 1, -1, 2, 3), *bias = TENSOR_OF((1), 0.5);
  Tensor *gradOutput = TENSOR_OF((1, 1, 2, 1), 1, 2), *gradInput = emptyTensor();
  Tensor *gradWeight = TENSOR_OF((1, 4), 0), *gradBias = TENSOR_OF((1), 0);
  /* A window is 2 slices deep, 1 row high and 2 columns wide. */
  MODULE(VolumetricConvolutionMM_updateOutput)
  (NULL, input, output, weight, bias, NULL, 2, 2, 1, 1, 1, 1, 0, 0, 0);
  EXPECT(output, (1, 1, 2, 1), 27.5, 37.5);
  MODULE(VolumetricConvolutionMM_updateGradInput)
  (NULL, input, gradOutput, gradInput, weight, NULL, NULL, 2, 2, 1, 1, 1, 1, 0, 0, 0);
  EXPECT(gradInput, (1, 2, 2, 2), 1, -1, 2, -2, 2, 3, 4, 6);
  MODULE(VolumetricConvolutionMM_accGradParameters)
  (NULL, input, gradOutput, gradWeight, gradBias, NULL, 2, 2, 1, 1, 1, 1, 0, 0, 0, 1);
  EXPECT(gradWeight, (1, 4), 7, 10, 19, 22);
  EXPECT(gradBias, (1), 3);
}

static void testMaxPooling(void)
{
  Tensor *input = TENSOR_OF((1, 2, 2, 4), 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7);
  Tensor *output = emptyTensor(), *gradInput = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((1, 1, 1, 2), 10, 20);
  THLongTensor *indices = emptyIndices();
  MODULE(VolumetricMaxPooling_updateOutput)
  (NULL, input, output, indices, 2, 2, 2, 2, 2, 2, 0, 0, 0, false);
  EXPECT(output, (1, 1, 1, 2), 9, 8);
  EXPECT_INDICES(indices, 1, 1 << 8 | 1 << 16); /* slice, row and column in bytes of their own */
  MODULE(VolumetricMaxPooling_updateGradInput)
  (NULL, input, gradOutput, gradInput, indices, 2, 2, 2, 2, 2, 2, 0, 0, 0, false);
  EXPECT(gradInput, (1, 2, 2, 4), 0, 0, 0, 0, 0, 0, 0, 20, 10, 0, 0, 0, 0, 0, 0, 0);
}

static void testPadding(void)
{
  Tensor *input = TENSOR_OF((1, 1, 1, 2), 1, 2), *output = emptyTensor(),
         *gradInput = emptyTensor();
  MODULE(VolumetricReplicationPadding_updateOutput)(NULL, input, output, 1, 0, 0, 0, 0, 1);
  EXPECT(output, (1, 2, 1, 3), 1, 1, 2);
  MODULE(VolumetricReplicationPadding_updateGradInput)
  (NULL, input, output, gradInput, 1, 0, 0, 0, 0, 1);
  EXPECT(gradInput, (1, 1, 1, 2), 4, 4);
}

int main(void)
{
  catchErrors();
  testConvolution();
  testMaxPooling();
  testPadding();
  return finish();
}
