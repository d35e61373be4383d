/* Modules over frames from C. */
#include "module.h"

static void testConvolution(void)
{
  /* Windows of two frames of two values; frames 1, 2 and 3 begin them. */
  Tensor *input = TENSOR_OF((4, 2), 1, 2, 3, 4, 5, 6, 7, 8), *output = emptyTensor();
  Tensor *weight = TENSOR_OF((1, 4), 1, 0, -1, 2), *bias = TENSOR_OF((1), 10);
  Tensor *gradOutput = TENSOR_OF((3, 1), 1, 2, 3), *gradInput = emptyTensor();
  Tensor *gradWeight = TENSOR_OF((1, 4), 0), *gradBias = TENSOR_OF((1), 1);
  MODULE(TemporalConvolution_updateOutput)(NULL, input, output, weight, bias, 2, 1, 2, 1);
  EXPECT(output, (3, 1), 16, 20, 24);
  MODULE(TemporalConvolution_updateGradInput)(NULL, input, gradOutput, gradInput, weight, 2, 1);
  EXPECT(gradInput, (4, 2), 1, 0, 1, 2, 1, 4, -3, 6);
  MODULE(TemporalConvolution_accGradParameters)
  (NULL, input, gradOutput, gradWeight, gradBias, 2, 1, 2);
  EXPECT(gradWeight, (1, 4), 44, 56, 68, 80);
  EXPECT(gradBias, (1), 13);
}

static void testMaxPooling(void)
{
  Tensor *input = TENSOR_OF((4, 2), 1, 9, 3, 4, 5, 6, 2, 8), *output = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((2, 2), 1, 2, 3, 4), *gradInput = emptyTensor();
  THLongTensor *indices = emptyIndices();
  MODULE(TemporalMaxPooling_updateOutput)(NULL, input, output, indices, 2, 2);
  EXPECT(output, (2, 2), 3, 9, 5, 8);
  EXPECT_INDICES(indices, 1, 0, 0, 1); /* in the window, from 0 */
  MODULE(TemporalMaxPooling_updateGradInput)(NULL, input, gradOutput, gradInput, indices, 2, 2);
  EXPECT(gradInput, (4, 2), 0, 2, 1, 0, 3, 0, 0, 4);
}

int main(void)
{
  catchErrors();
  testConvolution();
  testMaxPooling();
  return finish();
}
