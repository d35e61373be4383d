/* Smooth L1 loss (Huber's with a width of 1): quadratic near the target, linear away from it.
 *   input, target, gradInput   any shape, the same number of elements
 *   output                     one element
 * With e = input - target: output = sum of e^2 / 2 where |e| < 1, of |e| - 1/2 elsewhere;
 * gradInput = e, cut to [-1, 1]; both divided by the number of elements when sizeAverage. */
#include "generic/criterion/criterion.h"

void THNN_(SmoothL1Criterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target,
                                           THTensor *output, bool sizeAverage)
{
  const Criterion run = {"SmoothL1Criterion_updateOutput", state, input, .target = target};
  THNN_(criterion_forward)(&run, THNN_(simd).criterion.smoothL1Loss, output, sizeAverage);
}

void THNN_(SmoothL1Criterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target,
                                              THTensor *gradInput, bool sizeAverage)
{
  const char *function = "SmoothL1Criterion_updateGradInput";
  const real parameters[] = {THNN_(criterionNorm)(input, sizeAverage)};
  const Criterion run = {function, state, input, target, .parameters = parameters};
  THNN_(criterion_backward)(&run, THNN_(simd).criterion.smoothL1Gradient, gradInput);
}
