/* The twin of generic/recurrent/RNNSteps.c. */
#include "cuda/THC/THCBlas.h"
#include "cuda/generic/recurrent/cell.cuh"
#include "geometry/cell.h"

namespace
{

enum { RNN_GATES = 1 };

/* `hidden` are the products of the state before. */
template <typename Index> struct Forward {
  THCDivisor<Index> units;
  const real *hidden, *bias;
  bool rectify;

  __device__ void operator()(int64_t unit, real &after, const real &input) const
  {
    const real start = bias ? bias[THC_divide((Index)unit, units).remainder] : real(0);
    const real sum = hidden[unit] + start + input;
    after = !rectify ? tanh(sum) : sum > 0 ? sum : real(0);
  }
};

/* `given` is added to the gradient of the output; it may be NULL. */
struct Backward {
  const real *given;
  bool rectify;

  __device__ void operator()(int64_t unit, real &gradient, const real &after,
                             const real &carried) const
  {
    const real sum = given ? carried + given[unit] : carried;
    gradient = !rectify ? sum * (1 - after * after) : after > 0 ? sum : real(0);
  }
};

} // namespace

void THCUNN_(RNNSteps_updateOutput)(THCState *state, THCTensor *input, THCTensor *weight,
                                    THCTensor *bias, THCTensor *output, bool rectify, bool reverse)
{
  const char *function = "RNNSteps_updateOutput";
  const THNNSteps sizes =
      THNN_steps_shapeCheck(function, RNN_GATES, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepBias(function, 1, &sizes, THNN_SHAPE(bias, 4));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 5));
  const int64_t units = sizes.units, count = sizes.batch * units;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *all = THC_planIn(&plan, input, 2);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 3);
  const THNNBuffer *start = bias ? THC_planIn(&plan, bias, 4) : nullptr;
  const THNNBuffer *states = THC_planInOut(&plan, output, 5);
  const THNNBuffer *recurrent = THC_planScratch(&plan, count * (int64_t)sizeof(real));
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  for (int64_t step = 0; step < sizes.steps; step++) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    real *y = THC_pointer<real>(states);
    THC_multiply(&plan, 1, sizes.batch, units, units, real(1),
                 THC_matrix((const real *)y + at.before * count, units),
                 THC_matrix(THC_pointer<const real>(matrix), units, true), real(0),
                 THC_matrix(THC_pointer<real>(recurrent), units));
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const Forward<Index> map = {THCDivisor<Index>(units), THC_pointer<const real>(recurrent),
                                  THC_pointer<const real>(start), rectify};
      THC_apply(&plan, function, count, map, y + at.after * count,
                THC_pointer<const real>(all) + at.step * count);
    });
  }
  THC_planRelease(&plan);
}

void THCUNN_(RNNSteps_updateGradInput)(THCState *state, THCTensor *output, THCTensor *weight,
                                       THCTensor *gradOutput, THCTensor *gradInput,
                                       THCTensor *gradState, bool rectify, bool reverse)
{
  const char *function = "RNNSteps_updateGradInput";
  const THNNSteps sizes =
      THNN_statesSteps_shapeCheck(function, THNN_SHAPE(output, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 4), THNN_SHAPE(gradState, 6));
  const int64_t units = sizes.units, count = sizes.batch * units;
  const int64_t inputSize[] = {sizes.steps, sizes.batch, units};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *states = THC_planIn(&plan, output, 2);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 3);
  const THNNBuffer *from = gradOutput ? THC_planIn(&plan, gradOutput, 4) : nullptr;
  const THNNBuffer *to = THC_planOut(&plan, gradInput, 5, 3, inputSize);
  const THNNBuffer *carried = THC_planInOut(&plan, gradState, 6);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  real *ofState = THC_pointer<real>(carried);
  for (int64_t step = sizes.steps; step-- > 0;) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    const real *after = THC_pointer<const real>(states) + at.after * count;
    const real *given = from ? THC_pointer<const real>(from) + at.step * count : nullptr;
    real *gradient = THC_pointer<real>(to) + at.step * count;
    THC_apply(&plan, function, count, Backward{given, rectify}, gradient, after,
              (const real *)ofState);
    THC_multiply(
        &plan, 1, sizes.batch, units, units, real(1), THC_matrix((const real *)gradient, units),
        THC_matrix(THC_pointer<const real>(matrix), units), real(0), THC_matrix(ofState, units));
  }
  THC_planRelease(&plan);
}
