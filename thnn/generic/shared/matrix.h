/* Products and sums of dense matrices, cut into blocks that threads share. */
#ifndef THNN_MATRIX_H
#define THNN_MATRIX_H

#include "generic/template.h"

#include "generic/shared/finish.h"

/* An operand of a product: a column-major matrix or the transpose of one. */
typedef struct Matrix {
  const real *data;
  int64_t leading; /* elements from one column to the next */
  bool transposed;
} Matrix;

/* The address of element (row, column) of an operand, after transposition. */
static inline real *matrixAt(Matrix matrix, int64_t row, int64_t column)
{
  return (real *)matrix.data +
         (matrix.transposed ? row * matrix.leading + column : column * matrix.leading + row);
}

/* Scratch for packed operands: `bytes`, a multiple of a cache line, for each of `threads` threads.
 * Products that pack take no more threads. The caller provides `data`, aligned to cache lines; the
 * functions below say how much a product needs. */
typedef struct THNNRoom {
  int threads;
  size_t bytes;
  void *data;
} THNNRoom;

static inline size_t THNN_roomBytes(THNNRoom room)
{
  return (size_t)room.threads * room.bytes;
}

/* The room with its memory. */
static inline THNNRoom THNN_roomAt(THNNRoom room, void *data)
{
  room.data = data;
  return room;
}

/* Adds the room to a plan's scratch. Returns NULL if the room is empty, as it is for most
 * products. */
static inline THNNBuffer *THNN_planRoom(THNNPlan *plan, THNNRoom room)
{
  const size_t bytes = THNN_roomBytes(room);
  return bytes > 0 ? THNN_planScratch(plan, bytes) : NULL;
}

static inline THNNRoom THNN_roomIn(THNNRoom room, const THNNBuffer *buffer)
{
  return THNN_roomAt(room, buffer ? buffer->data : NULL);
}

/* Returns room that suffices for either of two products, if they are computed one after the
 * other. */
THNNRoom THNN_(matrix_largerRoom)(THNNRoom a, THNNRoom b);

/* The room that each product below needs. matrix_room is for multiply, multiplyInto and affine; in
 * affine, m is `columns`, n is `rows`, k is `terms`, and a is transposed. */
THNNRoom THNN_(matrix_room)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                            bool aTransposed, bool bTransposed);
THNNRoom THNN_(panelProducts_addRoom)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                      bool aTransposed, bool bTransposed, int64_t count);
THNNRoom THNN_(panelProducts_eachRoom)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                       int64_t count);

/* c[m x n] = alpha * a[m x k] * b[k x n] + beta * c; c is dense and column-major. */
void THNN_(matrix_multiply)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                            Matrix a, Matrix b, real beta, real *c, THNNRoom room);

/* A product that one thread computes, for callers whose threads share many products; and the bytes
 * that it needs to pack its operands, which suffice for smaller sizes, too. beta is 0 or 1. */
size_t THNN_(matrix_aloneBytes)(const THNNState *state, int64_t m, int64_t n, int64_t k);
void THNN_(matrix_multiplyAlone)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                 real alpha, Matrix a, Matrix b, real beta, real *c,
                                 int64_t leading, void *packing);

/* Computes the same as matrix_multiply for a result whose columns are `leading` elements apart. */
void THNN_(matrix_multiplyInto)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                                Matrix a, Matrix b, real beta, real *c, int64_t leading,
                                THNNRoom room);

/* c += alpha * the sum of `count` products a * b, whose operands are `aNext` and `bNext` elements
 * apart. The columns of a and b may overlap. */
void THNN_(panelProducts_add)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                              Matrix a, Matrix b, int64_t count, int64_t aNext, int64_t bNext,
                              real *c, THNNRoom room);

/* c = start + a * b for `count` matrices a and c, `aNext` and `cNext` elements apart; then they are
 * finished. `start` has a value for each column of c; it is NULL if there is none, or if the
 * products are added to c. `packed` is scratch for all of b; without it, b is packed anew for each
 * block of rows. If b has no data, `packed` holds b already. */
void THNN_(panelProducts_each)(int64_t m, int64_t n, int64_t k, Matrix a, Matrix b,
                               const real *start, int64_t count, int64_t aNext, Finish finish,
                               real *c, int64_t cNext, real *packed, THNNRoom room);

/* The number of elements of `packed` above; 0 if b is packed only once anyway. */
int64_t THNN_(panelProducts_packedElements)(int64_t m, int64_t n, int64_t k, int64_t count);

/* Packs all of b for such products; and the number of elements that this takes. */
void THNN_(panelProducts_keep)(int64_t n, int64_t k, Matrix b, real *packed);
int64_t THNN_(panelProducts_keptElements)(int64_t n, int64_t k);

/* For products of one matrix a with many matrices b. The first function says how many elements
 * packing takes, or 0 if multiplyInto does not pack a; the second packs all of a; the third computes
 * c = a * b, or adds that to c, and packs b after a. It has the bits of multiplyInto where that packs
 * a. */
int64_t THNN_(panelProducts_keptPanels)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                        bool aTransposed);
void THNN_(panelProducts_keepPanels)(const THNNState *state, int64_t m, int64_t k, Matrix a,
                                     real *packed);
void THNN_(panelProducts_multiplyKept)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                       real *kept, Matrix b, bool adds, real *c, int64_t leading);

/* The same for columns [first, end) of b and c, in the calling thread. If threads share the columns,
 * they do so in whole steps, whose length the second function says. */
void THNN_(panelProducts_multiplyKeptPart)(const THNNState *state, int64_t m, int64_t first,
                                           int64_t end, int64_t k, real *kept, Matrix b, bool adds,
                                           real *c, int64_t leading);
int64_t THNN_(panelProducts_keptStep)(const THNNState *state);

/* Rows [begin, end) of c = a * b, in the calling thread, from panels of all m rows of a. These rows begin
 * at a panel. `scalars` is room for a step of b: panelProducts_keptElements(1, k) elements. And the terms
 * of a block of panels: panel p of the block from term t on, with `terms` terms, begins at element
 * columns * (t * panels + p * terms), where `columns` is SimdPanels.columns. */
void THNN_(panelProducts_multiplyRows)(int64_t m, THNNRange rows, int64_t n, int64_t k,
                                       const real *panels, real *scalars, Matrix b, real *c,
                                       int64_t leading);
int64_t THNN_(panelProducts_blockTerms)(int64_t k);

/* The same with panels that stay for many calls, a dense c that sums of products are written to or,
 * unless it is NULL, `bias` for each row of c and these; and with room for all of b packed:
 * panelProducts_keptElements(n, k) elements. And whether that is faster than multiplyInto, and the
 * elements of the panels. */
void THNN_(panelProducts_multiplyPanels)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                         const real *panels, real *scalars, Matrix b,
                                         const real *bias, real *c);
bool THNN_(panelProducts_prefersPanels)(const THNNState *state, int64_t m, int64_t n, int64_t k);
int64_t THNN_(panelProducts_panelElements)(const THNNState *state, int64_t m, int64_t k);

/* The threads that share a product whose panels are packed already. */
int THNN_(panelProducts_packedThreads)(const THNNState *state, int64_t m, int64_t n, int64_t k);

/* Whether x * w^T, with few rows of x, is computed by the loops of simd/kernels/dots.c: gemm would
 * spend too much of its time on packing w. */
bool THNN_(matrix_prefersDots)(const THNNState *state, int64_t rows, int64_t columns,
                               int64_t terms);

/* y = start + x * w^T. x and y have `rows` rows, `xStride` and `yStride` elements apart, and w has
 * `columns` rows of `terms` elements. `start`, which may be NULL, is added to each row of y. */
void THNN_(matrix_affine)(const THNNState *state, int64_t rows, int64_t columns, int64_t terms,
                          const real *x, int64_t xStride, const real *w, const real *start, real *y,
                          int64_t yStride, THNNRoom room);

/* Whether matrix_affine would be faster with the transpose of w, which has `terms` rows. */
bool THNN_(matrix_prefersTransposed)(const THNNState *state, int64_t rows, int64_t columns,
                                     int64_t terms);

/* y += scale * the sum of the rows of x, which are `xStride` elements apart. */
void THNN_(matrix_addRowSum)(const THNNState *state, int64_t rows, int64_t columns, real scale,
                             const real *x, int64_t xStride, real *y);

/* y[column * rows + row] = x[row * columns + column]. */
void THNN_(matrix_transpose)(const THNNState *state, int64_t rows, int64_t columns, const real *x,
                             real *y);

/* y[i] = x for each of the rows of y. */
void THNN_(matrix_repeatRow)(const THNNState *state, int64_t rows, int64_t columns, const real *x,
                             real *y, int64_t yStride);

#endif
