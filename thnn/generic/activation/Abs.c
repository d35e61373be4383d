/* Absolute value.
 *   input, output, gradOutput, gradInput   any shape
 * output = |input|;  gradInput = input >= 0 ? gradOutput : -gradOutput. */
#include "generic/activation/pointwise.h"

void THNN_(Abs_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  const Pointwise run = {.function = "Abs_updateOutput", .state = state, .cost = 1};
  THNN_(pointwise_forward)(&run, THNN_(simd).activation.abs, input, output);
}

void THNN_(Abs_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                THTensor *gradInput)
{
  const Pointwise run = {.function = "Abs_updateGradInput", .state = state, .cost = 1};
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.absBackward, input, "input", 2, gradOutput,
                            gradInput);
}
