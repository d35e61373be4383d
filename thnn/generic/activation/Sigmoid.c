/* Logistic function.
 *   input, output, gradOutput, gradInput   any shape
 * output = 1 / (1 + e^-input);  gradInput = gradOutput (1 - output) output. */
#include "generic/activation/pointwise.h"

void THNN_(Sigmoid_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  const Pointwise run = {.function = "Sigmoid_updateOutput", .state = state, .cost = 4};
  THNN_(pointwise_forward)(&run, THNN_(simd).elementary.sigmoid, input, output);
}

void THNN_(Sigmoid_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                    THTensor *gradInput, THTensor *output)
{
  (void)input;
  const Pointwise run = {.function = "Sigmoid_updateGradInput", .state = state, .cost = 1};
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.sigmoidBackward, output, "output", 5,
                            gradOutput, gradInput);
}
