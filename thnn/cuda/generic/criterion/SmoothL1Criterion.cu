/* The twin of generic/criterion/SmoothL1Criterion.c. */
#include "cuda/generic/criterion/criterion.cuh"

namespace
{
struct Loss {
  __device__ real operator()(real x, real target) const
  {
    const real error = fabs(x - target);
    return error < 1 ? real(0.5) * error * error : error - real(0.5);
  }
};

struct Gradient {
  real norm;
  __device__ real operator()(real x, real target) const
  {
    const real error = x - target;
    return norm * (error < -1 ? -1 : error > 1 ? 1 : error);
  }
};
} // namespace

void THCUNN_(SmoothL1Criterion_updateOutput)(THCState *state, THCTensor *input, THCTensor *target,
                                             THCTensor *output, bool sizeAverage)
{
  const Criterion run = {"SmoothL1Criterion_updateOutput", state, input, target};
  criterionForward(run, Loss{}, output, sizeAverage);
}

void THCUNN_(SmoothL1Criterion_updateGradInput)(THCState *state, THCTensor *input,
                                                THCTensor *target, THCTensor *gradInput,
                                                bool sizeAverage)
{
  const Criterion run = {"SmoothL1Criterion_updateGradInput", state, input, target};
  const real norm = criterionNorm(input, sizeAverage);
  criterionBackward(run, Gradient{norm}, gradInput);
}
