/* The twin of generic/activation/SiLU.c. */
#include "cuda/generic/shared/elementary.cuh"
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  __device__ void operator()(real &output, const real &input) const
  {
    output = input * sigmoid(input);
  }
};

struct Backward {
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    const real open = sigmoid(input), closed = sigmoid(-input);
    gradInput = gradOutput * (open + input * (open * closed));
  }
};
} // namespace

void THCUNN_(SiLU_updateOutput)(THCState *state, THCTensor *input, THCTensor *output)
{
  const Pointwise run = {"SiLU_updateOutput", state};
  pointwiseForward(run, Forward{}, input, output);
}

void THCUNN_(SiLU_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                   THCTensor *gradInput)
{
  Pointwise run = {"SiLU_updateGradInput", state};
  run.sameSizes = true;
  pointwiseBackward(run, Backward{}, input, "input", 2, gradOutput, gradInput);
}
