/* One step of an LSTM cell, given the products of its matrices.
 *   input, hidden           batch x 4 units: W x and U h, gates in the order i, f, c, o
 *   bias1, bias2            4 units: added to input and to hidden; both or neither
 *   cell, outputCell        batch x units: the cell's state before (cx) and after (cy)
 *   output                  batch x units
 *
 *   i, f, o = sigmoid(input + hidden + bias1 + bias2),  c = tanh(…); they replace input
 *   cy = f cx + i c,  output = o tanh(cy)
 *
 * Backward, with g = gradOutput, gc = gradOutputCell, t = tanh(cy), d = g o (1 - t^2) + gc:
 *   gradInputCx = d f
 *   gradInGates = d c i (1 - i), d cx f (1 - f), d i (1 - c^2), g t o (1 - o) */
#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/recurrent/lstm.h"

void THNN_(LSTMFused_updateOutput)(THNNState *state, THTensor *input, THTensor *hidden,
                                   THTensor *bias1, THTensor *bias2, THTensor *cell,
                                   THTensor *output, THTensor *outputCell)
{
  const char *function = "LSTMFused_updateOutput";
  const THNNCell sizes =
      THNN_fusedCell_shapeCheck(function, LSTM_GATES, THNN_SHAPE(cell, 6), THNN_SHAPE(input, 2),
                                THNN_SHAPE(hidden, 3), THNN_SHAPE(bias1, 4), THNN_SHAPE(bias2, 5));
  const int64_t units = sizes.units;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *gates = THNN_planInOut(&plan, input, 2);
  THNNBuffer *recurrent = THNN_planIn(&plan, hidden, 3);
  THNNBuffer *inBias = bias1 ? THNN_planIn(&plan, bias1, 4) : NULL;
  THNNBuffer *recurrentBias = bias2 ? THNN_planIn(&plan, bias2, 5) : NULL;
  THNNBuffer *before = THNN_planIn(&plan, cell, 6);
  THNNBuffer *out = THNN_planOutLike(&plan, output, 7, cell);
  THNNBuffer *after = THNN_planOutLike(&plan, outputCell, 8, cell);
  THNN_planAcquire(&plan);

  const int threads =
      THNN_threads(state, sizes.batch, (double)sizes.batch * (double)units * LSTM_FORWARD_COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < sizes.batch; i++) {
    real *gate = (real *)gates->data + i * LSTM_GATES * units;
    const GateRows rows = {gate, (const real *)recurrent->data + i * LSTM_GATES * units,
                           inBias ? inBias->data : NULL,
                           recurrentBias ? recurrentBias->data : NULL};
    THNN_(simd).recurrent.lstm(units, LSTM_ORDER, &rows, (const real *)before->data + i * units,
                               gate, (real *)out->data + i * units,
                               (real *)after->data + i * units);
  }
  THNN_planRelease(&plan);
}

void THNN_(LSTMFused_updateGradInput)(THNNState *state, THTensor *storage, THTensor *gradInGates,
                                      THTensor *cx, THTensor *cy, THTensor *gradOutput,
                                      THTensor *gradOutputCell, THTensor *gradInputCx)
{
  const char *function = "LSTMFused_updateGradInput";
  THNN_checkNotEmpty(function, THNN_SHAPE(cx, 4));
  THNN_checkCellElements(function, THNN_SHAPE(storage, 2), LSTM_GATES, THNN_SHAPE(cx, 4));
  THNN_checkSameElements(function, THNN_SHAPE(cy, 5), THNN_SHAPE(cx, 4));
  THNN_checkSameElements(function, THNN_SHAPE(gradOutput, 6), THNN_SHAPE(cx, 4));
  THNN_checkSameElements(function, THNN_SHAPE(gradOutputCell, 7), THNN_SHAPE(cx, 4));
  const int64_t units = cx->size[cx->nDimension - 1];
  const int64_t batch = THTensor_(nElement)(cx) / units;
  const int64_t gateSize[] = {batch, LSTM_GATES * units};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *gates = THNN_planIn(&plan, storage, 2);
  THNNBuffer *toGates = THNN_planOut(&plan, gradInGates, 3, 2, gateSize);
  THNNBuffer *before = THNN_planIn(&plan, cx, 4);
  THNNBuffer *after = THNN_planIn(&plan, cy, 5);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 6);
  THNNBuffer *fromCell = THNN_planIn(&plan, gradOutputCell, 7);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInputCx, 8, cx);
  THNN_planAcquire(&plan);

  const int threads =
      THNN_threads(state, batch, (double)batch * (double)units * LSTM_BACKWARD_COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < batch; i++) {
    const int64_t at = i * units;
    const LstmGradients row = {(const real *)before->data + at, (const real *)after->data + at,
                               (const real *)from->data + at, (const real *)fromCell->data + at};
    THNN_(simd).recurrent.lstmBackward(
        units, LSTM_ORDER, (const real *)gates->data + LSTM_GATES * at, &row,
        (real *)toGates->data + LSTM_GATES * at, (real *)to->data + at);
  }
  THNN_planRelease(&plan);
}
