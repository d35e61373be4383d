/* The twin of generic/activation/GELUTanh.c. */
#include "cuda/generic/shared/elementary.cuh"
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
/* (1 + tanh(u)) / 2 is sigmoid(2 u), which is 0 or 1 where |x| is above MOST. */
const real FACTOR = (real)1.5957691216057308; /* 2 sqrt(2 / pi) */
const real CUBIC = (real)0.044715;
const real MOST = 32;

/* x, or the nearest number that the gate is computed for. */
__device__ inline real gateInput(real x)
{
  return x > MOST ? MOST : x < -MOST ? -MOST : x;
}

__device__ inline real gateOf(real a)
{
  return FACTOR * a * (1 + CUBIC * a * a);
}

struct Forward {
  __device__ void operator()(real &output, const real &input) const
  {
    output = input * sigmoid(gateOf(gateInput(input)));
  }
};

struct Backward {
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    const real a = gateInput(input), gate = gateOf(a);
    const real open = sigmoid(gate), closed = sigmoid(-gate);
    const real slope = FACTOR * (1 + 3 * CUBIC * a * a);
    gradInput = gradOutput * (open + a * slope * (open * closed));
  }
};
} // namespace

void THCUNN_(GELUTanh_updateOutput)(THCState *state, THCTensor *input, THCTensor *output)
{
  const Pointwise run = {"GELUTanh_updateOutput", state};
  pointwiseForward(run, Forward{}, input, output);
}

void THCUNN_(GELUTanh_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                       THCTensor *gradInput)
{
  Pointwise run = {"GELUTanh_updateGradInput", state};
  run.sameSizes = true;
  pointwiseBackward(run, Backward{}, input, "input", 2, gradOutput, gradInput);
}
