/* Losses and their gradients. */
#ifndef THNN_SIMD_CRITERION_H
#define THNN_SIMD_CRITERION_H

#include <stdbool.h>
#include <stdint.h>

/* What the loops of criteria read, element by element; a pointer that a criterion has no use for is
 * NULL. The struct is passed by address: a copy would load two pointers that were just stored as
 * one vector, and that load waits until all earlier stores are done, streaming ones included. */
typedef struct LossOperands {
  const real *input, *target, *weights;
} LossOperands;

/* The sum of a loss; running sums are double and their order depends on n alone. */
typedef double (*LossSum)(int64_t n, const LossOperands *of, const real *parameters);
/* The gradient of a loss with respect to the input. */
typedef void (*LossGradient)(int64_t n, const LossOperands *of, const real *parameters,
                             real *gradInput);

/* x is the input, t the target; `norm` is the gradient's first parameter. */
typedef struct SimdCriterion {
  /* |x - t| */
  LossSum absLoss;
  LossGradient absGradient;
  /* Whether every x is between 0 and 1 */
  bool (*areProbabilities)(int64_t n, const real *x);
  /* -weight (t log x + (1 - t) log(1 - x)), with 1e-12 added to both arguments; weights may be
   * NULL */
  LossSum bceLoss;
  LossGradient bceGradient;
  /* t (log t - x) where t > 0, else 0 */
  LossSum distKLDivLoss;
  LossGradient distKLDivGradient;
  /* |x|; no target, no norm */
  LossSum l1Loss;
  LossGradient l1Gradient;
  /* max(0, margin - x t); margin is the loss's parameter and the gradient's second */
  LossSum marginLoss;
  LossGradient marginGradient;
  /* (x - t)^2 */
  LossSum mseLoss;
  LossGradient mseGradient;
  /* (x - t)^2 / 2 where |x - t| < 1, else |x - t| - 1/2 */
  LossSum smoothL1Loss;
  LossGradient smoothL1Gradient;
  /* log(1 + exp(-x t)) */
  LossSum softMarginLoss;
  LossGradient softMarginGradient;

  /* sum of max(0, x + offset), or of its square */
  double (*hinge)(int64_t n, const real *x, real offset);
  double (*squaredHinge)(int64_t n, const real *x, real offset);
  /* gradInput += factor times the gradient of that sum; returns the sum of what is added */
  double (*addHingeGradient)(int64_t n, const real *x, real offset, real factor, real *gradInput);
  double (*addSquaredHingeGradient)(int64_t n, const real *x, real offset, real factor,
                                    real *gradInput);
} SimdCriterion;

#endif
