/* The twin of generic/activation/HardTanh.c. */
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  real least, most;
  __device__ void operator()(real &output, const real &input) const
  {
    output = input < least ? least : input <= most ? input : most;
  }
};

struct Backward {
  real least, most;
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    gradInput = input <= least || input >= most ? 0 : gradOutput;
  }
};
} // namespace

void THCUNN_(HardTanh_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                    accreal min_val, accreal max_val, bool inplace)
{
  const Pointwise run = {"HardTanh_updateOutput", state, inplace};
  pointwiseForward(run, Forward{(real)min_val, (real)max_val}, input, output);
}

void THCUNN_(HardTanh_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                       THCTensor *gradInput, accreal min_val, accreal max_val,
                                       bool inplace)
{
  const Pointwise run = {"HardTanh_updateGradInput", state, inplace};
  pointwiseBackward(run, Backward{(real)min_val, (real)max_val}, input, "input", 2, gradOutput,
                    gradInput);
}
