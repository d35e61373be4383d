/* Linear and sparse modules from C. */
#include "module.h"

static void testLinear(void)
{
  Tensor *input = TENSOR_OF((2, 3), 1, 2, 3, -1, 0, 2), *output = emptyTensor();
  Tensor *weight = TENSOR_OF((2, 3), 1, 0, -1, 2, 1, 0), *bias = TENSOR_OF((2), 10, 20);
  Tensor *gradOutput = TENSOR_OF((2, 2), 1, 2, 3, -1), *gradInput = emptyTensor();
  Tensor *gradWeight = TENSOR_OF((2, 3), 1), *gradBias = TENSOR_OF((2), 1);
  MODULE(Linear_updateOutput)(NULL, input, output, weight, bias, NULL);
  EXPECT(output, (2, 2), 8, 24, 7, 18);
  MODULE(Linear_updateGradInput)(NULL, input, gradOutput, gradInput, weight);
  EXPECT(gradInput, (2, 3), 5, 2, -1, 1, -1, -3);
  MODULE(Linear_accGradParameters)
  (NULL, input, gradOutput, NULL, weight, bias, gradWeight, gradBias, NULL, 2);
  EXPECT(gradWeight, (2, 3), -3, 5, 19, 7, 9, 9);
  EXPECT(gradBias, (2), 9, 3);
  CHECK_RAISES(MODULE(Linear_updateOutput)(NULL, input, output, gradOutput, bias, NULL),
               "Linear_updateOutput: argument #2 'input'");
}

static void testSparseLinear(void)
{
  Tensor *input = TENSOR_OF((3, 3), 2, 1, 3, 1, 2, -1, 2, 3, 2), *output = TENSOR_OF((2, 2), 0);
  Tensor *weight = TENSOR_OF((2, 3), 1, 2, 3, 4, 5, 6), *bias = TENSOR_OF((2), 10, 20);
  Tensor *gradOutput = TENSOR_OF((2, 2), 1, 2, 3, 4);
  Tensor *gradWeight = TENSOR_OF((2, 3), 0), *gradBias = TENSOR_OF((2), 0);
  MODULE(SparseLinear_updateOutput)(NULL, input, output, weight, bias);
  EXPECT(output, (2, 2), 8, 15, 19, 44);
  MODULE(SparseLinear_accGradParameters)
  (NULL, input, gradOutput, gradWeight, gradBias, weight, bias, 0, 2);
  EXPECT(gradWeight, (2, 3), 18, -2, 12, 24, -4, 16);
  EXPECT(gradBias, (2), 8, 12);
  MODULE(SparseLinear_updateParameters)(NULL, weight, bias, gradWeight, gradBias, input, 0.5);
  EXPECT(weight, (2, 3), -8, 3, -3, -8, 7, -2);
  EXPECT(bias, (2), 6, 14);
  MODULE(SparseLinear_zeroGradParameters)(NULL, gradWeight, gradBias, input);
  EXPECT(gradWeight, (2, 3), 0);
  EXPECT(gradBias, (2), 0);
}

static void testIndexLinear(void)
{
  THLongTensor *keys = INDICES_OF((3), 2, 1, 2), *sizes = INDICES_OF((2), 1, 2);
  THLongTensor *sums = INDICES_OF((2), 1, 3);
  Tensor *values = TENSOR_OF((3), 3, -1, 2), *normalized = emptyTensor(), *output = emptyTensor();
  Tensor *weight = TENSOR_OF((2, 2), 1, 2, 3, 4), *bias = TENSOR_OF((2), 10, 20);
  Tensor *gradOutput = TENSOR_OF((2, 2), 1, 2, 3, 4);
  Tensor *gradWeight = emptyTensor(), *gradBias = TENSOR_OF((2), 0);
  MODULE(IndexLinear_updateOutput)
  (NULL, keys, -1, values, sizes, sums, output, weight, bias, normalized, 0);
  EXPECT(output, (2, 2), 19, 32, 15, 26);
  MODULE(IndexLinear_accGradParameters)
  (NULL, keys, -1, values, sizes, sums, gradOutput, gradWeight, gradBias, weight, bias, NULL, 0, 1);
  EXPECT(gradWeight, (3, 2), 3, 6, -3, -4, 6, 8);
  EXPECT(gradBias, (2), 4, 6);
}

static void testLookupTable(void)
{
  THLongTensor *input = INDICES_OF((3), 3, 1, 3);
  Tensor *gradOutput = TENSOR_OF((3, 2), 1, 2, 3, 4, 5, 6), *gradWeight = TENSOR_OF((3, 2), 1);
  Tensor *weight = TENSOR_OF((3, 2), 0.5, 0, 30, 40, 3, 4);
  MODULE(LookupTable_accGradParameters)
  (NULL, input, gradOutput, gradWeight, NULL, NULL, NULL, true, 0, 2);
  EXPECT(gradWeight, (3, 2), 7, 9, 1, 1, 7, 9);
  MODULE(LookupTable_renorm)(NULL, input, weight, 1, 2);
  EXPECT(weight, (3, 2), 0.5, 0, 30, 40, 3 / (5 + 1e-7), 4 / (5 + 1e-7));
  THLongTensor_data(input)[1] = 4;
  CHECK_RAISES(MODULE(LookupTable_renorm)(NULL, input, weight, 1, 2), "argument #2 'idx'");
}

int main(void)
{
  catchErrors();
  testLinear();
  testSparseLinear();
  testIndexLinear();
  testLookupTable();
  return finish();
}
