/* Loops that draw random numbers. */
#ifndef THNN_SIMD_RANDOM_H
#define THNN_SIMD_RANDOM_H

#include "simd/dropped.h"

typedef struct SimdRandom {
  /* noise = the factor of what is kept, or 0; y = x * noise, for the elements from `at` on, a
   * multiple of 64, to which the pointers point */
  void (*dropout)(int64_t n, int64_t at, const THNNDropped *dropped, const real *x, real *noise,
                  real *y);
} SimdRandom;

#endif
