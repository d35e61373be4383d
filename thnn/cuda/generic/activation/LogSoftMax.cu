/* Logarithm of the softmax over the planes, at each position.
 *   input, output, gradOutput, gradInput   [batch x] nPlane [x height x width]
 * output = input - log(sum of e^input);  gradInput = gradOutput - e^output * sum of gradOutput. */
#include "cuda/generic/activation/softmax.cuh"

void THCUNN_(LogSoftMax_updateOutput)(THCState *state, THCTensor *input, THCTensor *output)
{
  softmaxForward<true>("LogSoftMax_updateOutput", state, input, output);
}

void THCUNN_(LogSoftMax_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                         THCTensor *gradInput, THCTensor *output)
{
  softmaxBackward<true>("LogSoftMax_updateGradInput", state, input, gradOutput, gradInput, output);
}
