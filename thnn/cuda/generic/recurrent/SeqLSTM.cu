/* The twin of generic/recurrent/SeqLSTM.c. */
#include "cuda/THC/THCBlas.h"
#include "cuda/generic/recurrent/lstm.cuh"
#include "geometry/cell.h"

namespace
{

/* Lua's order. */
const LstmOrder CELL_LAST = {0, 1, 3, 2};

/* `mask` has the rows of the step; it may be NULL. */
template <typename Index> struct Forward {
  LstmForward<Index> cell;
  const real *mask;

  __device__ void operator()(int64_t unit, real &hy, real &cy, const real &cx) const
  {
    if (cell.parts.isPadding(unit, mask)) {
      cell.parts.clear(unit, cell.gates);
      hy = cy = 0;
    } else {
      cell(unit, hy, cy, cx);
    }
  }
};

template <typename Index> struct Backward {
  LstmBackward<Index> cell;
  const real *mask;

  __device__ void operator()(int64_t unit, real &gradInputCx, const real &cx, const real &cy,
                             const real &carried, const real &gc) const
  {
    if (cell.parts.isPadding(unit, mask)) {
      cell.parts.clear(unit, cell.gradInGates);
      gradInputCx = 0;
    } else {
      cell(unit, gradInputCx, cx, cy, carried, gc);
    }
  }
};

} // namespace

void THCUNN_(SeqLSTM_updateOutput)(THCState *state, THCTensor *gates, THCTensor *weight,
                                   THCTensor *bias, THCTensor *mask, THCTensor *output,
                                   THCTensor *cells)
{
  const char *function = "SeqLSTM_updateOutput";
  const THNNSteps sizes = THNN_fedBackSteps_shapeCheck(function, LSTM_GATES, THNN_SHAPE(gates, 2),
                                                       THNN_SHAPE(weight, 3));
  THNN_checkStepBias(function, LSTM_GATES, &sizes, THNN_SHAPE(bias, 4));
  THNN_checkStepMask(function, &sizes, THNN_SHAPE(mask, 5));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 6));
  THNN_checkStates(function, &sizes, THNN_SHAPE(cells, 7));
  const int64_t units = sizes.units, batch = sizes.batch, width = LSTM_GATES * units;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *all = THC_planInOut(&plan, gates, 2);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 3);
  const THNNBuffer *start = bias ? THC_planIn(&plan, bias, 4) : nullptr;
  const THNNBuffer *padding = mask ? THC_planIn(&plan, mask, 5) : nullptr;
  const THNNBuffer *states = THC_planInOut(&plan, output, 6);
  const THNNBuffer *memory = THC_planInOut(&plan, cells, 7);
  const THNNBuffer *recurrent = THC_planScratch(&plan, batch * width * (int64_t)sizeof(real));
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const int64_t count = batch * units;
  real *y = THC_pointer<real>(states), *c = THC_pointer<real>(memory);
  for (int64_t step = 0; step < sizes.steps; step++) {
    real *gate = THC_pointer<real>(all) + step * batch * width;
    const real *cx = c + step * count;
    const real *rows = padding ? THC_pointer<const real>(padding) + step * batch : nullptr;
    THC_multiply(&plan, 1, batch, width, units, real(1),
                 THC_matrix((const real *)y + step * count, units),
                 THC_matrix(THC_pointer<const real>(matrix), width), real(0),
                 THC_matrix(THC_pointer<real>(recurrent), width));
    const GateSums sums = {gate, THC_pointer<const real>(recurrent), THC_pointer<const real>(start),
                           nullptr};
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const Forward<Index> map = {{{THCDivisor<Index>(units)}, CELL_LAST, sums, gate}, rows};
      THC_apply(&plan, function, count, map, y + (step + 1) * count, c + (step + 1) * count, cx);
    });
  }
  THC_planRelease(&plan);
}

void THCUNN_(SeqLSTM_updateGradInput)(THCState *state, THCTensor *gates, THCTensor *weight,
                                      THCTensor *mask, THCTensor *cells, THCTensor *gradOutput,
                                      THCTensor *gradGates, THCTensor *gradState,
                                      THCTensor *gradCell)
{
  const char *function = "SeqLSTM_updateGradInput";
  const THNNSteps sizes = THNN_fedBackSteps_shapeCheck(function, LSTM_GATES, THNN_SHAPE(gates, 2),
                                                       THNN_SHAPE(weight, 3));
  THNN_checkStepMask(function, &sizes, THNN_SHAPE(mask, 4));
  THNN_checkStates(function, &sizes, THNN_SHAPE(cells, 5));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 6), THNN_SHAPE(gradState, 8));
  THNN_checkStepGradients(function, &sizes, THNN_NO_SHAPE, THNN_SHAPE(gradCell, 9));
  const int64_t units = sizes.units, batch = sizes.batch, width = LSTM_GATES * units;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *all = THC_planIn(&plan, gates, 2);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 3);
  const THNNBuffer *padding = mask ? THC_planIn(&plan, mask, 4) : nullptr;
  const THNNBuffer *memory = THC_planIn(&plan, cells, 5);
  const THNNBuffer *from = gradOutput ? THC_planIn(&plan, gradOutput, 6) : nullptr;
  const THNNBuffer *to = THC_planOutLike(&plan, gradGates, 7, gates);
  const THNNBuffer *carried = THC_planInOut(&plan, gradState, 8);
  const THNNBuffer *carriedCell = THC_planInOut(&plan, gradCell, 9);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const int64_t count = batch * units;
  real *ofState = THC_pointer<real>(carried), *ofCell = THC_pointer<real>(carriedCell);
  const real *c = THC_pointer<const real>(memory);
  for (int64_t step = sizes.steps; step-- > 0;) {
    const real *gate = THC_pointer<const real>(all) + step * batch * width;
    const real *given = from ? THC_pointer<const real>(from) + step * count : nullptr;
    const real *rows = padding ? THC_pointer<const real>(padding) + step * batch : nullptr;
    real *gradGate = THC_pointer<real>(to) + step * batch * width;
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const Backward<Index> map = {{{THCDivisor<Index>(units)}, CELL_LAST, gate, given, gradGate},
                                   rows};
      THC_apply(&plan, function, count, map, ofCell, c + step * count, c + (step + 1) * count,
                (const real *)ofState, (const real *)ofCell);
    });
    THC_multiply(&plan, 1, batch, units, width, real(1), THC_matrix((const real *)gradGate, width),
                 THC_matrix(THC_pointer<const real>(matrix), width, true), real(0),
                 THC_matrix(ofState, units));
  }
  THC_planRelease(&plan);
}
