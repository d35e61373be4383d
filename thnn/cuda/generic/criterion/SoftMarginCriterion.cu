/* Logistic loss of a two-class classifier: target is 1 or -1.
 *   input, target, gradInput   any shape, the same number of elements
 *   output                     one element
 * output = sum of log(1 + exp(-input * target));  gradInput = -target / (1 + exp(input * target));
 * both divided by the number of elements when sizeAverage. */
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
