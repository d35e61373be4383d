/* Softmax over the planes, at each position.
 *   input, output, gradOutput, gradInput   [batch x] nPlane [x height x width]
 * output = e^input / sum of e^input;
 * gradInput = output (gradOutput - sum of output gradOutput). */
#include "cuda/generic/activation/softmax.cuh"

void THCUNN_(SoftMax_updateOutput)(THCState *state, THCTensor *input, THCTensor *output)
{
  softmaxForward<false>("SoftMax_updateOutput", state, input, output);
}

void THCUNN_(SoftMax_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                      THCTensor *gradInput, THCTensor *output)
{
  softmaxBackward<false>("SoftMax_updateGradInput", state, input, gradOutput, gradInput, output);
}
