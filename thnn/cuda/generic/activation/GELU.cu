/* The twin of generic/activation/GELU.c. */
#include "cuda/generic/activation/pointwise.cuh"

#include <math.h>

namespace
{
/* The probability that a normally distributed number is below x. */
__device__ inline real normalProbability(real x)
{
  return (real)0.5 * erfc(x * (real)-0.7071067811865476 /* sqrt(1/2) */);
}

struct Forward {
  __device__ void operator()(real &output, const real &input) const
  {
    output = input * normalProbability(input);
  }
};

struct Backward {
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    const real density =
        exp((real)-0.5 * input * input) * (real)0.3989422804014327; /* 1 / sqrt(2 pi) */
    gradInput = gradOutput * (normalProbability(input) + input * density);
  }
};
} // namespace

void THCUNN_(GELU_updateOutput)(THCState *state, THCTensor *input, THCTensor *output)
{
  const Pointwise run = {"GELU_updateOutput", state};
  pointwiseForward(run, Forward{}, input, output);
}

void THCUNN_(GELU_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                   THCTensor *gradInput)
{
  Pointwise run = {"GELU_updateGradInput", state};
  run.sameSizes = true;
  pointwiseBackward(run, Backward{}, input, "input", 2, gradOutput, gradInput);
}
