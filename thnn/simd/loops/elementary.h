/* Elementary functions, element by element. */
#ifndef THNN_SIMD_ELEMENTARY_LOOPS_H
#define THNN_SIMD_ELEMENTARY_LOOPS_H

#include "simd/loops/pointwise.h"

/* Only power has a parameter, the exponent. */
typedef struct SimdElementary {
  Map exp, expm1, log, log1p, sigmoid, logSigmoid, tanh, power;
} SimdElementary;

#endif
