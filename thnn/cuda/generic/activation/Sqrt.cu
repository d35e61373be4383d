/* The twin of generic/activation/Sqrt.c. */
#include "cuda/generic/activation/pointwise.cuh"

namespace
{
struct Forward {
  __device__ void operator()(real &output, const real &input) const { output = sqrt(input); }
};

struct Backward {
  __device__ void operator()(real &gradInput, const real &output, const real &gradOutput) const
  {
    gradInput = output == 0 ? 0 : real(0.5) * gradOutput / output;
  }
};
} // namespace

void THCUNN_(Sqrt_updateOutput)(THCState *state, THCTensor *input, THCTensor *output, accreal eps)
{
  (void)eps; /* the original does not read it either */
  const Pointwise run = {"Sqrt_updateOutput", state};
  pointwiseForward(run, Forward{}, input, output);
}

void THCUNN_(Sqrt_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                   THCTensor *gradInput, THCTensor *output)
{
  Pointwise run = {"Sqrt_updateGradInput", state};
  run.compared = run.like = input;
  run.sameSizes = true;
  if (!input)
    THNN_rejectShape(run.function, THNN_SHAPE(input, 2), "a tensor");
  pointwiseBackward(run, Backward{}, output, "output", 5, gradOutput, gradInput);
}
