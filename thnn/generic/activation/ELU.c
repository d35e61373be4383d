/* Exponential linear unit.
 *   input, output, gradOutput, gradInput   any shape
 * output = input > 0 ? input : alpha (e^input - 1);
 * gradInput = output > 0 ? gradOutput : gradOutput (output + alpha). */
#include "generic/activation/pointwise.h"

void THNN_(ELU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal alpha,
                             bool inplace)
{
  const real parameters[] = {(real)alpha};
  const Pointwise run = {.function = "ELU_updateOutput",
                         .state = state,
                         .inplace = inplace,
                         .cost = 4,
                         .parameters = parameters};
  THNN_(pointwise_forward)(&run, THNN_(simd).activation.elu, input, output);
}

void THNN_(ELU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                THTensor *gradInput, THTensor *output, accreal alpha, bool inplace)
{
  const real parameters[] = {(real)alpha};
  const Pointwise run = {.function = "ELU_updateGradInput",
                         .state = state,
                         .inplace = inplace,
                         .cost = 1,
                         .parameters = parameters,
                         .compared = input};
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.eluBackward, output, "output", 5,
                            gradOutput, gradInput);
}
