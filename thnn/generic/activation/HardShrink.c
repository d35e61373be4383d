/* Hard shrinkage: values near zero become zero.
 *   input, output, gradOutput, gradInput   any shape
 * output = input > lambda or input < -lambda ? input : 0;
 * gradInput = input > lambda or input < -lambda ? gradOutput : 0. */
#include "generic/activation/pointwise.h"

void THNN_(HardShrink_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                    accreal lambda)
{
  const real parameters[] = {(real)lambda};
  const Pointwise run = {
      .function = "HardShrink_updateOutput", .state = state, .cost = 1, .parameters = parameters};
  THNN_(pointwise_forward)(&run, THNN_(simd).activation.hardShrink, input, output);
}

void THNN_(HardShrink_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                       THTensor *gradInput, accreal lambda)
{
  const real parameters[] = {(real)lambda};
  const Pointwise run = {.function = "HardShrink_updateGradInput",
                         .state = state,
                         .cost = 1,
                         .parameters = parameters};
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.shrinkBackward, input, "input", 2,
                            gradOutput, gradInput);
}
