/* One step of an LSTM cell, after the products of its matrices.
 *   input, hidden           batch x 4 units: W x and U h, gates in the order i, f, c, o
 *   bias1, bias2            4 units: the biases of input and of hidden; both or neither
 *   cx, prevC, cy           batch x units: the cell's state before (cx, prevC) and after
 *   hy                      batch x units
 *
 *   i, f, o = sigmoid(input + hidden + bias1 + bias2),  c = tanh(…), all written to input
 *   cy = f cx + i c,  hy = o tanh(cy)
 *
 * Backward, with g = gradOutput, gc = gradOutputCell, t = tanh(cy), d = g o (1 - t^2) + gc:
 *   gradInputCx = d f
 *   gradInGates = d c i (1 - i), d prevC f (1 - f), d i (1 - c^2), g t o (1 - o) */
#include "cuda/generic/recurrent/lstm.cuh"
#include "geometry/cell.h"

void THCUNN_(LSTMFused_updateOutput)(THCState *state, THCTensor *input, THCTensor *hidden,
                                     THCTensor *bias1, THCTensor *bias2, THCTensor *cx,
                                     THCTensor *hy, THCTensor *cy)
{
  const char *function = "LSTMFused_updateOutput";
  const THNNCell cell =
      THNN_fusedCell_shapeCheck(function, LSTM_GATES, THNN_SHAPE(cx, 6), THNN_SHAPE(input, 2),
                                THNN_SHAPE(hidden, 3), THNN_SHAPE(bias1, 4), THNN_SHAPE(bias2, 5));

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *gates = THC_planInOut(&plan, input, 2);
  const THNNBuffer *recurrent = THC_planIn(&plan, hidden, 3);
  const THNNBuffer *inBias = bias1 ? THC_planIn(&plan, bias1, 4) : nullptr;
  const THNNBuffer *recurrentBias = bias2 ? THC_planIn(&plan, bias2, 5) : nullptr;
  const THNNBuffer *before = THC_planIn(&plan, cx, 6);
  const THNNBuffer *out = THC_planOutLike(&plan, hy, 7, cx);
  const THNNBuffer *after = THC_planOutLike(&plan, cy, 8, cx);
  THC_planAcquire(&plan);
  const GateSums sums = {THC_pointer<const real>(gates), THC_pointer<const real>(recurrent),
                         THC_pointer<const real>(inBias), THC_pointer<const real>(recurrentBias)};
  const int64_t count = cell.batch * cell.units;
  THC_withIndex(count, [&](auto index) {
    typedef decltype(index) Index;
    const LstmForward<Index> map = {
        {THCDivisor<Index>(cell.units)}, LSTM_ORDER, sums, THC_pointer<real>(gates)};
    THC_apply(&plan, function, count, map, THC_pointer<real>(out), THC_pointer<real>(after),
              THC_pointer<const real>(before));
  });
  THC_planRelease(&plan);
}

void THCUNN_(LSTMFused_updateGradInput)(THCState *state, THCTensor *storage, THCTensor *gradInGates,
                                        THCTensor *prevC, THCTensor *cy, THCTensor *gradOutput,
                                        THCTensor *gradOutputCell, THCTensor *gradInputCx)
{
  const char *function = "LSTMFused_updateGradInput";
  THNN_checkNotEmpty(function, THNN_SHAPE(prevC, 4));
  THNN_checkCellElements(function, THNN_SHAPE(storage, 2), LSTM_GATES, THNN_SHAPE(prevC, 4));
  THNN_checkSameElements(function, THNN_SHAPE(cy, 5), THNN_SHAPE(prevC, 4));
  THNN_checkSameElements(function, THNN_SHAPE(gradOutput, 6), THNN_SHAPE(prevC, 4));
  THNN_checkSameElements(function, THNN_SHAPE(gradOutputCell, 7), THNN_SHAPE(prevC, 4));
  const int64_t units = prevC->size[prevC->nDimension - 1];
  const int64_t count = THCTensor_(nElement)(state, prevC);
  const int64_t gateSize[] = {count / units, LSTM_GATES * units};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *gates = THC_planIn(&plan, storage, 2);
  const THNNBuffer *toGates = THC_planOut(&plan, gradInGates, 3, 2, gateSize);
  const THNNBuffer *before = THC_planIn(&plan, prevC, 4);
  const THNNBuffer *after = THC_planIn(&plan, cy, 5);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 6);
  const THNNBuffer *fromCell = THC_planIn(&plan, gradOutputCell, 7);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInputCx, 8, prevC);
  THC_planAcquire(&plan);
  THC_withIndex(count, [&](auto index) {
    typedef decltype(index) Index;
    const LstmBackward<Index> map = {{THCDivisor<Index>(units)},
                                     LSTM_ORDER,
                                     THC_pointer<const real>(gates),
                                     nullptr,
                                     THC_pointer<real>(toGates)};
    THC_apply(&plan, function, count, map, THC_pointer<real>(to), THC_pointer<const real>(before),
              THC_pointer<const real>(after), THC_pointer<const real>(from),
              THC_pointer<const real>(fromCell));
  });
  THC_planRelease(&plan);
}
