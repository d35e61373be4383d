/* Kullback-Leibler divergence of log probabilities from target probabilities.
 *   input, target, gradInput   any shape, the same number of elements
 *   output                     one element
 * output = sum of target (log target - input) where target > 0;  gradInput = -target where that is
 * positive, else 0; both divided by the number of elements when sizeAverage. */
#include "generic/criterion/criterion.h"

void THNN_(DistKLDivCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target,
                                            THTensor *output, bool sizeAverage)
{
  const char *function = "DistKLDivCriterion_updateOutput";
  const Criterion run = {function, state, input, target, .work = 5};
  THNN_(criterion_forward)(&run, THNN_(simd).criterion.distKLDivLoss, output, sizeAverage);
}

void THNN_(DistKLDivCriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target,
                                               THTensor *gradInput, bool sizeAverage)
{
  const char *function = "DistKLDivCriterion_updateGradInput";
  const real parameters[] = {THNN_(criterionNorm)(input, sizeAverage)};
  const Criterion run = {function,          state, input, target, .parameters = parameters,
                         .targetOnly = true};
  THNN_(criterion_backward)(&run, THNN_(simd).criterion.distKLDivGradient, gradInput);
}
