/* A unit of an LSTM cell, forward and backward, as LSTMFused.cu describes it. */
#ifndef THCUNN_LSTM_CUH
#define THCUNN_LSTM_CUH

#include "cuda/generic/recurrent/cell.cuh"

namespace
{

enum { LSTM_GATES = 4 };

/* The places of the gates in a row: input, forget, new cell, output. */
struct LstmOrder {
  int input, forget, cell, output;
};

/* The order in which cuDNN has them; Lua's SeqLSTM has its new cell last. */
const LstmOrder LSTM_ORDER = {0, 1, 2, 3};

/* `gates` is the input, which is overwritten by the gates' values. */
template <typename Index> struct LstmForward {
  Parts<Index, LSTM_GATES> parts;
  LstmOrder order;
  GateSums sums;
  real *gates;

  __device__ void operator()(int64_t unit, real &hy, real &cy, const real &cx) const
  {
    const int64_t at = parts.first(unit), gate = parts.unit(unit), step = parts.step();
    const int64_t toI = order.input * step, toF = order.forget * step;
    const int64_t toC = order.cell * step, toO = order.output * step;
    const real i = sigmoid(sums.both(at + toI, gate + toI));
    const real f = sigmoid(sums.both(at + toF, gate + toF));
    const real c = tanh(sums.both(at + toC, gate + toC));
    const real o = sigmoid(sums.both(at + toO, gate + toO));
    gates[at + toI] = i;
    gates[at + toF] = f;
    gates[at + toC] = c;
    gates[at + toO] = o;
    const real after = f * cx + i * c;
    cy = after;
    hy = o * tanh(after);
  }
};

/* `given` is added to the gradient of the output; it may be NULL. */
template <typename Index> struct LstmBackward {
  Parts<Index, LSTM_GATES> parts;
  LstmOrder order;
  const real *storage, *given;
  real *gradInGates;

  __device__ void operator()(int64_t unit, real &gradInputCx, const real &cx, const real &cy,
                             const real &carried, const real &gc) const
  {
    const real g = given ? carried + given[unit] : carried;
    const int64_t at = parts.first(unit), step = parts.step();
    const int64_t atI = at + order.input * step, atF = at + order.forget * step;
    const int64_t atC = at + order.cell * step, atO = at + order.output * step;
    const real i = storage[atI], f = storage[atF], c = storage[atC], o = storage[atO];
    const real t = tanh(cy), d = g * o * (1 - t * t) + gc;
    gradInputCx = d * f;
    gradInGates[atI] = d * c * i * (1 - i);
    gradInGates[atF] = d * cx * f * (1 - f);
    gradInGates[atC] = d * i * (1 - c * c);
    gradInGates[atO] = g * t * o * (1 - o);
  }
};

} // namespace

#endif
