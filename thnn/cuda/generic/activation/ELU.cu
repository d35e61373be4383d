/* The twin of generic/activation/ELU.c. */
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  real alpha;
  __device__ void operator()(real &output, const real &input) const
  {
    output = input <= 0 ? alpha * expm1(input) : input;
  }
};

struct Backward {
  real alpha;
  __device__ void operator()(real &gradInput, const real &output, const real &gradOutput) const
  {
    gradInput = output <= 0 ? gradOutput * (output + alpha) : gradOutput;
  }
};
} // namespace

void THCUNN_(ELU_updateOutput)(THCState *state, THCTensor *input, THCTensor *output, accreal alpha,
                               bool inplace)
{
  const Pointwise run = {"ELU_updateOutput", state, inplace};
  pointwiseForward(run, Forward{(real)alpha}, input, output);
}

void THCUNN_(ELU_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                  THCTensor *gradInput, THCTensor *output, accreal alpha,
                                  bool inplace)
{
  Pointwise run = {"ELU_updateGradInput", state, inplace};
  run.compared = input;
  pointwiseBackward(run, Backward{(real)alpha}, output, "output", 5, gradOutput, gradInput);
}
