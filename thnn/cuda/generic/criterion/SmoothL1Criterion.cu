/* Smooth L1 loss (Huber's with a width of 1): quadratic near the target, linear away from it.
 *   input, target, gradInput   any shape, the same number of elements
 *   output                     one element
 * With e = input - target: output = sum of e^2 / 2 where |e| < 1, of |e| - 1/2 elsewhere;
 * gradInput = e, cut to [-1, 1]; both divided by the number of elements when sizeAverage. */
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
