/* Soft shrinkage: values move towards zero, and those near it become zero.
 *   input, output, gradOutput, gradInput   any shape
 * output = input > lambda ? input - lambda : input < -lambda ? input + lambda : 0;
 * gradInput = input > lambda or input < -lambda ? gradOutput : 0. */
#include "generic/activation/pointwise.h"

void THNN_(SoftShrink_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                    accreal lambda)
{
  const real parameters[] = {(real)lambda};
  const Pointwise run = {
      .function = "SoftShrink_updateOutput", .state = state, .cost = 1, .parameters = parameters};
  THNN_(pointwise_forward)(&run, THNN_(simd).activation.softShrink, input, output);
}

void THNN_(SoftShrink_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                       THTensor *gradInput, accreal lambda)
{
  const real parameters[] = {(real)lambda};
  const Pointwise run = {.function = "SoftShrink_updateGradInput",
                         .state = state,
                         .cost = 1,
                         .parameters = parameters};
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.shrinkBackward, input, "input", 2,
                            gradOutput, gradInput);
}
