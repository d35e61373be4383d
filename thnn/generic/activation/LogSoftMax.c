/* Logarithm of the softmax over the planes, at each position.
 *   input, output, gradOutput, gradInput   [batch x] nPlane [x height x width]
 * output = input - log(sum of e^input);  gradInput = gradOutput - e^output * sum of gradOutput. */
#include "generic/activation/softmax.h"

void THNN_(LogSoftMax_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  THNN_(softmax_forward)("LogSoftMax_updateOutput", state, true, input, output);
}

void THNN_(LogSoftMax_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                       THTensor *gradInput, THTensor *output)
{
  THNN_(softmax_backward)("LogSoftMax_updateGradInput", state, true, input, gradOutput, gradInput,
                          output);
}
