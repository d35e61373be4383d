/* The twin of generic/activation/Tanh.c. */
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  __device__ void operator()(real &output, const real &input) const { output = tanh(input); }
};

struct Backward {
  __device__ void operator()(real &gradInput, const real &output, const real &gradOutput) const
  {
    gradInput = gradOutput * (1 - output * output);
  }
};
} // namespace

void THCUNN_(Tanh_updateOutput)(THCState *state, THCTensor *input, THCTensor *output)
{
  const Pointwise run = {"Tanh_updateOutput", state};
  pointwiseForward(run, Forward{}, input, output);
}

void THCUNN_(Tanh_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                   THCTensor *gradInput, THCTensor *output)
{
  (void)input;
  Pointwise run = {"Tanh_updateGradInput", state};
  run.sameSizes = true;
  pointwiseBackward(run, Backward{}, output, "output", 5, gradOutput, gradInput);
}
