/* Element-by-element loops, and the signatures of those of modules. */
#ifndef THNN_SIMD_POINTWISE_H
#define THNN_SIMD_POINTWISE_H

#include <stdbool.h>
#include <stdint.h>

/* y = f(x), element by element. */
typedef void (*Map)(int64_t n, const real *x, const real *parameters, real *y);
/* z = f(x, y), element by element. */
typedef void (*Map2)(int64_t n, const real *x, const real *y, const real *parameters, real *z);
/* Computes map(n, x, y, parameters, z) with ordinary or with streaming stores; may prefetch x and y
 * from `ahead` bytes further on. */
typedef void (*RunMap2)(Map2 map, int64_t n, const real *x, const real *y, const real *parameters,
                        int64_t ahead, real *z);
/* y = elements [at, at + n) of a result that `context` describes. */
typedef void (*Make)(const void *context, int64_t at, int64_t n, real *y);
/* y = x, with ordinary or with streaming stores. */
typedef void (*Put)(int64_t n, const real *x, real *y);

typedef struct SimdPointwise {
  /* y = value */
  void (*fill)(int64_t n, real value, real *y);
  /* y = x */
  void (*copy)(int64_t n, const real *x, real *y);
  /* y = x[0], x[step], x[2*step], … */
  void (*copyFromSteps)(int64_t n, const real *x, int64_t step, real *y);
  /* y[0], y[step], y[2*step], … += x */
  void (*addToSteps)(int64_t n, const real *x, real *y, int64_t step);
  /* y += a * x */
  void (*axpy)(int64_t n, real a, const real *x, real *y);
  /* z = a * x + b * y */
  void (*blend)(int64_t n, real a, const real *x, real b, const real *y, real *z);
  /* y = x + value */
  void (*addScalar)(int64_t n, const real *x, real value, real *y);
  /* y = y + addend, unless that is NULL; then with `rectifies` what is not above 0 becomes 0 */
  void (*finish)(int64_t n, const real *addend, bool rectifies, real *y);

  /* These use streaming stores, if the processor has them, for results that no cache would hold
   * until they are read. `stream` computes y = x, streamMade a result that is made piece by piece,
   * streamMap map(n, x, …, y), and streamMap2 map(n, x, y, …, z). Other threads see what `stream`
   * wrote once streamEnd has been called. */
  Put stream;
  void (*streamEnd)(void);
  void (*streamMade)(Make make, const void *context, int64_t n, real *y);
  void (*streamMap)(Map map, int64_t n, const real *x, const real *parameters, real *y);
  RunMap2 streamMap2;
  /* map(n, x, y, …, z) with ordinary stores; `ahead` is not used. */
  RunMap2 runMap2;

  /* Modules' loops: one signature for forward and one for backward, so that one function of
   * generic/activation/pointwise.c runs them all. The comments name `parameters` last, in order. */

  /* y = x > threshold ? x : value; threshold, value */
  Map threshold;
  /* gradInput = x > threshold ? gradOutput : 0; threshold */
  Map2 thresholdBackward;
} SimdPointwise;

#endif
