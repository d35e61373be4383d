/* Hinge loss of a two-class classifier: target is 1 or -1.
 *   input, target, gradInput   any shape, the same number of elements
 *   output                     one element
 * output = sum of max(0, margin - input * target);  gradInput = -target where that is positive,
 * else 0; both divided by the number of elements when sizeAverage. */
#include "generic/criterion/criterion.h"

void THNN_(MarginCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target,
                                         THTensor *output, bool sizeAverage, accreal margin)
{
  const char *function = "MarginCriterion_updateOutput";
  const real parameters[] = {(real)margin};
  const Criterion run = {function, state, input, target, .parameters = parameters};
  THNN_(criterion_forward)(&run, THNN_(simd).criterion.marginLoss, output, sizeAverage);
}

void THNN_(MarginCriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target,
                                            THTensor *gradInput, bool sizeAverage, accreal margin)
{
  const char *function = "MarginCriterion_updateGradInput";
  const real parameters[] = {THNN_(criterionNorm)(input, sizeAverage), (real)margin};
  const Criterion run = {function, state, input, target, .parameters = parameters};
  THNN_(criterion_backward)(&run, THNN_(simd).criterion.marginGradient, gradInput);
}
