/* The twin of generic/criterion/AbsCriterion.c. */
#include "cuda/generic/criterion/criterion.cuh"

namespace
{
struct Loss {
  __device__ real operator()(real x, real target) const { return fabs(x - target); }
};

struct Gradient {
  real norm;
  __device__ real operator()(real x, real target) const { return x - target >= 0 ? norm : -norm; }
};
} // namespace

void THCUNN_(AbsCriterion_updateOutput)(THCState *state, THCTensor *input, THCTensor *target,
                                        THCTensor *output, bool sizeAverage)
{
  Criterion run = {"AbsCriterion_updateOutput", state, input, target};
  run.longOutput = true;
  criterionForward(run, Loss{}, output, sizeAverage);
}

void THCUNN_(AbsCriterion_updateGradInput)(THCState *state, THCTensor *input, THCTensor *target,
                                           THCTensor *gradInput, bool sizeAverage)
{
  const Criterion run = {"AbsCriterion_updateGradInput", state, input, target};
  const real norm = criterionNorm(input, sizeAverage);
  criterionBackward(run, Gradient{norm}, gradInput);
}
