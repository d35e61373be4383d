/* The twin of generic/criterion/L1Cost.c. */
#include "cuda/generic/criterion/criterion.cuh"

namespace
{
struct Loss {
  __device__ real operator()(real x, real target) const
  {
    (void)target;
    return fabs(x);
  }
};

struct Gradient {
  __device__ real operator()(real x, real target) const
  {
    (void)target;
    return real(x > 0) - real(x < 0);
  }
};
} // namespace

void THCUNN_(L1Cost_updateOutput)(THCState *state, THCTensor *input, THCTensor *output)
{
  const Criterion run = {"L1Cost_updateOutput", state, input, nullptr, true};
  criterionForward(run, Loss{}, output, false);
}

void THCUNN_(L1Cost_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                     THCTensor *gradInput)
{
  const Criterion run = {"L1Cost_updateGradInput", state, input, nullptr, true};
  if (gradOutput)
    THNN_checkSameElements(run.function, THNN_SHAPE(gradOutput, 3), THNN_SHAPE(input, 2));
  criterionBackward(run, Gradient{}, gradInput);
}
