/* The twin of generic/activation/LogSigmoid.c. `buffer` is not used here. */
#include "cuda/generic/shared/elementary.cuh"
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  __device__ void operator()(real &output, const real &input) const { output = logSigmoid(input); }
};

struct Backward {
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    gradInput = gradOutput * sigmoid(-input);
  }
};
} // namespace

void THCUNN_(LogSigmoid_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                      THCTensor *buffer)
{
  (void)buffer;
  const Pointwise run = {"LogSigmoid_updateOutput", state};
  pointwiseForward(run, Forward{}, input, output);
}

void THCUNN_(LogSigmoid_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                         THCTensor *gradInput, THCTensor *buffer)
{
  (void)buffer;
  Pointwise run = {"LogSigmoid_updateGradInput", state};
  run.like = gradOutput;
  pointwiseBackward(run, Backward{}, input, "input", 2, gradOutput, gradInput);
}
