/* Threshold: what does not exceed the threshold is replaced by a value.
 *   input, output, gradOutput, gradInput   any shape
 * output = input > threshold ? input : val;  gradInput = input > threshold ? gradOutput : 0. */
#include "generic/activation/pointwise.h"

void THNN_(Threshold_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                   accreal threshold, accreal val, bool inplace)
{
  const real parameters[] = {(real)threshold, (real)val};
  const Pointwise run = {.function = "Threshold_updateOutput",
                         .state = state,
                         .inplace = inplace,
                         .cost = 1,
                         .parameters = parameters};
  THNN_(pointwise_forward)(&run, THNN_(simd).pointwise.threshold, input, output);
}

void THNN_(Threshold_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                      THTensor *gradInput, accreal threshold, accreal val,
                                      bool inplace)
{
  (void)val; /* nothing flows back from replaced elements, whatever replaced them */
  const real parameters[] = {(real)threshold};
  const Pointwise run = {.function = "Threshold_updateGradInput",
                         .state = state,
                         .inplace = inplace,
                         .cost = 1,
                         .parameters = parameters};
  THNN_(pointwise_backward)(&run, THNN_(simd).pointwise.thresholdBackward, input, "input", 2,
                            gradOutput, gradInput);
}
