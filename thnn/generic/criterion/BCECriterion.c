/* Binary cross entropy between probabilities and targets.
 *   input, target, weights, gradInput   any shape, the same number of elements; input from 0 to 1
 *   output                              one element
 * output = -sum of weights (target log input + (1 - target) log(1 - input)), divided by the number
 * of elements when sizeAverage. 1e-12 is added where a logarithm or a quotient would be
 * infinite. */
#include "generic/criterion/criterion.h"

/* The cost of two logarithms, and of a division, in copied elements. */
enum { FORWARD_WORK = 10, BACKWARD_WORK = 2 };

void THNN_(BCECriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target,
                                      THTensor *output, bool sizeAverage, THTensor *weights)
{
  const Criterion run = {"BCECriterion_updateOutput",
                         state,
                         input,
                         target,
                         .work = FORWARD_WORK,
                         .weights = weights,
                         .accepts = THNN_(simd).criterion.areProbabilities,
                         .domain = "values from 0 to 1"};
  THNN_(criterion_forward)(&run, THNN_(simd).criterion.bceLoss, output, sizeAverage);
}

void THNN_(BCECriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target,
                                         THTensor *gradInput, bool sizeAverage, THTensor *weights)
{
  const real parameters[] = {THNN_(criterionNorm)(input, sizeAverage)};
  const Criterion run = {"BCECriterion_updateGradInput",
                         state,
                         input,
                         target,
                         parameters,
                         .work = BACKWARD_WORK,
                         .weights = weights};
  THNN_(criterion_backward)(&run, THNN_(simd).criterion.bceGradient, gradInput);
}
