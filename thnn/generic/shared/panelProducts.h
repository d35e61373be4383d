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
  const real *bias;    /* a value for each row, with packed a; or NULL */
  const real *panels;  /* all of a, packed; or NULL */
  const real *scalars; /* all of b, packed; or NULL */
  real *c;
  int64_t leading;
  Finish finish; /* what is done to c afterwards, if its columns follow each other; only for a
                  * single product */
  int64_t count, aNext, bNext;
  real *sums;        /* the sum of each column of alpha * b is added to these; or NULL */
  bool fetches;      /* a does not stay in a near cache: its next block is fetched ahead */
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

/* Whether gemm is slower. It packs a large operand even for few columns, and with AVX-512 the loops
 * here are faster in nearly all products that are not small. Where both operands are contiguous
 * along the sums, few rows or columns are left to dots. */
bool THNN_(panelProducts_win)(const Product *p);

/* Whether a stays in a near cache and its panels are read in place, since packing them would take
 * longer than it saves. */
bool THNN_(panelProducts_readsInPlace)(const Product *p);

/* The most bytes that packing the operands takes, for a product of these sizes or of smaller
 * ones. */
size_t THNN_(panelProducts_mostBytes)(int64_t m, int64_t n, int64_t k);

/* Returns the room that the product takes; and computes the product. */
THNNRoom THNN_(panelProducts_room)(const THNNState *state, const Product *p);
void THNN_(panelProducts_multiply)(const Product *p, THNNRoom room);

#endif
