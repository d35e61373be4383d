/* All steps of an LSTM layer, given the products of its input.
 *   gates    steps x batch x 4 units: W x, gates in the order i, f, c, o
 *   weight   4 units x units: U          bias1, bias2   4 units: both or neither
 *   output, cells   (steps + 1) x batch x units: before and after the steps
 *
 *   i, f, o = sigmoid(gates + U h + bias1 + bias2),  c = tanh(…); they replace gates
 *   cells' = f cells + i c,  h' = o tanh(cells')
 *
 * The gradients are those of LSTMFused.c, from the last step to the first.
 *
 * A weight whose columns are dense, such as the transpose of another, is multiplied as it lies:
 * products with few samples then read it in place, step by step. */
#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/recurrent/lstm.h"
#include "generic/recurrent/stepProducts.h"

/* Whether the columns of a weight are dense, and its rows are not. */
static bool hasDenseColumns(const THTensor *weight)
{
  return weight->size[1] > 1 && weight->stride[0] == 1 && weight->stride[1] == weight->size[0];
}

void THNN_(LSTMSteps_updateOutput)(THNNState *state, THTensor *gates, THTensor *weight,
                                   THTensor *bias1, THTensor *bias2, THTensor *output,
                                   THTensor *cells, bool reverse)
{
  const char *function = "LSTMSteps_updateOutput";
  const THNNSteps sizes =
      THNN_steps_shapeCheck(function, LSTM_GATES, THNN_SHAPE(gates, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepBiases(function, LSTM_GATES, &sizes, THNN_SHAPE(bias1, 4), THNN_SHAPE(bias2, 5));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 6));
  THNN_checkStates(function, &sizes, THNN_SHAPE(cells, 7));
  const int64_t units = sizes.units, batch = sizes.batch, width = LSTM_GATES * units;
  const bool along = hasDenseColumns(weight);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *all = THNN_planInOut(&plan, gates, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  if (along)
    THNN_planTransposed(matrix);
  THNNBuffer *inBias = bias1 ? THNN_planIn(&plan, bias1, 4) : NULL;
  THNNBuffer *recurrentBias = bias2 ? THNN_planIn(&plan, bias2, 5) : NULL;
  THNNBuffer *states = THNN_planInOut(&plan, output, 6);
  THNNBuffer *memory = THNN_planInOut(&plan, cells, 7);
  THNNBuffer *recurrent = THNN_planScratch(&plan, (size_t)(batch * width) * sizeof(real));
  StepProducts products = stepProducts(&plan, state, &sizes, width, units, along);
  THNN_planAcquire(&plan);

  takeWeight(&products, matrix->data);
  const int threads = THNN_threads(state, batch, (double)batch * (double)units * LSTM_FORWARD_COST);
  for (int64_t step = 0; step < sizes.steps; step++) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    real *gate = (real *)all->data + at.step * batch * width;
    const int64_t before = at.before * batch * units, after = at.after * batch * units;
    multiplyStep(&products, (const real *)states->data + before, NULL, false, recurrent->data);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++) {
      const GateRows rows = {gate + i * width, (const real *)recurrent->data + i * width,
                             inBias ? inBias->data : NULL,
                             recurrentBias ? recurrentBias->data : NULL};
      THNN_(simd).recurrent.lstm(units, LSTM_ORDER, &rows,
                                 (const real *)memory->data + before + i * units, gate + i * width,
                                 (real *)states->data + after + i * units,
                                 (real *)memory->data + after + i * units);
    }
  }
  THNN_planRelease(&plan);
}

void THNN_(LSTMSteps_updateGradInput)(THNNState *state, THTensor *gates, THTensor *weight,
                                      THTensor *cells, THTensor *gradOutput, THTensor *gradGates,
                                      THTensor *gradState, THTensor *gradCell, bool reverse)
{
  const char *function = "LSTMSteps_updateGradInput";
  const THNNSteps sizes =
      THNN_steps_shapeCheck(function, LSTM_GATES, THNN_SHAPE(gates, 2), THNN_SHAPE(weight, 3));
  THNN_checkStates(function, &sizes, THNN_SHAPE(cells, 4));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 5), THNN_SHAPE(gradState, 7));
  THNN_checkStepGradients(function, &sizes, THNN_NO_SHAPE, THNN_SHAPE(gradCell, 8));
  const int64_t units = sizes.units, batch = sizes.batch, width = LSTM_GATES * units;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *all = THNN_planIn(&plan, gates, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *memory = THNN_planIn(&plan, cells, 4);
  THNNBuffer *from = gradOutput ? THNN_planIn(&plan, gradOutput, 5) : NULL;
  THNNBuffer *to = THNN_planOutLike(&plan, gradGates, 6, gates);
  THNNBuffer *carried = THNN_planInOut(&plan, gradState, 7);
  THNNBuffer *carriedCell = THNN_planInOut(&plan, gradCell, 8);
  StepProducts products = stepProducts(&plan, state, &sizes, units, width, true);
  THNN_planAcquire(&plan);

  takeWeight(&products, matrix->data);
  const int threads =
      THNN_threads(state, batch, (double)batch * (double)units * LSTM_BACKWARD_COST);
  for (int64_t step = sizes.steps; step-- > 0;) {
    const THNNStep at = THNN_stepAt(&sizes, step, reverse);
    const real *gate = (const real *)all->data + at.step * batch * width;
    real *gradGate = (real *)to->data + at.step * batch * width;
    const real *cx = (const real *)memory->data + at.before * batch * units;
    const real *cy = (const real *)memory->data + at.after * batch * units;
    const real *given = from ? (const real *)from->data + at.step * batch * units : NULL;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++) {
      real *row = (real *)carried->data + i * units, *cell = (real *)carriedCell->data + i * units;
      if (given)
        THNN_(simd).pointwise.axpy(units, 1, given + i * units, row);
      const LstmGradients gradients = {cx + i * units, cy + i * units, row, cell};
      THNN_(simd).recurrent.lstmBackward(units, LSTM_ORDER, gate + i * width, &gradients,
                                         gradGate + i * width, cell);
    }
    multiplyStep(&products, gradGate, NULL, false, carried->data);
  }
  THNN_planRelease(&plan);
}
