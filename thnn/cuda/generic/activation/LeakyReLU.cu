/* The twin of generic/activation/LeakyReLU.c. */
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  real negval;
  __device__ void operator()(real &output, const real &input) const
  {
    output = input > 0 ? input : input * negval;
  }
};

struct Backward {
  real negval;
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    gradInput = input > 0 ? gradOutput : gradOutput * negval;
  }
};
} // namespace

void THCUNN_(LeakyReLU_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                     accreal negval, bool inplace)
{
  const Pointwise run = {"LeakyReLU_updateOutput", state, inplace};
  pointwiseForward(run, Forward{(real)negval}, input, output);
}

void THCUNN_(LeakyReLU_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                        THCTensor *gradInput, accreal negval, bool inplace)
{
  const Pointwise run = {"LeakyReLU_updateGradInput", state, inplace};
  pointwiseBackward(run, Backward{(real)negval}, input, "input", 2, gradOutput, gradInput);
}
