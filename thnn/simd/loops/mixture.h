/* Mixtures of normal distributions in the plane. */
#ifndef THNN_SIMD_MIXTURE_H
#define THNN_SIMD_MIXTURE_H

#include <stdint.h>

/* Points, one for each row, and what belongs to each centre of each row: rows x centres. */
typedef struct MixtureOperands {
  const real *x1, *x2;
  const real *weight, *mean1, *mean2, *std1, *std2, *correlation;
} MixtureOperands;

/* Where gradients go, rows x centres; NULL for those that are not wanted. */
typedef struct MixtureGradients {
  real *weight, *mean1, *mean2, *std1, *std2, *correlation;
} MixtureGradients;

/* At most `together` elements are worked on in one call, or those of one row. */
typedef struct SimdMixture {
  int64_t together;
  /* loss = minus the logarithm of the mixture's density; share = what each centre has of it */
  void (*forward)(int64_t rows, int64_t centres, const MixtureOperands *of, real *share,
                  real *loss);
  /* The gradients of the loss times those of `gradOutput`, one for each row, or with a step of 0
   * the same one for all; `share` is overwritten. */
  void (*backward)(int64_t rows, int64_t centres, const MixtureOperands *of, const real *gradOutput,
                   int64_t step, real *share, const MixtureGradients *to);
} SimdMixture;

#endif
