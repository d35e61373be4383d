/* Walks the elements of a tensor in the order of their indices, in runs of constant stride.
 *
 *     THCursor x, y;
 *     THCursor_start(&x, nDimension, size, stride);      likewise y, with as many elements
 *     for (int64_t left = nElement; left > 0;) {
 *       int64_t run = THCursor_common(&x, &y);
 *       … elements data[x.offset + i * x.stride], i < run …
 *       THCursor_advance(&x, run);
 *       THCursor_advance(&y, run);
 *       left -= run;
 *     }
 */

#ifndef TH_CURSOR_H
#define TH_CURSOR_H

#include "THGeneral.h"

/* Enough for any tensor: the number of elements fits into 63 bits, and dimensions of size 1 are
 * left out. */
#define TH_CURSOR_DIMENSIONS 64

typedef struct THCursor {
  int64_t offset; /* of the current element from the first one, in elements */
  int64_t stride; /* from an element of the run to the next, in elements */
  int64_t left;   /* elements left in the run */
  int64_t run;    /* length of every run */
  int nOuter;     /* number of dimensions outside the run; the arrays have the innermost first */
  int64_t outerSize[TH_CURSOR_DIMENSIONS];
  int64_t outerStride[TH_CURSOR_DIMENSIONS];
  int64_t outerIndex[TH_CURSOR_DIMENSIONS];
} THCursor;

/* All sizes must be positive. */
void THCursor_start(THCursor *cursor, int nDimension, const int64_t *size, const int64_t *stride);

/* Like start, but stays at the first index of one dimension. */
void THCursor_startWithout(THCursor *cursor, int nDimension, const int64_t *size,
                           const int64_t *stride, int fixedDimension);

/* Moves on by 0 < elements <= cursor->left; a cursor past its last element must not be used. */
void THCursor_advance(THCursor *cursor, int64_t elements);

/* The number of elements that both cursors can walk before the run of either ends. */
static inline int64_t THCursor_common(const THCursor *x, const THCursor *y)
{
  return x->left < y->left ? x->left : y->left;
}

#endif
