/* Rectifier with a slope below zero.
 *   input, output, gradOutput, gradInput   any shape
 * output = input > 0 ? input : negval * input;
 * gradInput = input > 0 ? gradOutput : negval * gradOutput. */
#include "generic/activation/pointwise.h"

void THNN_(LeakyReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                   accreal negval, bool inplace)
{
  const real parameters[] = {(real)negval};
  const Pointwise run = {.function = "LeakyReLU_updateOutput",
                         .state = state,
                         .inplace = inplace,
                         .cost = 1,
                         .parameters = parameters};
  THNN_(pointwise_forward)(&run, THNN_(simd).activation.leakyRelu, input, output);
}

void THNN_(LeakyReLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                      THTensor *gradInput, accreal negval, bool inplace)
{
  const real parameters[] = {(real)negval};
  const Pointwise run = {.function = "LeakyReLU_updateGradInput",
                         .state = state,
                         .inplace = inplace,
                         .cost = 1,
                         .parameters = parameters};
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.leakyReluBackward, input, "input", 2,
                            gradOutput, gradInput);
}
