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
} THNN_(SimdPointwise);

/* What the loops of criterions read, element by element; NULL where a criterion has none. */
typedef struct THNN_(Operands) {
  const real *input, *target, *weights;
} THNN_(Operands);

/* The sum of a loss; running sums are double and their order depends on n alone. */
typedef double (*THNN_(LossSum))(int64_t n, THNN_(Operands) of, const real *parameters);
/* The gradient of a loss with respect to the input. */
typedef void (*THNN_(LossGradient))(int64_t n, THNN_(Operands) of, const real *parameters,
                                    real *gradInput);

/* x is the input, t the target; `norm` is the gradient's first parameter. */
typedef struct THNN_(SimdCriterion) {
  /* |x - t| */
  THNN_(LossSum) absLoss;
  THNN_(LossGradient) absGradient;
  /* |x|; no target, no norm */
  THNN_(LossSum) l1Loss;
  THNN_(LossGradient) l1Gradient;
  /* max(0, margin - x t); margin is the loss's parameter and the gradient's second */
  THNN_(LossSum) marginLoss;
  THNN_(LossGradient) marginGradient;
  /* (x - t)^2 */
  THNN_(LossSum) mseLoss;
  THNN_(LossGradient) mseGradient;
  /* (x - t)^2 / 2 where |x - t| < 1, else |x - t| - 1/2 */
  THNN_(LossSum) smoothL1Loss;
  THNN_(LossGradient) smoothL1Gradient;
} THNN_(SimdCriterion);

/* Sums: the order of the additions depends on n alone, and the running sums are double. */
typedef struct THNN_(SimdReduce) {
  /* sum of x */
  double (*sum)(int64_t n, const real *x);
} THNN_(SimdReduce);

#ifndef THNN_PRODUCT_TERM
#  define THNN_PRODUCT_TERM
/* Where one term of a sum of products, and one of its rows, find their elements: offsets from the
 * pointers below. */
typedef struct THNNProductTerm {
  int64_t scalar, factor;
} THNNProductTerm;

typedef struct THNNProductRow {
  int64_t scalar, sum;
} THNNProductRow;
#endif

/* A sum of outer products: for each row r and each lane l of `vectors` vectors
 *
 *   sums[r.sum + l] += sum over the terms t of
 *                      scalars[r.scalar + t.scalar] * factors[t.factor + l]
 *
 * Terms are added up in groups of a few hundred, which then join the sums one after the other. */
typedef struct THNN_(Products) {
  const THNNProductRow *row;
  int64_t rows;
  const THNNProductTerm *term;
  int64_t terms;
  int vectors; /* 1 to mostVectors */
  const real *scalars, *factors;
  real *sums;
} THNN_(Products);

typedef struct THNN_(SimdProducts) {
  int lanes;       /* reals in a vector */
  int mostVectors; /* vectors that one call takes at most */
  void (*add)(const THNN_(Products) * products);
  /* y[column*yStride + row] = x[row*xStride + column] */
  void (*transpose)(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                    int64_t yStride);
} THNN_(SimdProducts);

typedef struct THNN_(Simd) {
  THNN_(SimdPointwise) pointwise;
  THNN_(SimdReduce) reduce;
  THNN_(SimdCriterion) criterion;
  THNN_(SimdProducts) products;
} THNN_(Simd);

extern THNN_(Simd) THNN_(simd);

#endif
