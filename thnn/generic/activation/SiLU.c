/* Sigmoid linear unit, also called swish.
 *   input, output, gradOutput, gradInput   any shape
 * output = input sigmoid(input);
 * gradInput = gradOutput (sigmoid(input) + input sigmoid(input) sigmoid(-input)). */
#include "generic/activation/pointwise.h"

void THNN_(SiLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  const Pointwise run = {.function = "SiLU_updateOutput", .state = state, .cost = 8};
  THNN_(pointwise_forward)(&run, THNN_(simd).gates.silu, input, output);
}

void THNN_(SiLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                 THTensor *gradInput)
{
  const Pointwise run = {
      .function = "SiLU_updateGradInput", .state = state, .cost = 8, .sameSizes = true};
  THNN_(pointwise_backward)(&run, THNN_(simd).gates.siluBackward, input, "input", 2, gradOutput,
                            gradInput);
}
