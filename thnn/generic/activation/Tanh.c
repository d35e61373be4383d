/* Hyperbolic tangent.
 *   input, output, gradOutput, gradInput   any shape
 * output = tanh(input);  gradInput = gradOutput (1 - output^2). */
#include "generic/activation/pointwise.h"

void THNN_(Tanh_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  const Pointwise run = {.function = "Tanh_updateOutput", .state = state, .cost = 4};
  THNN_(pointwise_forward)(&run, simdFor(state)->elementary.tanh, input, output);
}

void THNN_(Tanh_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                 THTensor *gradInput, THTensor *output)
{
  (void)input;
  const Pointwise run = {
      .function = "Tanh_updateGradInput", .state = state, .cost = 1, .sameSizes = true};
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.tanhBackward, output, "output", 5,
                            gradOutput, gradInput);
}
