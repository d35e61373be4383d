/* The twin of generic/criterion/MSECriterion.c. */
#include "cuda/generic/criterion/criterion.cuh"

namespace
{
struct Loss {
  __device__ real operator()(real x, real target) const { return (x - target) * (x - target); }
};

struct Gradient {
  real norm;
  __device__ real operator()(real x, real target) const { return norm * (x - target); }
};
} // namespace

void THCUNN_(MSECriterion_updateOutput)(THCState *state, THCTensor *input, THCTensor *target,
                                        THCTensor *output, bool sizeAverage)
{
  const Criterion run = {"MSECriterion_updateOutput", state, input, target};
  criterionForward(run, Loss{}, output, sizeAverage);
}

void THCUNN_(MSECriterion_updateGradInput)(THCState *state, THCTensor *input, THCTensor *target,
                                           THCTensor *gradInput, bool sizeAverage)
{
  const Criterion run = {"MSECriterion_updateGradInput", state, input, target};
  const real norm = 2 * criterionNorm(input, sizeAverage);
  criterionBackward(run, Gradient{norm}, gradInput);
}
