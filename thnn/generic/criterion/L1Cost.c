/* L1 norm as a loss.
 *   input, gradInput   any shape
 *   gradOutput         as many elements as input; its values do not matter
 *   output             one element
 * output = sum of |input|;  gradInput = sign of input, 0 for 0. */
#include "generic/criterion/criterion.h"

void THNN_(L1Cost_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  const Criterion run = {"L1Cost_updateOutput", state, input, .inputOnly = true};
  THNN_(criterion_forward)(&run, THNN_(simd).criterion.l1Loss, output, false);
}

void THNN_(L1Cost_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                   THTensor *gradInput)
{
  const char *function = "L1Cost_updateGradInput";
  if (gradOutput)
    THNN_checkSameElements(function, THNN_SHAPE(gradOutput, 3), THNN_SHAPE(input, 2));
  const Criterion run = {function, state, input, .inputOnly = true};
  THNN_(criterion_backward)(&run, THNN_(simd).criterion.l1Gradient, gradInput);
}
