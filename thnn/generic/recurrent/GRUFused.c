/* One step of a GRU cell, given the products of its matrices.
 *   input, hidden        batch x 3 units: W x and U h, gates in the order r, z, n
 *   bias1, bias2         3 units: added to input and to hidden; both or neither
 *   hx, output           batch x units: the state before and after
 *   storage              batch x 5 units: r, z, n, hx, m, for the backward call
 *
 *   r = sigmoid(input_r + hidden_r + bias1_r + bias2_r), z likewise
 *   m = hidden_n + bias2_n,  n = tanh(input_n + bias1_n + r m),  output = n + z (hx - n)
 *
 * Backward, with g = gradOutput:
 *   gradInputHx = g z            gradInInput_n = g (1 - z) (1 - n^2)
 *   gradInHidden_n = gradInInput_n r
 *   in both gradients: grad_r = gradInInput_n m r (1 - r),  grad_z = g (hx - n) z (1 - z) */
#include "generic/template.h"
#include "geometry/cell.h"

enum {
  GATES = 3,
  STORED = 5,
  FORWARD_COST = 40, /* cost of a unit, in copied elements */
  BACKWARD_COST = 12
};

void THNN_(GRUFused_updateOutput)(THNNState *state, THTensor *input, THTensor *hidden,
                                  THTensor *bias1, THTensor *bias2, THTensor *hx, THTensor *output,
                                  THTensor *storage)
{
  const char *function = "GRUFused_updateOutput";
  const THNNCell cell =
      THNN_fusedCell_shapeCheck(function, GATES, THNN_SHAPE(hx, 6), THNN_SHAPE(input, 2),
                                THNN_SHAPE(hidden, 3), THNN_SHAPE(bias1, 4), THNN_SHAPE(bias2, 5));
  const int64_t units = cell.units, storageSize[] = {cell.batch, STORED * units};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *recurrent = THNN_planIn(&plan, hidden, 3);
  THNNBuffer *inBias = bias1 ? THNN_planIn(&plan, bias1, 4) : NULL;
  THNNBuffer *recurrentBias = bias2 ? THNN_planIn(&plan, bias2, 5) : NULL;
  THNNBuffer *before = THNN_planIn(&plan, hx, 6);
  THNNBuffer *after = THNN_planOutLike(&plan, output, 7, hx);
  THNNBuffer *stored = THNN_planOut(&plan, storage, 8, 2, storageSize);
  THNN_planAcquire(&plan);

  const int threads =
      THNN_threads(state, cell.batch, (double)cell.batch * (double)units * FORWARD_COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < cell.batch; i++) {
    const GateRows rows = {(const real *)in->data + i * GATES * units,
                           (const real *)recurrent->data + i * GATES * units,
                           inBias ? inBias->data : NULL,
                           recurrentBias ? recurrentBias->data : NULL};
    THNN_(simd).recurrent.gru(units, &rows, (const real *)before->data + i * units,
                              (real *)after->data + i * units,
                              (real *)stored->data + i * STORED * units);
  }
  THNN_planRelease(&plan);
}

void THNN_(GRUFused_updateGradInput)(THNNState *state, THTensor *gradInInput,
                                     THTensor *gradInHidden, THTensor *gradOutput,
                                     THTensor *gradInputHx, THTensor *storage)
{
  const char *function = "GRUFused_updateGradInput";
  THNN_checkNotEmpty(function, THNN_SHAPE(gradOutput, 4));
  THNN_checkCellElements(function, THNN_SHAPE(storage, 6), STORED, THNN_SHAPE(gradOutput, 4));
  const int64_t units = gradOutput->size[gradOutput->nDimension - 1];
  const int64_t batch = THTensor_(nElement)(gradOutput) / units;
  const int64_t gateSize[] = {batch, GATES * units};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *toInput = THNN_planOut(&plan, gradInInput, 2, 2, gateSize);
  THNNBuffer *toHidden = THNN_planOut(&plan, gradInHidden, 3, 2, gateSize);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 4);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInputHx, 5, gradOutput);
  THNNBuffer *stored = THNN_planIn(&plan, storage, 6);
  THNN_planAcquire(&plan);

  const int threads = THNN_threads(state, batch, (double)batch * (double)units * BACKWARD_COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < batch; i++)
    THNN_(simd).recurrent.gruBackward(
        units, (const real *)stored->data + i * STORED * units,
        (const real *)from->data + i * units, (real *)toInput->data + i * GATES * units,
        (real *)toHidden->data + i * GATES * units, (real *)to->data + i * units);
  THNN_planRelease(&plan);
}
