/* The twin of generic/criterion/MarginCriterion.c. */
#include "cuda/generic/criterion/criterion.cuh"

namespace
{
struct Loss {
  real margin;
  __device__ real operator()(real x, real target) const
  {
    const real missing = margin - x * target;
    return missing > 0 ? missing : 0;
  }
};

struct Gradient {
  real norm, margin;
  __device__ real operator()(real x, real target) const
  {
    return x * target < margin ? -norm * target : 0;
  }
};
} // namespace

void THCUNN_(MarginCriterion_updateOutput)(THCState *state, THCTensor *input, THCTensor *target,
                                           THCTensor *output, bool sizeAverage, accreal margin)
{
  const Criterion run = {"MarginCriterion_updateOutput", state, input, target};
  criterionForward(run, Loss{(real)margin}, output, sizeAverage);
}

void THCUNN_(MarginCriterion_updateGradInput)(THCState *state, THCTensor *input, THCTensor *target,
                                              THCTensor *gradInput, bool sizeAverage,
                                              accreal margin)
{
  const Criterion run = {"MarginCriterion_updateGradInput", state, input, target};
  const real norm = criterionNorm(input, sizeAverage);
  criterionBackward(run, Gradient{norm, (real)margin}, gradInput);
}
