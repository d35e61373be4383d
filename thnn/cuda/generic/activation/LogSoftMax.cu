/* The twin of generic/activation/LogSoftMax.c. */
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
