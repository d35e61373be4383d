/* Softmax over the planes, at each position.
 *   input, output, gradOutput, gradInput   [batch x] nPlane [x height x width]
 * output = e^input / sum of e^input; gradInput = output (gradOutput - sum of output gradOutput). */
#include "generic/activation/softmax.h"

void THNN_(SoftMax_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  THNN_(softmax_forward)("SoftMax_updateOutput", state, false, input, output);
}

void THNN_(SoftMax_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                    THTensor *gradInput, THTensor *output)
{
  THNN_(softmax_backward)("SoftMax_updateGradInput", state, false, input, gradOutput, gradInput,
                          output);
}
