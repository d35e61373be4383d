/* Walks the elements of a tensor in the order of their indices, in runs of constant stride.
 *
 *     THCursor x, y;
 *     THCursor_start(&x, nDimension, size, stride);      likewise y, over equally many elements
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

/* Only dimensions larger than 1 count, and the number of elements fits into 63 bits. */
#define TH_CURSOR_DIMENSIONS 64

typedef struct THCursor {
  int64_t offset; /* of the current element, relative to the first */
  int64_t stride; /* between the elements of the run */
  int64_t left;   /* elements left in the run */
  int64_t run;    /* length of every run */
  int nOuter;     /* dimensions above the run, innermost first: */
  int64_t outerSize[TH_CURSOR_DIMENSIONS];
  int64_t outerStride[TH_CURSOR_DIMENSIONS];
  int64_t outerIndex[TH_CURSOR_DIMENSIONS];
} THCursor;

/* All sizes must be positive. */
void THCursor_start(THCursor *cursor, int nDimension, const int64_t *size, const int64_t *stride);

/* Like start, but stays at the first index of one dimension. */
void THCursor_startWithout(THCursor *cursor, int nDimension, const int64_t *size,
                           const int64_t *stride, int fixedDimension);

/* Goes on by 0 < elements <= cursor->left; after the last element the cursor is not to be used. */
void THCursor_advance(THCursor *cursor, int64_t elements);

/* The elements that both can walk before either's run ends. */
static inline int64_t THCursor_common(const THCursor *x, const THCursor *y)
{
  return x->left < y->left ? x->left : y->left;
}

#endif
