/* All steps of a GRU layer, given the products of its input.
 *   input    steps x batch x 3 units: W x, gates in the order r, z, n
 *   weight   3 units x units: U          bias1, bias2   3 units: added to W x and to U h
 *   output   (steps + 1) x batch x units: before and after the steps
 *   storage  steps x batch x 5 units: what the gradients need
 *
 * A step is that of GRUFused.c, with hidden = U h; so are the gradients, from the last step to the
 * first. */
#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/recurrent/stepProducts.h"

enum {
  GATES = 3,
  STORED = 5,
  FORWARD_COST = 40, /* cost of a unit, in copied elements */
  BACKWARD_COST = 12
};

void THNN_(GRUSteps_updateOutput)(THNNState *state, THTensor *input, THTensor *weight,
                                  THTensor *bias1, THTensor *bias2, THTensor *output,
                                  THTensor *storage, bool reverse)
{
  const char *function = "GRUSteps_updateOutput";
  const THNNSteps sizes =
      THNN_steps_shapeCheck(function, GATES, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepBiases(function, GATES, &sizes, THNN_SHAPE(bias1, 4), THNN_SHAPE(bias2, 5));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 6));
  const int64_t units = sizes.units, batch = sizes.batch, width = GATES * units;
  const int64_t storageSize[] = {sizes.steps, batch, STORED * units};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *all = THNN_planIn(&plan, input, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *inBias = bias1 ? THNN_planIn(&plan, bias1, 4) : NULL;
  THNNBuffer *recurrentBias = bias2 ? THNN_planIn(&plan, bias2, 5) : NULL;
  THNNBuffer *states = THNN_planInOut(&plan, output, 6);
  THNNBuffer *stored = THNN_planOut(&plan, storage, 7, 3, storageSize);
  THNNBuffer *recurrent = THNN_planScratch(&plan, (size_t)(batch * width) * sizeof(real));
  StepProducts products = stepProducts(&plan, state, &sizes, width, units, false);
  THNN_planAcquire(&plan);

  takeWeight(&products, matrix->data);
  const int threads = THNN_threads(state, batch, (double)batch * (double)units * FORWARD_COST);
  for (int64_t step = 0; step < sizes.steps; step++) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    const real *in = (const real *)all->data + at.step * batch * width;
    const real *before = (const real *)states->data + at.before * batch * units;
    real *after = (real *)states->data + at.after * batch * units;
    real *store = (real *)stored->data + at.step * batch * STORED * units;
    multiplyStep(&products, before, NULL, false, recurrent->data);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++) {
      const GateRows rows = {in + i * width, (const real *)recurrent->data + i * width,
                             inBias ? inBias->data : NULL,
                             recurrentBias ? recurrentBias->data : NULL};
      THNN_(simd).recurrent.gru(units, &rows, before + i * units, after + i * units,
                                store + i * STORED * units);
    }
  }
  THNN_planRelease(&plan);
}

void THNN_(GRUSteps_updateGradInput)(THNNState *state, THTensor *storage, THTensor *weight,
                                     THTensor *gradOutput, THTensor *gradInInput,
                                     THTensor *gradInHidden, THTensor *gradState, bool reverse)
{
  const char *function = "GRUSteps_updateGradInput";
  const THNNSteps sizes = THNN_storedSteps_shapeCheck(
      function, GATES, STORED, THNN_SHAPE(storage, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 4), THNN_SHAPE(gradState, 7));
  const int64_t units = sizes.units, batch = sizes.batch, width = GATES * units;
  const int64_t gateSize[] = {sizes.steps, batch, width};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *stored = THNN_planIn(&plan, storage, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *from = gradOutput ? THNN_planIn(&plan, gradOutput, 4) : NULL;
  THNNBuffer *toInput = THNN_planOut(&plan, gradInInput, 5, 3, gateSize);
  THNNBuffer *toHidden = THNN_planOut(&plan, gradInHidden, 6, 3, gateSize);
  THNNBuffer *carried = THNN_planInOut(&plan, gradState, 7);
  StepProducts products = stepProducts(&plan, state, &sizes, units, width, true);
  THNN_planAcquire(&plan);

  takeWeight(&products, matrix->data);
  const int threads = THNN_threads(state, batch, (double)batch * (double)units * BACKWARD_COST);
  for (int64_t step = sizes.steps; step-- > 0;) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    const real *store = (const real *)stored->data + at.step * batch * STORED * units;
    real *gradIn = (real *)toInput->data + at.step * batch * width;
    real *gradHidden = (real *)toHidden->data + at.step * batch * width;
    const real *given = from ? (const real *)from->data + at.step * batch * units : NULL;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++) {
      real *row = (real *)carried->data + i * units;
      if (given)
        THNN_(simd).pointwise.axpy(units, 1, given + i * units, row);
      THNN_(simd).recurrent.gruBackward(units, store + i * STORED * units, row, gradIn + i * width,
                                        gradHidden + i * width, row);
    }
    /* So far the gradient of the state before this step has what passes the products by; this adds
     * what comes through them, U^T gradHidden. */
    multiplyStep(&products, gradHidden, NULL, true, carried->data);
  }
  THNN_planRelease(&plan);
}
