/* Criterions from C: one with a target tensor, two with class targets, and a rejected class. */
#include "module.h"

static void testMse(void)
{
  Tensor *input = TENSOR_OF((2, 2), 1, 2, 3, 4), *target = TENSOR_OF((2, 2), 1, 0, 4, 7);
  Tensor *output = TENSOR_OF((1), 0), *gradInput = emptyTensor();
  MODULE(MSECriterion_updateOutput)(NULL, input, target, output, false);
  EXPECT(output, (1), 0 + 4 + 1 + 9);
  MODULE(MSECriterion_updateOutput)(NULL, input, target, output, true);
  EXPECT(output, (1), 3.5);
  MODULE(MSECriterion_updateGradInput)(NULL, input, target, gradInput, true);
  EXPECT(gradInput, (2, 2), 0, 1, -0.5, -1.5);
}

static void testClassNll(void)
{
  Tensor *input = TENSOR_OF((3, 2), -1, -2, -3, -4, -5, -6), *gradInput = TENSOR_OF((3, 2), 0);
  THLongTensor *target = INDICES_OF((3), 2, -100, 1);
  Tensor *weights = TENSOR_OF((2), 3, 1);
  Tensor *output = TENSOR_OF((1), 0), *total = TENSOR_OF((1), 0);
  MODULE(ClassNLLCriterion_updateOutput)(NULL, input, target, output, true, weights, total, -100);
  EXPECT(output, (1), (1 * 2 + 3 * 5) / 4.);
  EXPECT(total, (1), 4);
  MODULE(ClassNLLCriterion_updateGradInput)
  (NULL, input, target, gradInput, true, weights, total, -100);
  EXPECT(gradInput, (3, 2), 0, -0.25, 0, 0, -0.75, 0);

  THLongTensor_data(target)[0] = 3;
  CHECK_RAISES(MODULE(ClassNLLCriterion_updateOutput)(NULL, input, target, output, true, weights,
                                                      total, -100),
               "argument #3 'target'");
  EXPECT(total, (1), 4);
}

static void testMultiMargin(void)
{
  Tensor *input = TENSOR_OF((1, 3), 0.5, 0.25, -2), *gradInput = emptyTensor();
  Tensor *output = TENSOR_OF((1), 0);
  THLongTensor *target = INDICES_OF((1), 2);
  MODULE(MultiMarginCriterion_updateOutput)(NULL, input, target, output, true, 1, NULL, 1);
  EXPECT(output, (1), 1.25 / 3);
  MODULE(MultiMarginCriterion_updateGradInput)(NULL, input, target, gradInput, true, 1, NULL, 1);
  EXPECT(gradInput, (1, 3), 1. / 3, -1. / 3, 0);
}

int main(void)
{
  catchErrors();
  testMse();
  testClassNll();
  testMultiMargin();
  return finish();
}
