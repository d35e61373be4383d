/* Gaussian error linear unit.
 *   input, output, gradOutput, gradInput   any shape
 * output = input P(input), P(x) = (1 + erf(x / sqrt(2))) / 2;
 * gradInput = gradOutput (P(input) + input e^(-input^2 / 2) / sqrt(2 pi)). */
#include "generic/activation/pointwise.h"

void THNN_(GELU_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  const Pointwise run = {.function = "GELU_updateOutput", .state = state, .cost = 8};
  THNN_(pointwise_forward)(&run, THNN_(simd).gates.gelu, input, output);
}

void THNN_(GELU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                 THTensor *gradInput)
{
  const Pointwise run = {
      .function = "GELU_updateGradInput", .state = state, .cost = 8, .sameSizes = true};
  THNN_(pointwise_backward)(&run, THNN_(simd).gates.geluBackward, input, "input", 2, gradOutput,
                            gradInput);
}
