/* The twin of generic/activation/Abs.c. */
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  __device__ void operator()(real &output, const real &input) const { output = fabs(input); }
};

struct Backward {
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    gradInput = input >= 0 ? gradOutput : -gradOutput;
  }
};
} // namespace

void THCUNN_(Abs_updateOutput)(THCState *state, THCTensor *input, THCTensor *output)
{
  const Pointwise run = {"Abs_updateOutput", state};
  pointwiseForward(run, Forward{}, input, output);
}

void THCUNN_(Abs_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                  THCTensor *gradInput)
{
  const Pointwise run = {"Abs_updateGradInput", state};
  pointwiseBackward(run, Backward{}, input, "input", 2, gradOutput, gradInput);
}
