/* A unit of an LSTM cell, forward and backward, as LSTMFused.cu describes it. */
#ifndef THCUNN_LSTM_CUH
#define THCUNN_LSTM_CUH

#include "cuda/generic/recurrent/cell.cuh"

namespace
{

enum { LSTM_GATES = 4 };

/* `gates` is the input, which is overwritten by the gates' values. */
template <typename Index> struct LstmForward {
  Parts<Index, LSTM_GATES> parts;
  GateSums sums;
  real *gates;

  __device__ void operator()(int64_t unit, real &hy, real &cy, const real &cx) const
  {
    const int64_t at = parts.first(unit), gate = parts.unit(unit), step = parts.step();
    const real i = sigmoid(sums.both(at, gate));
    const real f = sigmoid(sums.both(at + step, gate + step));
    const real c = tanh(sums.both(at + 2 * step, gate + 2 * step));
    const real o = sigmoid(sums.both(at + 3 * step, gate + 3 * step));
    gates[at] = i;
    gates[at + step] = f;
    gates[at + 2 * step] = c;
    gates[at + 3 * step] = o;
    const real after = f * cx + i * c;
    cy = after;
    hy = o * tanh(after);
  }
};

/* `given` is added to the gradient of the output; it may be NULL. */
template <typename Index> struct LstmBackward {
  Parts<Index, LSTM_GATES> parts;
  const real *storage, *given;
  real *gradInGates;

  __device__ void operator()(int64_t unit, real &gradInputCx, const real &cx, const real &cy,
                             const real &carried, const real &gc) const
  {
    const real g = given ? carried + given[unit] : carried;
    const int64_t at = parts.first(unit), step = parts.step();
    const real i = storage[at], f = storage[at + step];
    const real c = storage[at + 2 * step], o = storage[at + 3 * step];
    const real t = tanh(cy), d = g * o * (1 - t * t) + gc;
    gradInputCx = d * f;
    gradInGates[at] = d * c * i * (1 - i);
    gradInGates[at + step] = d * cx * f * (1 - f);
    gradInGates[at + 2 * step] = d * i * (1 - c * c);
    gradInGates[at + 3 * step] = g * t * o * (1 - o);
  }
};

} // namespace

#endif
