/* Square.
 *   input, output, gradOutput, gradInput   any shape
 * output = input^2;  gradInput = 2 input gradOutput. */
#include "generic/activation/pointwise.h"

void THNN_(Square_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  const Pointwise run = {.function = "Square_updateOutput", .state = state, .cost = 1};
  THNN_(pointwise_forward)(&run, THNN_(simd).activation.square, input, output);
}

void THNN_(Square_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                   THTensor *gradInput)
{
  const Pointwise run = {
      .function = "Square_updateGradInput", .state = state, .cost = 1, .sameSizes = true};
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.squareBackward, input, "input", 2,
                            gradOutput, gradInput);
}
