/* The twin of generic/activation/SoftPlus.c. */
#include "cuda/generic/shared/elementary.cuh"
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  real beta, threshold;
  __device__ void operator()(real &output, const real &input) const
  {
    const real steep = input * beta;
    output = steep > threshold ? input : softplus(steep) / beta;
  }
};

struct Backward {
  real beta, threshold;
  __device__ void operator()(real &gradInput, const real &output, const real &gradOutput) const
  {
    const real steep = output * beta;
    gradInput = steep > threshold ? gradOutput : gradOutput * -expm1(-steep);
  }
};
} // namespace

void THCUNN_(SoftPlus_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                    accreal beta, accreal threshold)
{
  const Pointwise run = {"SoftPlus_updateOutput", state};
  pointwiseForward(run, Forward{(real)beta, (real)threshold}, input, output);
}

void THCUNN_(SoftPlus_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                       THCTensor *gradInput, THCTensor *output, accreal beta,
                                       accreal threshold)
{
  Pointwise run = {"SoftPlus_updateGradInput", state};
  run.compared = input;
  pointwiseBackward(run, Backward{(real)beta, (real)threshold}, output, "output", 5, gradOutput,
                    gradInput);
}
