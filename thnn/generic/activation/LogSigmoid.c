/* Logarithm of the logistic function.
 *   input, output, gradOutput, gradInput   any shape
 * output = log(1 / (1 + e^-input));  gradInput = gradOutput / (1 + e^input).
 * The original keeps 1 + e^-input, scaled, in `buffer` for the backward call; here it is unused. */
#include "generic/activation/pointwise.h"

void THNN_(LogSigmoid_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                    THTensor *buffer)
{
  (void)buffer;
  const Pointwise run = {.function = "LogSigmoid_updateOutput", .state = state, .cost = 8};
  THNN_(pointwise_forward)(&run, THNN_(simd).elementary.logSigmoid, input, output);
}

void THNN_(LogSigmoid_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                       THTensor *gradInput, THTensor *buffer)
{
  (void)buffer;
  const Pointwise run = {
      .function = "LogSigmoid_updateGradInput", .state = state, .cost = 4, .like = gradOutput};
  THNN_(pointwise_backward)(&run, simdFor(state)->activation.logSigmoidBackward, input, "input", 2,
                            gradOutput, gradInput);
}
