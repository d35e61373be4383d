/* Rows of recurrent cells. */
#ifndef THNN_SIMD_RECURRENT_H
#define THNN_SIMD_RECURRENT_H

#include <stdint.h>

/* What the gates of one row of a recurrent cell of n units are computed from, gate after gate. */
typedef struct GateRows {
  const real *input, *hidden;
  const real *bias1, *bias2; /* both or neither */
} GateRows;

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
  /* gates i, f, c, o; `gates` takes their values and may be of->input */
  void (*lstm)(int64_t n, const GateRows *of, const real *cx, real *gates, real *hy, real *cy);
  void (*lstmBackward)(int64_t n, const real *gates, const LstmGradients *of, real *gradGates,
                       real *gradCx);
} SimdRecurrent;

#endif
