/* The twin of generic/recurrent/SeqGRU.c. */
#include "cuda/THC/THCBlas.h"
#include "cuda/generic/recurrent/cell.cuh"
#include "geometry/cell.h"

namespace
{

enum { GRU_GATES = 3 };

/* The gates r and u, and r times the state before. */
template <typename Index> struct Reset {
  Parts<Index, GRU_GATES> parts;
  GateSums sums;
  real *gates;

  __device__ void operator()(int64_t i, real &reset, const real &hx) const
  {
    const int64_t at = parts.first(i), unit = parts.unit(i), step = parts.step();
    const real r = sigmoid(sums.both(at, unit));
    gates[at] = r;
    gates[at + step] = sigmoid(sums.both(at + step, unit + step));
    reset = r * hx;
  }
};

/* The new state; `mask` has the rows of the step, and may be NULL. */
template <typename Index> struct New {
  Parts<Index, GRU_GATES> parts;
  GateSums sums;
  real *gates;
  const real *mask;

  __device__ void operator()(int64_t i, real &hy, real &kept, const real &reset,
                             const real &hx) const
  {
    if (parts.isPadding(i, mask)) {
      parts.clear(i, gates);
      hy = kept = 0;
      return;
    }
    kept = reset;
    const int64_t at = parts.first(i), step = parts.step(), n = at + 2 * step;
    const real u = gates[at + step], now = tanh(sums.both(n, parts.unit(i) + 2 * step));
    gates[n] = now;
    hy = now + u * (hx - now);
  }
};

/* The gradients of u and n; `given`, which may be NULL, is added to the gradient of the output. */
template <typename Index> struct NewBackward {
  Parts<Index, GRU_GATES> parts;
  const real *gates, *given, *mask;
  real *gradGates;

  __device__ void operator()(int64_t i, real &total, const real &carried, const real &hx) const
  {
    if (parts.isPadding(i, mask)) {
      parts.clear(i, gradGates);
      total = 0;
      return;
    }
    const int64_t at = parts.first(i), step = parts.step();
    const real u = gates[at + step], n = gates[at + 2 * step];
    const real g = given ? carried + given[i] : carried;
    total = g;
    gradGates[at + step] = g * (hx - n) * u * (1 - u);
    gradGates[at + 2 * step] = g * (1 - u) * (1 - n * n);
  }
};

/* The gradient of r, and that of the state before where it passes the products by. */
template <typename Index> struct ResetBackward {
  Parts<Index, GRU_GATES> parts;
  const real *gates;
  real *gradGates;

  __device__ void operator()(int64_t i, real &past, const real &total, const real &hx,
                             const real &through) const
  {
    const int64_t at = parts.first(i);
    const real r = gates[at];
    gradGates[at] = through * hx * r * (1 - r);
    past = total * gates[at + parts.step()] + through * r;
  }
};

} // namespace

void THCUNN_(SeqGRU_updateOutput)(THCState *state, THCTensor *gates, THCTensor *weight,
                                  THCTensor *bias, THCTensor *mask, THCTensor *output,
                                  THCTensor *reset)
{
  const char *function = "SeqGRU_updateOutput";
  const THNNSteps sizes = THNN_fedBackSteps_shapeCheck(function, GRU_GATES, THNN_SHAPE(gates, 2),
                                                       THNN_SHAPE(weight, 3));
  THNN_checkStepBias(function, GRU_GATES, &sizes, THNN_SHAPE(bias, 4));
  THNN_checkStepMask(function, &sizes, THNN_SHAPE(mask, 5));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 6));
  const int64_t units = sizes.units, batch = sizes.batch, width = GRU_GATES * units;
  const int64_t resetSize[] = {sizes.steps, batch, units};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *all = THC_planInOut(&plan, gates, 2);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 3);
  const THNNBuffer *start = bias ? THC_planIn(&plan, bias, 4) : nullptr;
  const THNNBuffer *padding = mask ? THC_planIn(&plan, mask, 5) : nullptr;
  const THNNBuffer *states = THC_planInOut(&plan, output, 6);
  const THNNBuffer *kept = THC_planOut(&plan, reset, 7, 3, resetSize);
  const THNNBuffer *recurrent = THC_planScratch(&plan, batch * width * (int64_t)sizeof(real));
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const int64_t count = batch * units;
  const real *w = THC_pointer<const real>(matrix);
  real *sums = THC_pointer<real>(recurrent);
  for (int64_t step = 0; step < sizes.steps; step++) {
    real *gate = THC_pointer<real>(all) + step * batch * width;
    real *y = THC_pointer<real>(states) + step * count, *ofState = THC_pointer<real>(kept);
    ofState += step * count;
    const real *rows = padding ? THC_pointer<const real>(padding) + step * batch : nullptr;
    const real *before = y;
    const GateSums terms = {gate, sums, THC_pointer<const real>(start), nullptr};
    THC_multiply(&plan, 1, batch, 2 * units, units, real(1), THC_matrix(before, units),
                 THC_matrix(w, width), real(0), THC_matrix(sums, width));
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const Reset<Index> map = {{THCDivisor<Index>(units)}, terms, gate};
      THC_apply(&plan, function, count, map, ofState, before);
    });
    THC_multiply(&plan, 1, batch, units, units, real(1), THC_matrix((const real *)ofState, units),
                 THC_matrix(w + 2 * units, width), real(0), THC_matrix(sums + 2 * units, width));
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const New<Index> map = {{THCDivisor<Index>(units)}, terms, gate, rows};
      THC_apply(&plan, function, count, map, y + count, ofState, (const real *)ofState, before);
    });
  }
  THC_planRelease(&plan);
}

void THCUNN_(SeqGRU_updateGradInput)(THCState *state, THCTensor *gates, THCTensor *weight,
                                     THCTensor *mask, THCTensor *output, THCTensor *gradOutput,
                                     THCTensor *gradGates, THCTensor *gradState)
{
  const char *function = "SeqGRU_updateGradInput";
  const THNNSteps sizes = THNN_fedBackSteps_shapeCheck(function, GRU_GATES, THNN_SHAPE(gates, 2),
                                                       THNN_SHAPE(weight, 3));
  THNN_checkStepMask(function, &sizes, THNN_SHAPE(mask, 4));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 5));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 6), THNN_SHAPE(gradState, 8));
  const int64_t units = sizes.units, batch = sizes.batch, width = GRU_GATES * units;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *all = THC_planIn(&plan, gates, 2);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 3);
  const THNNBuffer *padding = mask ? THC_planIn(&plan, mask, 4) : nullptr;
  const THNNBuffer *states = THC_planIn(&plan, output, 5);
  const THNNBuffer *from = gradOutput ? THC_planIn(&plan, gradOutput, 6) : nullptr;
  const THNNBuffer *to = THC_planOutLike(&plan, gradGates, 7, gates);
  const THNNBuffer *carried = THC_planInOut(&plan, gradState, 8);
  const THNNBuffer *through = THC_planScratch(&plan, batch * units * (int64_t)sizeof(real));
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const int64_t count = batch * units;
  const real *w = THC_pointer<const real>(matrix);
  real *ofState = THC_pointer<real>(carried), *ofReset = THC_pointer<real>(through);
  for (int64_t step = sizes.steps; step-- > 0;) {
    const real *gate = THC_pointer<const real>(all) + step * batch * width;
    const real *before = THC_pointer<const real>(states) + step * count;
    const real *given = from ? THC_pointer<const real>(from) + step * count : nullptr;
    const real *rows = padding ? THC_pointer<const real>(padding) + step * batch : nullptr;
    real *gradGate = THC_pointer<real>(to) + step * batch * width;
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const NewBackward<Index> map = {{THCDivisor<Index>(units)}, gate, given, rows, gradGate};
      THC_apply(&plan, function, count, map, ofState, (const real *)ofState, before);
    });
    THC_multiply(&plan, 1, batch, units, units, real(1),
                 THC_matrix((const real *)gradGate + 2 * units, width),
                 THC_matrix(w + 2 * units, width, true), real(0), THC_matrix(ofReset, units));
    THC_withIndex(count, [&](auto index) {
      typedef decltype(index) Index;
      const ResetBackward<Index> map = {{THCDivisor<Index>(units)}, gate, gradGate};
      THC_apply(&plan, function, count, map, ofState, (const real *)ofState, before,
                (const real *)ofReset);
    });
    THC_multiply(&plan, 1, batch, units, 2 * units, real(1),
                 THC_matrix((const real *)gradGate, width), THC_matrix(w, width, true), real(1),
                 THC_matrix(ofState, units));
  }
  THC_planRelease(&plan);
}
