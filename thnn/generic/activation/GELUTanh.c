/* Gaussian error linear unit, approximately (Hendrycks and Gimpel, 2016).
 *   input, output, gradOutput, gradInput   any shape
 * output = input P(input), P(x) = (1 + tanh(u)) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3);
 * gradInput = gradOutput (P(input) + input P'(input)). */
#include "generic/activation/pointwise.h"

void THNN_(GELUTanh_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  const Pointwise run = {.function = "GELUTanh_updateOutput", .state = state, .cost = 8};
  THNN_(pointwise_forward)(&run, THNN_(simd).gates.geluTanh, input, output);
}

void THNN_(GELUTanh_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                     THTensor *gradInput)
{
  const Pointwise run = {
      .function = "GELUTanh_updateGradInput", .state = state, .cost = 8, .sameSizes = true};
  THNN_(pointwise_backward)(&run, THNN_(simd).gates.geluTanhBackward, input, "input", 2, gradOutput,
                            gradInput);
}
