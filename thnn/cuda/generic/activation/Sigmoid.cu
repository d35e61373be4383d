/* The twin of generic/activation/Sigmoid.c. */
#include "cuda/generic/shared/elementary.cuh"
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  __device__ void operator()(real &output, const real &input) const { output = sigmoid(input); }
};

struct Backward {
  __device__ void operator()(real &gradInput, const real &output, const real &gradOutput) const
  {
    gradInput = gradOutput * (1 - output) * output;
  }
};
} // namespace

void THCUNN_(Sigmoid_updateOutput)(THCState *state, THCTensor *input, THCTensor *output)
{
  const Pointwise run = {"Sigmoid_updateOutput", state};
  pointwiseForward(run, Forward{}, input, output);
}

void THCUNN_(Sigmoid_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                      THCTensor *gradInput, THCTensor *output)
{
  (void)input;
  const Pointwise run = {"Sigmoid_updateGradInput", state};
  pointwiseBackward(run, Backward{}, output, "output", 5, gradOutput, gradInput);
}
