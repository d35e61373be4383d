/* The twin of generic/criterion/DistKLDivCriterion.c. */
#include "cuda/generic/criterion/criterion.cuh"

namespace
{
struct Loss {
  __device__ real operator()(real x, real target) const
  {
    return target > 0 ? target * (log(target) - x) : 0;
  }
};

struct Gradient {
  real norm;
  __device__ real operator()(real x, real target) const
  {
    (void)x;
    return target > 0 ? -norm * target : 0;
  }
};
} // namespace

void THCUNN_(DistKLDivCriterion_updateOutput)(THCState *state, THCTensor *input, THCTensor *target,
                                              THCTensor *output, bool sizeAverage)
{
  const Criterion run = {"DistKLDivCriterion_updateOutput", state, input, target};
  criterionForward(run, Loss{}, output, sizeAverage);
}

void THCUNN_(DistKLDivCriterion_updateGradInput)(THCState *state, THCTensor *input,
                                                 THCTensor *target, THCTensor *gradInput,
                                                 bool sizeAverage)
{
  const Criterion run = {"DistKLDivCriterion_updateGradInput", state, input, target};
  const real norm = criterionNorm(input, sizeAverage);
  criterionBackward(run, Gradient{norm}, gradInput);
}
