/* Clipping to an interval.
 *   input, output, gradOutput, gradInput   any shape
 * output = min_val where input is below it, max_val where it is above or NaN, otherwise input;
 * gradInput = min_val < input < max_val ? gradOutput : 0. */
#include "generic/activation/pointwise.h"

void THNN_(HardTanh_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                  accreal min_val, accreal max_val, bool inplace)
{
  const real parameters[] = {(real)min_val, (real)max_val};
  const Pointwise run = {.function = "HardTanh_updateOutput",
                         .state = state,
                         .inplace = inplace,
                         .cost = 1,
                         .parameters = parameters};
  THNN_(pointwise_forward)(&run, THNN_(simd).activation.hardTanh, input, output);
}

void THNN_(HardTanh_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                     THTensor *gradInput, accreal min_val, accreal max_val,
                                     bool inplace)
{
  const real parameters[] = {(real)min_val, (real)max_val};
  const Pointwise run = {.function = "HardTanh_updateGradInput",
                         .state = state,
                         .inplace = inplace,
                         .cost = 1,
                         .parameters = parameters};
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.hardTanhBackward, input, "input", 2,
                            gradOutput, gradInput);
}
