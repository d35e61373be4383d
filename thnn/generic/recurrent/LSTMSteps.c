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

/* What the cells of all steps read and write; biases may be NULL. */
typedef struct ForwardCells {
  int64_t units, batch;
  real *gates, *states, *memory;
  const real *recurrent, *inBias, *recurrentBias;
} ForwardCells;

/* Computes the cell of a sample. */
static void forwardCell(const void *cells, THNNStep at, int64_t sample)
{
  const ForwardCells *of = cells;
  const int64_t units = of->units, width = LSTM_GATES * units;
  const int64_t before = (at.before * of->batch + sample) * units;
  const int64_t after = (at.after * of->batch + sample) * units;
  real *gate = of->gates + (at.step * of->batch + sample) * width;
  const GateRows rows = {gate, of->recurrent + sample * width, of->inBias, of->recurrentBias};
  THNN_(simd).recurrent.lstm(units, LSTM_ORDER, &rows, of->memory + before, gate,
                             of->states + after, of->memory + after);
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
  const ForwardCells of = {.units = units,
                           .batch = batch,
                           .gates = all->data,
                           .states = states->data,
                           .memory = memory->data,
                           .recurrent = recurrent->data,
                           .inBias = inBias ? inBias->data : NULL,
                           .recurrentBias = recurrentBias ? recurrentBias->data : NULL};
  const StepLayer layer = {.x = states->data,
                           .y = recurrent->data,
                           .cell = forwardCell,
                           .of = &of,
                           .cost = (double)units * LSTM_FORWARD_COST};
  computeSteps(&products, &layer, &sizes, reverse);
  THNN_planRelease(&plan);
}

/* What the gradients of the cells of all steps read and write; `given` may be NULL. */
typedef struct BackwardCells {
  int64_t units, batch;
  const real *gates, *memory, *given;
  real *gradGates, *carried, *carriedCell;
} BackwardCells;

/* Computes the gradients of the cell of a sample. */
static void backwardCell(const void *cells, THNNStep at, int64_t sample)
{
  const BackwardCells *of = cells;
  const int64_t units = of->units, width = LSTM_GATES * units;
  const int64_t place = at.step * of->batch + sample;
  real *row = of->carried + sample * units, *cell = of->carriedCell + sample * units;
  if (of->given)
    THNN_(simd).pointwise.axpy(units, 1, of->given + place * units, row);
  const LstmGradients gradients = {of->memory + (at.before * of->batch + sample) * units,
                                   of->memory + (at.after * of->batch + sample) * units, row, cell};
  THNN_(simd).recurrent.lstmBackward(units, LSTM_ORDER, of->gates + place * width, &gradients,
                                     of->gradGates + place * width, cell);
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
  const BackwardCells of = {.units = units,
                            .batch = batch,
                            .gates = all->data,
                            .memory = memory->data,
                            .given = from ? from->data : NULL,
                            .gradGates = to->data,
                            .carried = carried->data,
                            .carriedCell = carriedCell->data};
  const StepLayer layer = {.backward = true,
                           .x = to->data,
                           .y = carried->data,
                           .cell = backwardCell,
                           .of = &of,
                           .cost = (double)units * LSTM_BACKWARD_COST};
  computeSteps(&products, &layer, &sizes, reverse);
  THNN_planRelease(&plan);
}
