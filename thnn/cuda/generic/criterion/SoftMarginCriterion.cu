/* The twin of generic/criterion/SoftMarginCriterion.c. */
#include "cuda/generic/criterion/criterion.cuh"
#include "cuda/generic/shared/elementary.cuh"

namespace
{
struct Loss {
  __device__ real operator()(real x, real target) const { return softplus(-x * target); }
};

struct Gradient {
  real norm;
  __device__ real operator()(real x, real target) const
  {
    return -norm * target * sigmoid(-x * target);
  }
};
} // namespace

void THCUNN_(SoftMarginCriterion_updateOutput)(THCState *state, THCTensor *input, THCTensor *target,
                                               THCTensor *output, bool sizeAverage)
{
  const Criterion run = {"SoftMarginCriterion_updateOutput", state, input, target};
  criterionForward(run, Loss{}, output, sizeAverage);
}

void THCUNN_(SoftMarginCriterion_updateGradInput)(THCState *state, THCTensor *input,
                                                  THCTensor *target, THCTensor *gradInput,
                                                  bool sizeAverage)
{
  const Criterion run = {"SoftMarginCriterion_updateGradInput", state, input, target};
  const real norm = criterionNorm(input, sizeAverage);
  criterionBackward(run, Gradient{norm}, gradInput);
}
