/* Products and sums of dense matrices, cut into blocks that threads share. */
#ifndef THNN_MATRIX_H
#define THNN_MATRIX_H

#include "generic/template.h"

/* An operand of a product: a column-major matrix or the transposed of one. */
typedef struct THNN_(Matrix) {
  const real *data;
  int64_t leading; /* from one column to the next */
  bool transposed;
} THNN_(Matrix);

/* c[m x n] = alpha * a[m x k] * b[k x n] + beta * c; c is dense and column-major. */
void THNN_(multiply)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                     THNN_(Matrix) a, THNN_(Matrix) b, real beta, real *c);

/* The same for a result whose columns are `leading` elements apart. */
void THNN_(multiplyInto)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                         THNN_(Matrix) a, THNN_(Matrix) b, real beta, real *c, int64_t leading);

/* c += alpha * the sum of `count` products a * b, whose operands lie `aNext` and `bNext` elements
 * apart. The columns of a and b may overlap. */
void THNN_(addProducts)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                        THNN_(Matrix) a, THNN_(Matrix) b, int64_t count, int64_t aNext,
                        int64_t bNext, real *c);

/* c = start + a * b for `count` matrices a and c, `aNext` and `cNext` elements apart. `start`,
 * which may be NULL, has a value for each column of c. `packed` is room for b as it is multiplied; without,
 * NULL, it is packed for each block of rows again. */
void THNN_(multiplyEach)(const THNNState *state, int64_t m, int64_t n, int64_t k, THNN_(Matrix) a,
                         THNN_(Matrix) b, const real *start, int64_t count, int64_t aNext, real *c,
                         int64_t cNext, real *packed);

/* The size of that room; 0 if b is packed only once anyway. */
int64_t THNN_(packedElements)(int64_t m, int64_t n, int64_t k, int64_t count);

/* Whether a product of few rows with a matrix that lies across its sums is for the loops in
 * simd/kernels/dots.c: gemm would spend too much of its time on packing the matrix. */
bool THNN_(prefersDots)(int64_t rows, int64_t columns, int64_t terms);

/* y = start + x * w^T: rows of y from rows of x, whose strides are from one to the next; w has
 * `columns` rows of `terms` elements. `start` is added to each row. */
void THNN_(affine)(const THNNState *state, int64_t rows, int64_t columns, int64_t terms,
                   const real *x, int64_t xStride, const real *w, const real *start, real *y,
                   int64_t yStride);

/* y += scale * the sum of the rows of x. */
void THNN_(addRowSum)(const THNNState *state, int64_t rows, int64_t columns, real scale,
                      const real *x, real *y);

/* y[i] = x for each of the rows of y. */
void THNN_(repeatRow)(const THNNState *state, int64_t rows, int64_t columns, const real *x, real *y,
                      int64_t yStride);

#endif
