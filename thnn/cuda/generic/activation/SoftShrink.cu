/* The twin of generic/activation/SoftShrink.c. */
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  real lambda;
  __device__ void operator()(real &output, const real &input) const
  {
    output = input > lambda ? input - lambda : input < -lambda ? input + lambda : 0;
  }
};
} // namespace

void THCUNN_(SoftShrink_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                      accreal lambda)
{
  const Pointwise run = {"SoftShrink_updateOutput", state};
  pointwiseForward(run, Forward{(real)lambda}, input, output);
}

void THCUNN_(SoftShrink_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                         THCTensor *gradInput, accreal lambda)
{
  const Pointwise run = {"SoftShrink_updateGradInput", state};
  pointwiseBackward(run, ShrinkBackward{(real)lambda}, input, "input", 2, gradOutput, gradInput);
}
