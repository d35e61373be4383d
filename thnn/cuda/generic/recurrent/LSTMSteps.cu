/* The twin of generic/recurrent/LSTMSteps.c. */
#include "cuda/THC/THCBlas.h"
#include "cuda/generic/recurrent/lstm.cuh"
#include "geometry/cell.h"

void THCUNN_(LSTMSteps_updateOutput)(THCState *state, THCTensor *gates, THCTensor *weight,
                                     THCTensor *bias1, THCTensor *bias2, THCTensor *output,
                                     THCTensor *cells, bool reverse)
{
  const char *function = "LSTMSteps_updateOutput";
  const THNNSteps sizes =
      THNN_steps_shapeCheck(function, LSTM_GATES, THNN_SHAPE(gates, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepBiases(function, LSTM_GATES, &sizes, THNN_SHAPE(bias1, 4), THNN_SHAPE(bias2, 5));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 6));
  THNN_checkStates(function, &sizes, THNN_SHAPE(cells, 7));
  const int64_t units = sizes.units, batch = sizes.batch, width = LSTM_GATES * units;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *all = THC_planInOut(&plan, gates, 2);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 3);
  const THNNBuffer *inBias = bias1 ? THC_planIn(&plan, bias1, 4) : nullptr;
  const THNNBuffer *recurrentBias = bias2 ? THC_planIn(&plan, bias2, 5) : nullptr;
  const THNNBuffer *states = THC_planInOut(&plan, output, 6);
  const THNNBuffer *memory = THC_planInOut(&plan, cells, 7);
  const THNNBuffer *recurrent = THC_planScratch(&plan, batch * width * (int64_t)sizeof(real));
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const int64_t count = batch * units;
  for (int64_t step = 0; step < sizes.steps; step++) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    real *gate = THC_pointer<real>(all) + at.step * batch * width;
    real *y = THC_pointer<real>(states), *c = THC_pointer<real>(memory);
    const real *cx = c + at.before * count;
    THC_multiply(&plan, 1, batch, width, units, real(1),
                 THC_matrix((const real *)y + at.before * count, units),
                 THC_matrix(THC_pointer<const real>(matrix), units, true), real(0),
                 THC_matrix(THC_pointer<real>(recurrent), width));
    const GateSums sums = {gate, THC_pointer<const real>(recurrent),
                           THC_pointer<const real>(inBias), THC_pointer<const real>(recurrentBias)};
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const LstmForward<Index> map = {{THCDivisor<Index>(units)}, LSTM_ORDER, sums, gate};
      THC_apply(&plan, function, count, map, y + at.after * count, c + at.after * count, cx);
    });
  }
  THC_planRelease(&plan);
}

void THCUNN_(LSTMSteps_updateGradInput)(THCState *state, THCTensor *gates, THCTensor *weight,
                                        THCTensor *cells, THCTensor *gradOutput,
                                        THCTensor *gradGates, THCTensor *gradState,
                                        THCTensor *gradCell, bool reverse)
{
  const char *function = "LSTMSteps_updateGradInput";
  const THNNSteps sizes =
      THNN_steps_shapeCheck(function, LSTM_GATES, THNN_SHAPE(gates, 2), THNN_SHAPE(weight, 3));
  THNN_checkStates(function, &sizes, THNN_SHAPE(cells, 4));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 5), THNN_SHAPE(gradState, 7));
  THNN_checkStepGradients(function, &sizes, THNN_NO_SHAPE, THNN_SHAPE(gradCell, 8));
  const int64_t units = sizes.units, batch = sizes.batch, width = LSTM_GATES * units;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *all = THC_planIn(&plan, gates, 2);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 3);
  const THNNBuffer *memory = THC_planIn(&plan, cells, 4);
  const THNNBuffer *from = gradOutput ? THC_planIn(&plan, gradOutput, 5) : nullptr;
  const THNNBuffer *to = THC_planOutLike(&plan, gradGates, 6, gates);
  const THNNBuffer *carried = THC_planInOut(&plan, gradState, 7);
  const THNNBuffer *carriedCell = THC_planInOut(&plan, gradCell, 8);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const int64_t count = batch * units;
  real *ofState = THC_pointer<real>(carried), *ofCell = THC_pointer<real>(carriedCell);
  for (int64_t step = sizes.steps; step-- > 0;) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    const real *gate = THC_pointer<const real>(all) + at.step * batch * width;
    const real *c = THC_pointer<const real>(memory);
    const real *given = from ? THC_pointer<const real>(from) + at.step * count : nullptr;
    real *gradGate = THC_pointer<real>(to) + at.step * batch * width;
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const LstmBackward<Index> map = {
          {THCDivisor<Index>(units)}, LSTM_ORDER, gate, given, gradGate};
      THC_apply(&plan, function, count, map, ofCell, c + at.before * count, c + at.after * count,
                (const real *)ofState, (const real *)ofCell);
    });
    THC_multiply(&plan, 1, batch, units, width, real(1), THC_matrix((const real *)gradGate, width),
                 THC_matrix(THC_pointer<const real>(matrix), units), real(0),
                 THC_matrix(ofState, units));
  }
  THC_planRelease(&plan);
}
