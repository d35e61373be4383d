/* Shared by criterions that compare input and target element by element: a module provides the loss
 * of one element and its gradient, and the functions here run them. */
#ifndef THCUNN_CRITERION_CUH
#define THCUNN_CRITERION_CUH

#include "cuda/generic/shared/channelwise.cuh"
#include "generic/criterion/checks.h"
#include "geometry/planes.h"

namespace
{

/* A module's call. */
struct Criterion {
  const char *function;
  THCState *state;
  THCTensor *input;             /* argument #2 */
  THCTensor *target;            /* argument #3; NULL when inputOnly: output is argument #3 */
  bool inputOnly = false;       /* there is no target */
  bool longOutput = false;      /* output can have more than one element; the first is written */
  THCTensor *weights = nullptr; /* argument #6, a factor for each element; NULL: none */
};

/* The operands as declared to the plan; NULL where the criterion has none. */
struct CriterionBuffers {
  const THNNBuffer *input, *target, *weights;
};

/* Checks the arguments; `outputPosition` is 0 where the function has no output. */
inline void criterionCheck(const Criterion &run, const THCTensor *output, int outputPosition)
{
  const THCTensor *input = run.input, *target = run.target, *weights = run.weights;
  THNN_elementwiseCriterion_shapeCheck(
      run.function, THNN_SHAPE(input, 2), run.inputOnly ? THNN_NO_SHAPE : THNN_SHAPE(target, 3),
      THNN_SHAPE(weights, 6),
      outputPosition && !run.longOutput ? THNN_SHAPE(output, outputPosition) : THNN_NO_SHAPE);
  if (outputPosition && run.longOutput)
    THNN_checkFirstElement(run.function, THNN_SHAPE(output, outputPosition));
}

inline CriterionBuffers criterionPlan(THCPlan *plan, const Criterion &run)
{
  THCTensor *input = run.input, *target = run.target, *weights = run.weights;
  THC_planStart(plan, run.function, run.state);
  CriterionBuffers buffers = {nullptr, nullptr, nullptr};
  buffers.input = THC_planIn(plan, input, 2);
  if (!run.inputOnly)
    buffers.target = THC_planIn(plan, target, 3);
  if (weights)
    buffers.weights = THC_planIn(plan, weights, 6);
  return buffers;
}

/* The factor of a gradient: 1, or 1 / elements for the gradient of a mean. */
inline real criterionNorm(const THCTensor *input, bool sizeAverage)
{
  return (real)(input && sizeAverage ? 1 / (double)THCTensor_(nElement)(nullptr, input) : 1);
}

template <typename Loss> struct LossTerm {
  Loss loss;
  const real *input, *target, *weights;
  __device__ accreal operator()(int64_t i, int64_t plane) const
  {
    (void)plane;
    const real of = loss(input[i], target ? target[i] : 0);
    return weights ? of * weights[i] : of;
  }
};

struct WriteLoss {
  accreal norm;
  real *output;
  __device__ void operator()(int64_t plane, const accreal &sum) const
  {
    (void)plane;
    *output = (real)(norm * sum);
  }
};

/* output = sum of loss(input, target), divided by the number of elements when sizeAverage. */
template <typename Loss>
void criterionForward(const Criterion &run, Loss loss, THCTensor *output, bool sizeAverage)
{
  const int outputPosition = run.inputOnly ? 3 : 4;
  criterionCheck(run, output, outputPosition);
  const int64_t count = THCTensor_(nElement)(run.state, run.input);
  const Channels channels = channelsOf(THNNPlanes{1, 1, count});
  typedef ChannelSum<LossTerm<Loss>> Term;

  THCPlan plan;
  const CriterionBuffers buffers = criterionPlan(&plan, run);
  const THNNBuffer *out = THC_planInOut(&plan, output, outputPosition);
  const THNNBuffer *scratch = THC_planScratch(&plan, channelScratchBytes<Term>(channels));
  THC_planAcquire(&plan);
  const Term term = {{loss, THC_pointer<const real>(buffers.input),
                      THC_pointer<const real>(buffers.target),
                      THC_pointer<const real>(buffers.weights)}};
  const accreal norm = (accreal)(sizeAverage ? 1 / (double)count : 1);
  sumChannels(&plan, channels, term, WriteLoss{norm, THC_pointer<real>(out)},
              THC_pointer<accreal>(scratch));
  THC_planRelease(&plan);
}

template <typename Gradient> struct GradientOfInput {
  Gradient gradient;
  __device__ void operator()(real &gradInput, const real &input) const
  {
    gradInput = gradient(input, 0);
  }
};

template <typename Gradient> struct GradientOfPair {
  Gradient gradient;
  __device__ void operator()(real &gradInput, const real &input, const real &target) const
  {
    gradInput = gradient(input, target);
  }
};

template <typename Gradient> struct WeightedGradient {
  Gradient gradient;
  __device__ void operator()(real &gradInput, const real &input, const real &target,
                             const real &weight) const
  {
    gradInput = gradient(input, target) * weight;
  }
};

/* gradInput (argument #4) = gradient(input, target). */
template <typename Gradient>
void criterionBackward(const Criterion &run, Gradient gradient, THCTensor *gradInput)
{
  criterionCheck(run, nullptr, 0);
  const char *function = run.function;
  const int64_t count = THCTensor_(nElement)(run.state, run.input);

  THCPlan plan;
  const CriterionBuffers buffers = criterionPlan(&plan, run);
  THNNBuffer *out = THC_planOutLike(&plan, gradInput, 4, run.input);
  THNN_planElementwise(out);
  THC_planAcquire(&plan);
  real *to = THC_pointer<real>(out);
  const real *input = THC_pointer<const real>(buffers.input);
  const real *target = THC_pointer<const real>(buffers.target);
  const real *weights = THC_pointer<const real>(buffers.weights);
  if (!target)
    THC_apply(&plan, function, count, GradientOfInput<Gradient>{gradient}, to, input);
  else if (!weights)
    THC_apply(&plan, function, count, GradientOfPair<Gradient>{gradient}, to, input, target);
  else
    THC_apply(&plan, function, count, WeightedGradient<Gradient>{gradient}, to, input, target,
              weights);
  THC_planRelease(&plan);
}

} // namespace

#endif
