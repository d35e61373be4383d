/* The twin of generic/activation/SoftMax.c. */
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
