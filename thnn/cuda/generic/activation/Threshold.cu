/* The twin of generic/activation/Threshold.c. */
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  real threshold, val;
  __device__ void operator()(real &output, const real &input) const
  {
    output = input > threshold ? input : val;
  }
};

struct Backward {
  real threshold;
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    gradInput = input > threshold ? gradOutput : real(0);
  }
};
} // namespace

void THCUNN_(Threshold_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                     accreal threshold, accreal val, bool inplace)
{
  const Pointwise run = {"Threshold_updateOutput", state, inplace};
  pointwiseForward(run, Forward{(real)threshold, (real)val}, input, output);
}

void THCUNN_(Threshold_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                        THCTensor *gradInput, accreal threshold, accreal val,
                                        bool inplace)
{
  (void)val; /* nothing flows back from replaced elements, whatever replaced them */
  const Pointwise run = {"Threshold_updateGradInput", state, inplace};
  pointwiseBackward(run, Backward{(real)threshold}, input, "input", 2, gradOutput, gradInput);
}
