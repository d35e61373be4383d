/* The vector loops: small functions on raw pointers, one thread each, compiled once per instruction
 * set and called through one table that is filled while the library loads:
 *
 *     THNN_(simd).pointwise.fill(n, 0, y);
 *
 * To add a loop, add a member to its topic's struct here, the function and its initializer to the
 * topic's source; to add a topic, also a row to the table in dispatch.c. Unless a comment says
 * otherwise, two pointers of one call are equal or their ranges do not overlap, nothing needs
 * alignment beyond the real's own, and n may be 0. */
#ifndef THNN_SIMD_LOOPS_H
#define THNN_SIMD_LOOPS_H

#include <stdint.h>

/* y = f(x), element by element. */
typedef void (*THNN_(Map))(int64_t n, const real *x, const real *parameters, real *y);
/* z = f(x, y), element by element. */
typedef void (*THNN_(Map2))(int64_t n, const real *x, const real *y, const real *parameters,
                            real *z);

typedef struct THNN_(SimdPointwise) {
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

  /* Modules' loops: one signature for forward and one for backward, so that one function of
   * generic/pointwise.c runs them all; `parameters` are those that the comment names, in order. */

  /* y = x > threshold ? x : value; threshold, value */
  THNN_(Map) threshold;
  /* gradInput = x > threshold ? gradOutput : 0; threshold */
  THNN_(Map2) thresholdBackward;
  /* gradInput = norm * (x - target); norm */
  THNN_(Map2) mseBackward;
} THNN_(SimdPointwise);

/* Sums: the order of the additions depends on n alone, and the running sums are double. */
typedef struct THNN_(SimdReduce) {
  /* sum of x */
  double (*sum)(int64_t n, const real *x);
  /* sum of (x - y)^2, the difference rounded to real */
  double (*squaredDifferences)(int64_t n, const real *x, const real *y);
} THNN_(SimdReduce);

typedef struct THNN_(Simd) {
  THNN_(SimdPointwise) pointwise;
  THNN_(SimdReduce) reduce;
} THNN_(Simd);

extern THNN_(Simd) THNN_(simd);

#endif
