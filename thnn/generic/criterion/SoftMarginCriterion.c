/* Logistic loss of a two-class classifier: target is 1 or -1.
 *   input, target, gradInput   any shape, the same number of elements
 *   output                     one element
 * output = sum of log(1 + exp(-input * target));  gradInput = -target / (1 + exp(input * target));
 * both divided by the number of elements when sizeAverage. */
#include "generic/criterion/criterion.h"

void THNN_(SoftMarginCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target,
                                             THTensor *output, bool sizeAverage)
{
  const char *function = "SoftMarginCriterion_updateOutput";
  const Criterion run = {function, state, input, target, .work = 10};
  THNN_(criterion_forward)(&run, THNN_(simd).criterion.softMarginLoss, output, sizeAverage);
}

void THNN_(SoftMarginCriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target,
                                                THTensor *gradInput, bool sizeAverage)
{
  const char *function = "SoftMarginCriterion_updateGradInput";
  const real parameters[] = {THNN_(criterionNorm)(input, sizeAverage)};
  const Criterion run = {function, state, input, target, parameters, .work = 5};
  THNN_(criterion_backward)(&run, THNN_(simd).criterion.softMarginGradient, gradInput);
}
