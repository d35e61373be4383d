/* Square root.
 *   input, output, gradOutput, gradInput   any shape
 * output = sqrt(input);  gradInput = output == 0 ? 0 : gradOutput / (2 output). */
#include "generic/activation/pointwise.h"

void THNN_(Sqrt_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal eps)
{
  (void)eps; /* the original does not read it either */
  const Pointwise run = {.function = "Sqrt_updateOutput", .state = state, .cost = 1};
  THNN_(pointwise_forward)(&run, THNN_(simd).activation.sqrt, input, output);
}

void THNN_(Sqrt_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                 THTensor *gradInput, THTensor *output)
{
  const Pointwise run = {.function = "Sqrt_updateGradInput",
                         .state = state,
                         .cost = 1,
                         .compared = input,
                         .like = input,
                         .sameSizes = true};
  if (!input)
    THNN_rejectShape(run.function, THNN_SHAPE(input, 2), "a tensor");
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.sqrtBackward, output, "output", 5,
                            gradOutput, gradInput);
}
