/* The twin of generic/activation/Square.c. */
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  __device__ void operator()(real &output, const real &input) const { output = input * input; }
};

struct Backward {
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    gradInput = 2 * gradOutput * input;
  }
};
} // namespace

void THCUNN_(Square_updateOutput)(THCState *state, THCTensor *input, THCTensor *output)
{
  const Pointwise run = {"Square_updateOutput", state};
  pointwiseForward(run, Forward{}, input, output);
}

void THCUNN_(Square_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                     THCTensor *gradInput)
{
  Pointwise run = {"Square_updateGradInput", state};
  run.sameSizes = true;
  pointwiseBackward(run, Backward{}, input, "input", 2, gradOutput, gradInput);
}
