/* Softmax and batch normalisation from C, and a rejected call. */
#include "module.h"

static void testSoftMax(void)
{
  Tensor *input = TENSOR_OF((2, 2), log(1), log(3), log(8), log(2)), *output = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((2, 2), 1, 2, 3, -1), *gradInput = emptyTensor();
  MODULE(SoftMax_updateOutput)(NULL, input, output);
  EXPECT(output, (2, 2), 0.25, 0.75, 0.8, 0.2);
  MODULE(SoftMax_updateGradInput)(NULL, NULL, gradOutput, gradInput, output);
  EXPECT(gradInput, (2, 2), -0.1875, 0.1875, 0.64, -0.64);
  MODULE(LogSoftMax_updateOutput)(NULL, input, output);
  EXPECT(output, (2, 2), log(0.25), log(0.75), log(0.8), log(0.2));
  MODULE(LogSoftMax_updateGradInput)(NULL, NULL, gradOutput, gradInput, output);
  EXPECT(gradInput, (2, 2), 0.25, -0.25, 1.4, -1.4);
}

static void testBatchNormalization(void)
{
  Tensor *input = TENSOR_OF((2, 2), 1, 10, 7, 2), *output = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((2, 2), 1, 2, 3, 5), *gradInput = emptyTensor();
  Tensor *weight = TENSOR_OF((2), 2, 1), *bias = TENSOR_OF((2), 0.5, -1);
  Tensor *gradWeight = TENSOR_OF((2), 1), *gradBias = TENSOR_OF((2), 1);
  Tensor *mean = TENSOR_OF((2), 0), *var = TENSOR_OF((2), 1);
  Tensor *saveMean = TENSOR_OF((2), 0), *saveStd = TENSOR_OF((2), 0);
  /* The variances with eps are 9 + 16 = 25 and 16 + 16 = 32. */
  const double eps = 16, narrow = 1. / 5, wide = 1 / sqrt(32);
  MODULE(BatchNormalization_updateOutput)
  (NULL, input, output, weight, bias, mean, var, saveMean, saveStd, true, 0.5, eps);
  EXPECT(output, (2, 2), 0.5 - 6 * narrow, 4 * wide - 1, 0.5 + 6 * narrow, -4 * wide - 1);
  EXPECT(saveMean, (2), 4, 6);
  EXPECT(saveStd, (2), narrow, wide);
  EXPECT(mean, (2), 2, 3);
  EXPECT(var, (2), 0.5 + 0.5 * 18, 0.5 + 0.5 * 32); /* of a sample, not of the population */

  MODULE(BatchNormalization_backward)
  (NULL, input, gradOutput, gradInput, gradWeight, gradBias, weight, NULL, NULL, saveMean, saveStd,
   true, 2, eps);
  /* With two samples, gradInput is half the difference of their gradients, times
   * eps / (variance + eps), the weight and the inverse deviation. */
  const double first = 2 * narrow * 16 / 25, second = wide * 1.5 * 16 / 32;
  EXPECT(gradInput, (2, 2), -first, -second, first, second);
  EXPECT(gradWeight, (2), 1 + 2 * 6 * narrow, 1 - 2 * 12 * wide);
  EXPECT(gradBias, (2), 1 + 2 * 4, 1 + 2 * 7);

  MODULE(BatchNormalization_backward)
  (NULL, input, gradOutput, NULL, gradWeight, gradBias, weight, NULL, NULL, saveMean, saveStd, true,
   -2, eps);
  EXPECT(gradWeight, (2), 1, 1);
  EXPECT(gradBias, (2), 1, 1);

  CHECK_RAISES(MODULE(BatchNormalization_updateOutput)(NULL, input, output, gradInput, NULL, mean,
                                                       var, saveMean, saveStd, true, 0.5, eps),
               "argument #4 'weight'");
  EXPECT(mean, (2), 2, 3);
}

int main(void)
{
  catchErrors();
  testSoftMax();
  testBatchNormalization();
  return finish();
}
