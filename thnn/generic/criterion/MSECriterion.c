/* Mean squared error.
 *   input, target, gradInput   any shape, the same number of elements
 *   output                     one element
 * output = sum of (input - target)^2;  gradInput = 2 (input - target); both divided by the number
 * of elements when sizeAverage. */
#include "generic/criterion/criterion.h"

void THNN_(MSECriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target,
                                      THTensor *output, bool sizeAverage)
{
  const Criterion run = {"MSECriterion_updateOutput", state, input, .target = target};
  THNN_(criterion_forward)(&run, THNN_(simd).criterion.mseLoss, output, sizeAverage);
}

void THNN_(MSECriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target,
                                         THTensor *gradInput, bool sizeAverage)
{
  const char *function = "MSECriterion_updateGradInput";
  const real parameters[] = {2 * THNN_(criterionNorm)(input, sizeAverage)};
  const Criterion run = {function, state, input, target, .parameters = parameters};
  THNN_(criterion_backward)(&run, THNN_(simd).criterion.mseGradient, gradInput);
}
