/* The twin of generic/criterion/BCECriterion.c.
 * An input outside its range is reported like a bad index. */
#include "cuda/generic/criterion/criterion.cuh"

#include "cuda/THC/THCIndex.cuh"

namespace
{

constexpr real TINY_PROBABILITY = (real)1e-12;

struct Probability {
  THCIndexRange domain;
  __device__ void of(real x) const
  {
    if (!(x >= 0 && x <= 1))
      THC_reportIndex(0, domain);
  }
  __device__ void operator()(int64_t i, const real *x) const { of(x[i]); }
};

struct Loss {
  Probability check;
  __device__ real operator()(real x, real target) const
  {
    check.of(x);
    return -(target * log(x + TINY_PROBABILITY) + (1 - target) * log(1 - x + TINY_PROBABILITY));
  }
};

struct Gradient {
  real norm;
  __device__ real operator()(real x, real target) const
  {
    return norm * ((x - target) / ((1 - x + TINY_PROBABILITY) * (x + TINY_PROBABILITY)));
  }
};

} // namespace

void THCUNN_(BCECriterion_updateOutput)(THCState *state, THCTensor *input, THCTensor *target,
                                        THCTensor *output, bool sizeAverage, THCTensor *weights)
{
  Criterion run = {"BCECriterion_updateOutput", state, input, target};
  run.weights = weights;
  criterionCheck(run, output, 4);
  THC_checkState(state, run.function);
  const Probability check = {THC_valueDomain(state, run.function, "values from 0 to 1")};
  THC_checkValues<real>(state, run.function, input, "input", 2, THCTensor_(nElement)(state, input),
                        check);
  criterionForward(run, Loss{check}, output, sizeAverage);
}

void THCUNN_(BCECriterion_updateGradInput)(THCState *state, THCTensor *input, THCTensor *target,
                                           THCTensor *gradInput, bool sizeAverage,
                                           THCTensor *weights)
{
  Criterion run = {"BCECriterion_updateGradInput", state, input, target};
  run.weights = weights;
  criterionBackward(run, Gradient{criterionNorm(input, sizeAverage)}, gradInput);
}
