/* One step of a GRU cell, after the products of its matrices.
 *   input, hidden        batch x 3 units: W x and U h, gates in the order r, z, n
 *   bias1, bias2         3 units: the biases of input and of hidden; both or neither
 *   hx, hy               batch x units: the state before and after
 *   storage              batch x 5 units: r, z, n, hx, m, for the backward call
 *
 *   r = sigmoid(input_r + hidden_r + bias1_r + bias2_r), z likewise
 *   m = hidden_n + bias2_n,  n = tanh(input_n + bias1_n + r m),  hy = n + z (hx - n)
 *
 * Backward, with g = gradOutput:
 *   gradInputHx = g z            gradInInput_n = g (1 - z) (1 - n^2)
 *   gradInHidden_n = gradInInput_n r
 *   gradInInput_r = gradInHidden_r = gradInInput_n m r (1 - r)
 *   gradInInput_z = gradInHidden_z = g (hx - n) z (1 - z) */
#include "cuda/generic/recurrent/gru.cuh"
#include "geometry/cell.h"

void THCUNN_(GRUFused_updateOutput)(THCState *state, THCTensor *input, THCTensor *hidden,
                                    THCTensor *bias1, THCTensor *bias2, THCTensor *hx,
                                    THCTensor *hy, THCTensor *storage)
{
  const char *function = "GRUFused_updateOutput";
  const THNNCell cell =
      THNN_fusedCell_shapeCheck(function, GRU_GATES, THNN_SHAPE(hx, 6), THNN_SHAPE(input, 2),
                                THNN_SHAPE(hidden, 3), THNN_SHAPE(bias1, 4), THNN_SHAPE(bias2, 5));
  const int64_t storageSize[] = {cell.batch, GRU_STORED * cell.units};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *recurrent = THC_planIn(&plan, hidden, 3);
  const THNNBuffer *inBias = bias1 ? THC_planIn(&plan, bias1, 4) : nullptr;
  const THNNBuffer *recurrentBias = bias2 ? THC_planIn(&plan, bias2, 5) : nullptr;
  const THNNBuffer *before = THC_planIn(&plan, hx, 6);
  const THNNBuffer *after = THC_planOutLike(&plan, hy, 7, hx);
  const THNNBuffer *stored = THC_planOut(&plan, storage, 8, 2, storageSize);
  THC_planAcquire(&plan);
  const GateSums sums = {THC_pointer<const real>(in), THC_pointer<const real>(recurrent),
                         THC_pointer<const real>(inBias), THC_pointer<const real>(recurrentBias)};
  const int64_t count = cell.batch * cell.units;
  THC_withIndex(count, [&](auto index) {
    typedef decltype(index) Index;
    const THCDivisor<Index> units(cell.units);
    const GruForward<Index> map = {{units}, {units}, sums, THC_pointer<real>(stored)};
    THC_apply(&plan, function, count, map, THC_pointer<real>(after),
              THC_pointer<const real>(before));
  });
  THC_planRelease(&plan);
}

void THCUNN_(GRUFused_updateGradInput)(THCState *state, THCTensor *gradInInput,
                                       THCTensor *gradInHidden, THCTensor *gradOutput,
                                       THCTensor *gradInputHx, THCTensor *storage)
{
  const char *function = "GRUFused_updateGradInput";
  THNN_checkNotEmpty(function, THNN_SHAPE(gradOutput, 4));
  THNN_checkCellElements(function, THNN_SHAPE(storage, 6), GRU_STORED, THNN_SHAPE(gradOutput, 4));
  const int64_t units = gradOutput->size[gradOutput->nDimension - 1];
  const int64_t count = THCTensor_(nElement)(state, gradOutput);
  const int64_t gateSize[] = {count / units, GRU_GATES * units};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *toInput = THC_planOut(&plan, gradInInput, 2, 2, gateSize);
  const THNNBuffer *toHidden = THC_planOut(&plan, gradInHidden, 3, 2, gateSize);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 4);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInputHx, 5, gradOutput);
  const THNNBuffer *stored = THC_planIn(&plan, storage, 6);
  THC_planAcquire(&plan);
  THC_withIndex(count, [&](auto index) {
    typedef decltype(index) Index;
    const THCDivisor<Index> divisor(units);
    const GruBackward<Index> map = {{divisor},
                                    {divisor},
                                    THC_pointer<const real>(stored),
                                    nullptr,
                                    THC_pointer<real>(toInput),
                                    THC_pointer<real>(toHidden)};
    THC_apply(&plan, function, count, map, THC_pointer<real>(to), THC_pointer<const real>(from));
  });
  THC_planRelease(&plan);
}
