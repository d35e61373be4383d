/* Rows of any length: long ones are left to the C library. */
#ifndef THNN_SIMD_ROWS_H
#define THNN_SIMD_ROWS_H

#include <string.h>

#include "simd/vector/vector.h"

enum { SHORT_ROW = 4096 / sizeof(real) }; /* shorter rows are not worth a call of the C library */

INLINE void fillRow(int64_t n, real value, real *y)
{
  if (n > SHORT_ROW && value == 0 && 1 / value > 0) { /* memset does not read what it overwrites */
    memset(y, 0, (size_t)n * sizeof(real));
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = value;
}

INLINE void copyAnyRow(int64_t n, const real *x, real *y)
{
  if (n <= SHORT_ROW)
    copyRow(n, x, y);
  else
    memcpy(y, x, (size_t)n * sizeof(real));
}

#endif
