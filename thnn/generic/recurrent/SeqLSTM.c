/* All steps of an LSTM whose parameters are those of Lua's SeqLSTM, given the products of its
 * input.
 *   gates    steps x batch x 4 units: x W, gates in the order i, f, o, c
 *   weight   units x 4 units: U          bias   4 units, may be NULL
 *   mask     steps x batch: padding where it is not 0; may be NULL
 *   output, cells   (steps + 1) x batch x units: before and after the steps
 *
 *   i, f, o = sigmoid(gates + h U + bias),  c = tanh(…); they replace gates
 *   cells' = f cells + i c,  h' = o tanh(cells'); gates and both are 0 for padding
 *
 * The gradients are those of LSTMFused.c, from the last step to the first; padding has none. */
#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/recurrent/fedBack.h"
#include "generic/recurrent/lstm.h"
#include "generic/recurrent/stepProducts.h"
#include "generic/shared/keptPanels.h"

static const LstmOrder CELL_LAST = {.input = 0, .forget = 1, .output = 2, .cell = 3};

/* What the cells of all steps read and write; `bias` and `padding` may be NULL. */
typedef struct ForwardCells {
  int64_t units, batch;
  real *gates, *states, *memory;
  const real *recurrent, *bias;
  const THNNBuffer *padding;
} ForwardCells;

/* Computes the cell of a sample. */
static void forwardCell(const void *cells, THNNStep at, int64_t sample)
{
  const ForwardCells *of = cells;
  const int64_t units = of->units, width = LSTM_GATES * units;
  const int64_t place = at.step * of->batch + sample;
  const int64_t before = (at.before * of->batch + sample) * units;
  const int64_t after = (at.after * of->batch + sample) * units;
  real *gate = of->gates + place * width;
  if (isPadding(of->padding, place)) {
    THNN_(simd).pointwise.fill(width, 0, gate);
    THNN_(simd).pointwise.fill(units, 0, of->states + after);
    THNN_(simd).pointwise.fill(units, 0, of->memory + after);
    return;
  }
  const GateRows rows = {gate, of->recurrent + sample * width, of->bias, NULL};
  THNN_(simd).recurrent.lstm(units, CELL_LAST, &rows, of->memory + before, gate, of->states + after,
                             of->memory + after);
}

void THNN_(SeqLSTM_updateOutput)(THNNState *state, THTensor *gates, THTensor *weight,
                                 THTensor *bias, THTensor *mask, THTensor *output, THTensor *cells)
{
  const char *function = "SeqLSTM_updateOutput";
  const THNNSteps sizes = THNN_fedBackSteps_shapeCheck(function, LSTM_GATES, THNN_SHAPE(gates, 2),
                                                       THNN_SHAPE(weight, 3));
  THNN_checkStepBias(function, LSTM_GATES, &sizes, THNN_SHAPE(bias, 4));
  THNN_checkStepMask(function, &sizes, THNN_SHAPE(mask, 5));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 6));
  THNN_checkStates(function, &sizes, THNN_SHAPE(cells, 7));
  const int64_t units = sizes.units, batch = sizes.batch, width = LSTM_GATES * units;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *all = THNN_planInOut(&plan, gates, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 4) : NULL;
  THNNBuffer *padding = mask ? THNN_planIn(&plan, mask, 5) : NULL;
  THNNBuffer *states = THNN_planInOut(&plan, output, 6);
  THNNBuffer *memory = THNN_planInOut(&plan, cells, 7);
  THNNBuffer *recurrent = THNN_planScratch(&plan, (size_t)(batch * width) * sizeof(real));
  const THNNState settings = THNN_stateFor(state, THNN_OUTPUT);
  PanelKeeping keeping =
      stepKeeping(&plan, &settings, THNN_KEPT_LINEAR_BACK, width, batch, units, weight);
  StepProducts products = {
      .state = state, .batch = batch, .rows = width, .columns = units, .keeping = &keeping};
  if (!usesPanels(&keeping))
    products = stepProducts(&plan, state, &sizes, width, units, true);
  THNN_planAcquire(&plan);

  const Matrix columns = {matrix->data, width, false};
  packKeptPanels(&keeping, columns, matrix->data);
  takeWeight(&products, matrix->data);
  const ForwardCells of = {.units = units,
                           .batch = batch,
                           .gates = all->data,
                           .states = states->data,
                           .memory = memory->data,
                           .recurrent = recurrent->data,
                           .bias = start ? start->data : NULL,
                           .padding = padding};
  const StepLayer layer = {.x = states->data,
                           .y = recurrent->data,
                           .cell = forwardCell,
                           .of = &of,
                           .cost = (double)units * LSTM_FORWARD_COST};
  computeSteps(&products, &layer, &sizes, false);
  THNN_planRelease(&plan);
  leaveKeptPanels(&keeping);
}

void THNN_(SeqLSTM_updateGradInput)(THNNState *state, THTensor *gates, THTensor *weight,
                                    THTensor *mask, THTensor *cells, THTensor *gradOutput,
                                    THTensor *gradGates, THTensor *gradState, THTensor *gradCell)
{
  const char *function = "SeqLSTM_updateGradInput";
  const THNNSteps sizes = THNN_fedBackSteps_shapeCheck(function, LSTM_GATES, THNN_SHAPE(gates, 2),
                                                       THNN_SHAPE(weight, 3));
  THNN_checkStepMask(function, &sizes, THNN_SHAPE(mask, 4));
  THNN_checkStates(function, &sizes, THNN_SHAPE(cells, 5));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 6), THNN_SHAPE(gradState, 8));
  THNN_checkStepGradients(function, &sizes, THNN_NO_SHAPE, THNN_SHAPE(gradCell, 9));
  const int64_t units = sizes.units, batch = sizes.batch, width = LSTM_GATES * units;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *all = THNN_planIn(&plan, gates, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *padding = mask ? THNN_planIn(&plan, mask, 4) : NULL;
  THNNBuffer *memory = THNN_planIn(&plan, cells, 5);
  THNNBuffer *from = gradOutput ? THNN_planIn(&plan, gradOutput, 6) : NULL;
  THNNBuffer *to = THNN_planOutLike(&plan, gradGates, 7, gates);
  THNNBuffer *carried = THNN_planInOut(&plan, gradState, 8);
  THNNBuffer *carriedCell = THNN_planInOut(&plan, gradCell, 9);
  FedBack back = fedBack(&plan, state, &sizes, width);
  addFedBackPart(&back, width);
  reserveFedBack(&back);
  THNN_planAcquire(&plan);

  turnFedBack(&back, matrix->data);
  const int threads =
      THNN_threads(state, batch, (double)batch * (double)units * LSTM_BACKWARD_COST);
  for (int64_t step = sizes.steps; step-- > 0;) {
    const real *gate = (const real *)all->data + step * batch * width;
    real *gradGate = (real *)to->data + step * batch * width;
    const real *cx = (const real *)memory->data + step * batch * units;
    const real *cy = cx + batch * units;
    const real *given = from ? (const real *)from->data + step * batch * units : NULL;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++) {
      real *row = (real *)carried->data + i * units, *cell = (real *)carriedCell->data + i * units;
      if (isPadding(padding, step * batch + i)) {
        THNN_(simd).pointwise.fill(width, 0, gradGate + i * width);
        THNN_(simd).pointwise.fill(units, 0, cell);
        continue; /* the product of zeros clears the gradient of the state */
      }
      if (given)
        THNN_(simd).pointwise.axpy(units, 1, given + i * units, row);
      const LstmGradients gradients = {cx + i * units, cy + i * units, row, cell};
      THNN_(simd).recurrent.lstmBackward(units, CELL_LAST, gate + i * width, &gradients,
                                         gradGate + i * width, cell);
    }
    multiplyFedBack(&back, 0, width, gradGate, false, carried->data);
  }
  THNN_planRelease(&plan);
}
