/* The loops of modules that multiply each element by a probability, which a gate, or the element
 * itself, decides. */
#ifndef THNN_SIMD_GATES_H
#define THNN_SIMD_GATES_H

#include "simd/loops/pointwise.h"

/* Those of type Map2 take the forward call's input (x) first, gradOutput second. */
typedef struct SimdGates {
  /* y = x * sigmoid(gate) */
  void (*gated)(int64_t n, const real *x, const real *gate, real *y);
  void (*gatedBackward)(int64_t n, const real *x, const real *gate, const real *gradOutput,
                        real *gradX, real *gradGate);
  /* x times the probability that a standard normal number is below x */
  Map gelu;
  /* gradOutput * (probability + x * density) */
  Map2 geluBackward;
  /* the same with (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 for the probability */
  Map geluTanh;
  Map2 geluTanhBackward;
  /* x * sigmoid(x) */
  Map silu;
  Map2 siluBackward;
} SimdGates;

#endif
