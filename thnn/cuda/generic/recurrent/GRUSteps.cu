/* The twin of generic/recurrent/GRUSteps.c. */
#include "cuda/THC/THCBlas.h"
#include "cuda/generic/recurrent/gru.cuh"
#include "geometry/cell.h"

void THCUNN_(GRUSteps_updateOutput)(THCState *state, THCTensor *input, THCTensor *weight,
                                    THCTensor *bias1, THCTensor *bias2, THCTensor *output,
                                    THCTensor *storage, bool reverse)
{
  const char *function = "GRUSteps_updateOutput";
  const THNNSteps sizes =
      THNN_steps_shapeCheck(function, GRU_GATES, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepBiases(function, GRU_GATES, &sizes, THNN_SHAPE(bias1, 4), THNN_SHAPE(bias2, 5));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 6));
  const int64_t units = sizes.units, batch = sizes.batch, width = GRU_GATES * units;
  const int64_t storageSize[] = {sizes.steps, batch, GRU_STORED * units};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *all = THC_planIn(&plan, input, 2);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 3);
  const THNNBuffer *inBias = bias1 ? THC_planIn(&plan, bias1, 4) : nullptr;
  const THNNBuffer *recurrentBias = bias2 ? THC_planIn(&plan, bias2, 5) : nullptr;
  const THNNBuffer *states = THC_planInOut(&plan, output, 6);
  const THNNBuffer *stored = THC_planOut(&plan, storage, 7, 3, storageSize);
  const THNNBuffer *recurrent = THC_planScratch(&plan, batch * width * (int64_t)sizeof(real));
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const int64_t count = batch * units;
  for (int64_t step = 0; step < sizes.steps; step++) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    real *y = THC_pointer<real>(states);
    const real *before = y + at.before * count;
    THC_multiply(&plan, 1, batch, width, units, real(1), THC_matrix(before, units),
                 THC_matrix(THC_pointer<const real>(matrix), units, true), real(0),
                 THC_matrix(THC_pointer<real>(recurrent), width));
    const GateSums sums = {THC_pointer<const real>(all) + at.step * batch * width,
                           THC_pointer<const real>(recurrent), THC_pointer<const real>(inBias),
                           THC_pointer<const real>(recurrentBias)};
    real *store = THC_pointer<real>(stored) + at.step * batch * GRU_STORED * units;
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const THCDivisor<Index> divisor(units);
      const GruForward<Index> map = {{divisor}, {divisor}, sums, store};
      THC_apply(&plan, function, count, map, y + at.after * count, before);
    });
  }
  THC_planRelease(&plan);
}

void THCUNN_(GRUSteps_updateGradInput)(THCState *state, THCTensor *storage, THCTensor *weight,
                                       THCTensor *gradOutput, THCTensor *gradInInput,
                                       THCTensor *gradInHidden, THCTensor *gradState, bool reverse)
{
  const char *function = "GRUSteps_updateGradInput";
  const THNNSteps sizes = THNN_storedSteps_shapeCheck(
      function, GRU_GATES, GRU_STORED, THNN_SHAPE(storage, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 4), THNN_SHAPE(gradState, 7));
  const int64_t units = sizes.units, batch = sizes.batch, width = GRU_GATES * units;
  const int64_t gateSize[] = {sizes.steps, batch, width};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *stored = THC_planIn(&plan, storage, 2);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 3);
  const THNNBuffer *from = gradOutput ? THC_planIn(&plan, gradOutput, 4) : nullptr;
  const THNNBuffer *toInput = THC_planOut(&plan, gradInInput, 5, 3, gateSize);
  const THNNBuffer *toHidden = THC_planOut(&plan, gradInHidden, 6, 3, gateSize);
  const THNNBuffer *carried = THC_planInOut(&plan, gradState, 7);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const int64_t count = batch * units;
  real *ofState = THC_pointer<real>(carried);
  for (int64_t step = sizes.steps; step-- > 0;) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    const real *store = THC_pointer<const real>(stored) + at.step * batch * GRU_STORED * units;
    const real *given = from ? THC_pointer<const real>(from) + at.step * count : nullptr;
    real *gradIn = THC_pointer<real>(toInput) + at.step * batch * width;
    real *gradHidden = THC_pointer<real>(toHidden) + at.step * batch * width;
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const THCDivisor<Index> divisor(units);
      const GruBackward<Index> map = {{divisor}, {divisor}, store, given, gradIn, gradHidden};
      THC_apply(&plan, function, count, map, ofState, (const real *)ofState);
    });
    /* So far the gradient of the state before this step has what passes the products by; this adds
     * what comes through them, U^T gradHidden. */
    THC_multiply(
        &plan, 1, batch, units, width, real(1), THC_matrix((const real *)gradHidden, width),
        THC_matrix(THC_pointer<const real>(matrix), units), real(1), THC_matrix(ofState, units));
  }
  THC_planRelease(&plan);
}
