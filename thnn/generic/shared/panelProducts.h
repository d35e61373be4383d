/* Products of matrices by the loops of simd/kernels/panels.c, for sizes at which gemm is slower. */
#ifndef THNN_GENERIC_PANEL_PRODUCTS_H
#define THNN_GENERIC_PANEL_PRODUCTS_H

#include "generic/shared/matrix.h"

/* c[m x n] = alpha * a[m x k] * b[k x n], added to c or to one value for each column. If it is
 * added to c, it can be the sum of `count` products, whose operands are `aNext` and `bNext`
 * elements apart. */
typedef struct Product {
  int64_t m, n, k;
  real alpha;
  Matrix a, b;
  bool packs; /* packs panels even for few columns */
  bool add;
  const real *start;   /* a value for each column, or NULL */
  const real *scalars; /* all of b, packed; or NULL */
  real *c;
  int64_t leading;
  Finish finish; /* of c, whose columns follow each other; of one product */
  int64_t count, aNext, bNext;
  real *sums;        /* to which the sum of each column of alpha * b is added, or NULL */
  bool fetches;      /* a does not stay near: the next block of it is fetched ahead */
  const real *after; /* a of the product that is computed after this one, or NULL */
} Product;

static inline Product productOf(int64_t m, int64_t n, int64_t k, real alpha, Matrix a, Matrix b,
                                real *c, int64_t leading)
{
  return (Product){.m = m,
                   .n = n,
                   .k = k,
                   .alpha = alpha,
                   .a = a,
                   .b = b,
                   .c = c,
                   .leading = leading,
                   .count = 1};
}

static inline Product shapeOf(int64_t m, int64_t n, int64_t k, bool aTransposed, bool bTransposed)
{
  const Matrix a = {.transposed = aTransposed}, b = {.transposed = bTransposed};
  return productOf(m, n, k, 1, a, b, NULL, m);
}

/* Whether gemm is slower. It packs a large operand for few columns, and with the longest vectors
 * the loops here are faster in nearly all products of some size. Where both operands are contiguous
 * along the sums, few rows or columns are left to dots. */
bool THNN_(panelProducts_win)(const Product *p);

/* Whether it reads the panels of a near a where they are, since packing them takes longer than it
 * saves. */
bool THNN_(panelProducts_readsInPlace)(const Product *p);

/* The most that packing the operands of a product takes, of these sizes or smaller ones. */
size_t THNN_(panelProducts_mostBytes)(int64_t m, int64_t n, int64_t k);

/* The room that the product takes, and the product. */
THNNRoom THNN_(panelProducts_room)(const THNNState *state, const Product *p);
void THNN_(panelProducts_multiply)(const Product *p, THNNRoom room);

#endif
