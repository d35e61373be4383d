/* The twin of generic/activation/RReLU.c. */
#include "cuda/THC/THCRandom.cuh"
#include "cuda/generic/activation/pointwise.cuh"
#include "generic/activation/checks.h"

namespace
{

enum { AT_ONCE = THCUniform<real>::COUNT };

struct Forward {
  real slope;
  __device__ void operator()(real &output, const real &input) const
  {
    output = input > 0 ? input : input * slope;
  }
};

struct Backward {
  real slope;
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    gradInput = input > 0 ? gradOutput : gradOutput * slope;
  }
};

struct Product {
  __device__ void operator()(real &gradInput, const real &noise, const real &gradOutput) const
  {
    gradInput = noise * gradOutput;
  }
};

real meanSlope(double lower, double upper)
{
  return ((real)lower + (real)upper) / 2;
}

/* Elements i, i + groups, i + 2 groups … take their slopes from the words at position first + i. */
__global__ void __launch_bounds__(THC_THREADS)
    drawSlopes(int64_t count, int64_t groups, uint64_t seed, uint64_t first, real lower, real upper,
               const real *input, real *output, real *noise)
{
  THC_FOR_ELEMENTS(int64_t, group, groups)
  {
    const THCRandomWords words = THC_randomWords(seed, first + group);
    THC_UNROLL
    for (int k = 0; k < AT_ONCE; k++) {
      const int64_t i = group + k * groups;
      if (i >= count)
        break;
      const real x = input[i];
      const real drawn = lower + (upper - lower) * THCUniform<real>::at(words, k);
      const real slope = x <= 0 ? drawn : real(1);
      noise[i] = slope;
      output[i] = slope * x;
    }
  }
}

void forwardWithNoise(const Pointwise &run, THCTensor *input, THCTensor *output, THCTensor *noise,
                      real lower, real upper)
{
  THCPlan plan;
  THC_planStart(&plan, run.function, run.state);
  THNNBuffer *in, *out;
  pointwisePlan(&plan, run.inplace, input, output, &in, &out);
  const THNNBuffer *drawn = THC_planOutLike(&plan, noise, 4, input);
  THC_planAcquire(&plan);
  const int64_t count = THCTensor_(nElement)(run.state, input);
  const int64_t groups = (count + AT_ONCE - 1) / AT_ONCE;
  const uint64_t first = run.state->drawn;
  run.state->drawn += (uint64_t)groups;
  THC_LAUNCH_ELEMENTS(&plan, drawSlopes, groups, count, groups, run.state->seed, first, lower,
                      upper, THC_pointer<const real>(in), THC_pointer<real>(out),
                      THC_pointer<real>(drawn));
  THC_planRelease(&plan);
}

} // namespace

void THCUNN_(RReLU_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                 THCTensor *noise, double lower, double upper, bool train,
                                 bool inplace, void *generator)
{
  (void)generator; /* the state has its own random numbers */
  const Pointwise run = {"RReLU_updateOutput", state, inplace};
  if (!noise)
    THNN_rejectShape(run.function, THNN_SHAPE(noise, 4), "a tensor");
  if (train)
    forwardWithNoise(run, input, output, noise, (real)lower, (real)upper);
  else
    pointwiseForward(run, Forward{meanSlope(lower, upper)}, input, output);
}

void THCUNN_(RReLU_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                    THCTensor *gradInput, THCTensor *noise, double lower,
                                    double upper, bool train, bool inplace)
{
  Pointwise run = {"RReLU_updateGradInput", state, inplace};
  /* Bounds this close make the slope practically constant; `noise` is not needed then. */
  if (!train || (real)upper - (real)lower <= (real)1e-6) {
    pointwiseBackward(run, Backward{meanSlope(lower, upper)}, input, "input", 2, gradOutput,
                      gradInput);
    return;
  }
  THNN_pointwise_shapeCheck(run.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3));
  THNN_pointwise_shapeCheck(run.function, THNN_SHAPE(gradOutput, 3), THNN_SHAPE(noise, 5));
  run.like = gradOutput;
  pointwiseBackward(run, Product{}, noise, "noise", 5, gradOutput, gradInput);
}
