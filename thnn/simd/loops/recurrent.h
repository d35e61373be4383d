/* Rows of recurrent cells. */
#ifndef THNN_SIMD_RECURRENT_H
#define THNN_SIMD_RECURRENT_H

#include <stdint.h>

/* What the gates of one row of a recurrent cell of n units are computed from, gate after gate. */
typedef struct GateRows {
  const real *input, *hidden;
  const real *bias1, *bias2; /* NULL: none; a second one is given only with the first */
} GateRows;

/* The places of an LSTM's gates in a row: input, forget, new cell, output. */
typedef struct LstmOrder {
  int input, forget, cell, output;
} LstmOrder;

/* What flows back into one row of an LSTM cell, and the cell's states. */
typedef struct LstmGradients {
  const real *cx, *cy, *gradOutput, *gradCy;
} LstmGradients;

/* Rows of recurrent cells of n units; the modules' files say what they compute. */
typedef struct SimdRecurrent {
  /* gates r, z, n; storage is r, z, n, hx, hidden_n + bias2_n */
  void (*gru)(int64_t n, const GateRows *of, const real *hx, real *hy, real *storage);
  void (*gruBackward)(int64_t n, const real *storage, const real *gradOutput, real *gradInput,
                      real *gradHidden, real *gradHx);
  /* `gates` takes the gates' values and may be of->input */
  void (*lstm)(int64_t n, LstmOrder order, const GateRows *of, const real *cx, real *gates,
               real *hy, real *cy);
  void (*lstmBackward)(int64_t n, LstmOrder order, const real *gates, const LstmGradients *of,
                       real *gradGates, real *gradCx);
  /* A GRU whose reset gate multiplies the state before the product: gates r and u, then n of the
   * product with `reset`, which is r hx. `gates` has the inputs' sums and takes the values; `hidden`
   * and `bias`, which may be NULL, are added. The backward loops go the other way: from the gradient
   * of the output to those of u and n, then with `through`, that of `reset`, to that of r and, but
   * for what comes through the products of r and u, that of hx, in place of the output's. */
  void (*gruReset)(int64_t n, const real *hidden, const real *bias, const real *hx, real *gates,
                   real *reset);
  void (*gruNew)(int64_t n, const real *hidden, const real *bias, const real *hx, real *gates,
                 real *hy);
  void (*gruNewBackward)(int64_t n, const real *gates, const real *hx, const real *gradOutput,
                         real *gradGates);
  void (*gruResetBackward)(int64_t n, const real *gates, const real *hx, const real *through,
                           real *gradGates, real *gradHx);
} SimdRecurrent;

#endif
