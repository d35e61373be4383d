/* Mean absolute error.
 *   input, target, gradInput   any shape, the same number of elements
 *   output                     one element, or more, of which the first is written
 * output = sum of |input - target|;  gradInput = 1 where input >= target, else -1; both divided by
 * the number of elements when sizeAverage. */
#include "generic/criterion/criterion.h"

void THNN_(AbsCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target,
                                      THTensor *output, bool sizeAverage)
{
  const char *function = "AbsCriterion_updateOutput";
  const Criterion run = {function, state, input, target, .longOutput = true};
  THNN_(criterion_forward)(&run, THNN_(simd).criterion.absLoss, output, sizeAverage);
}

void THNN_(AbsCriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target,
                                         THTensor *gradInput, bool sizeAverage)
{
  const char *function = "AbsCriterion_updateGradInput";
  const real parameters[] = {THNN_(criterionNorm)(input, sizeAverage)};
  const Criterion run = {function, state, input, target, .parameters = parameters};
  THNN_(criterion_backward)(&run, THNN_(simd).criterion.absGradient, gradInput);
}
