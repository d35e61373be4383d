/* All steps of a plain recurrent layer, given the products of its input.
 *   input    steps x batch x units: W x and its bias
 *   weight   units x units: U            bias   units, may be NULL
 *   output   (steps + 1) x batch x units: before and after the steps
 *
 *   h' = f(input + U h + bias), where f is tanh, or max(x, 0) if the layer rectifies
 *
 * Backward from the last step to the first, with f' as h' has it:
 *   gradInput = f' (gradState + gradOutput),  gradState = gradInput U */
#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/recurrent/stepProducts.h"

enum {
  GATES = 1,
  FORWARD_COST = 8, /* cost of a unit, in copied elements */
  BACKWARD_COST = 3
};

void THNN_(RNNSteps_updateOutput)(THNNState *state, THTensor *input, THTensor *weight,
                                  THTensor *bias, THTensor *output, bool rectify, bool reverse)
{
  const char *function = "RNNSteps_updateOutput";
  const THNNSteps sizes =
      THNN_steps_shapeCheck(function, GATES, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepBias(function, GATES, &sizes, THNN_SHAPE(bias, 4));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 5));
  const int64_t units = sizes.units, batch = sizes.batch;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *all = THNN_planIn(&plan, input, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 4) : NULL;
  THNNBuffer *states = THNN_planInOut(&plan, output, 5);
  StepProducts products = stepProducts(&plan, state, &sizes, units, units, false);
  THNN_planAcquire(&plan);

  takeWeight(&products, matrix->data);
  const Map tanhOf = simdFor(state)->elementary.tanh;
  const int threads = THNN_threads(state, batch, (double)batch * (double)units * FORWARD_COST);
  for (int64_t step = 0; step < sizes.steps; step++) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    const real *in = (const real *)all->data + at.step * batch * units;
    const real *before = (const real *)states->data + at.before * batch * units;
    real *after = (real *)states->data + at.after * batch * units;
    multiplyStep(&products, before, start ? start->data : NULL, false, after);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++) {
      real *row = after + i * units;
      THNN_(simd).pointwise.finish(units, in + i * units, rectify, row);
      if (!rectify)
        tanhOf(units, row, NULL, row);
    }
  }
  THNN_planRelease(&plan);
}

void THNN_(RNNSteps_updateGradInput)(THNNState *state, THTensor *output, THTensor *weight,
                                     THTensor *gradOutput, THTensor *gradInput, THTensor *gradState,
                                     bool rectify, bool reverse)
{
  const char *function = "RNNSteps_updateGradInput";
  const THNNSteps sizes =
      THNN_statesSteps_shapeCheck(function, THNN_SHAPE(output, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 4), THNN_SHAPE(gradState, 6));
  const int64_t units = sizes.units, batch = sizes.batch;
  const int64_t inputSize[] = {sizes.steps, batch, units};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *states = THNN_planIn(&plan, output, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *from = gradOutput ? THNN_planIn(&plan, gradOutput, 4) : NULL;
  THNNBuffer *to = THNN_planOut(&plan, gradInput, 5, 3, inputSize);
  THNNBuffer *carried = THNN_planInOut(&plan, gradState, 6);
  StepProducts products = stepProducts(&plan, state, &sizes, units, units, true);
  THNN_planAcquire(&plan);

  takeWeight(&products, matrix->data);
  const real zero = 0;
  const Map2 slope =
      rectify ? THNN_(simd).pointwise.thresholdBackward : THNN_(simd).activation.tanhBackward;
  const int threads = THNN_threads(state, batch, (double)batch * (double)units * BACKWARD_COST);
  for (int64_t step = sizes.steps; step-- > 0;) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    const real *after = (const real *)states->data + at.after * batch * units;
    const real *given = from ? (const real *)from->data + at.step * batch * units : NULL;
    real *gradient = (real *)to->data + at.step * batch * units;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++) {
      real *row = (real *)carried->data + i * units;
      if (given)
        THNN_(simd).pointwise.axpy(units, 1, given + i * units, row);
      slope(units, after + i * units, row, &zero, gradient + i * units);
    }
    multiplyStep(&products, gradient, NULL, false, carried->data);
  }
  THNN_planRelease(&plan);
}
