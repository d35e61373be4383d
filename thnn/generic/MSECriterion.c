/* Mean squared error.
 *   input, target, gradInput   any shape, the same number of elements
 *   output                     one element
 * output = sum of (input - target)^2;  gradInput = 2 (input - target); both divided by the number
 * of elements when sizeAverage. */
#include "criterion.h"

void THNN_(MSECriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target,
                                      THTensor *output, bool sizeAverage)
{
  THNN_(elementwiseCriterionForward)("MSECriterion_updateOutput", state,
                                     THNN_(simd).reduce.squaredDifferences, input, target, output,
                                     sizeAverage);
}

void THNN_(MSECriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target,
                                         THTensor *gradInput, bool sizeAverage)
{
  const double elements = input && sizeAverage ? (double)THTensor_(nElement)(input) : 1;
  const real norm[] = {(real)(2 / elements)};
  THNN_(elementwiseCriterionBackward)("MSECriterion_updateGradInput", state,
                                      THNN_(simd).pointwise.mseBackward, norm, input, target,
                                      gradInput);
}
