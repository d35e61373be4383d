/* Smooth rectifier.
 *   input, output, gradOutput, gradInput   any shape
 * output = log(1 + e^(beta * input)) / beta, or input where beta * input exceeds threshold;
 * gradInput = gradOutput (1 - e^(-beta * output)), or gradOutput where beta * output exceeds it. */
#include "generic/activation/pointwise.h"

void THNN_(SoftPlus_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal beta,
                                  accreal threshold)
{
  const real parameters[] = {(real)beta, (real)threshold};
  const Pointwise run = {
      .function = "SoftPlus_updateOutput", .state = state, .cost = 8, .parameters = parameters};
  THNN_(pointwise_forward)(&run, THNN_(simd).activation.softPlus, input, output);
}

void THNN_(SoftPlus_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                     THTensor *gradInput, THTensor *output, accreal beta,
                                     accreal threshold)
{
  const real parameters[] = {(real)beta, (real)threshold};
  const Pointwise run = {.function = "SoftPlus_updateGradInput",
                         .state = state,
                         .cost = 4,
                         .parameters = parameters,
                         .compared = input};
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.softPlusBackward, output, "output", 5,
                            gradOutput, gradInput);
}
