/* Template: functions that the sources in this folder share, for the type of template.h. */

#ifndef TH_GENERIC_INTERNAL_H
#define TH_GENERIC_INTERNAL_H

#include "../THCursor.h"
#include "template.h"

/* Raises an error about argument `position` unless the tensor has this dimension. */
static inline void THTensor_(checkDimension)(const THTensor *tensor, int dimension, int position)
{
  THArgCheck(dimension >= 0 && dimension < tensor->nDimension, position,
             "dimension %d is out of range: the tensor has %d dimensions", dimension,
             tensor->nDimension);
}

/* Starts a cursor over all elements of a tensor. */
static inline void THTensor_(startCursor)(THCursor *cursor, const THTensor *tensor)
{
  THCursor_start(cursor, tensor->nDimension, tensor->size, tensor->stride);
}

/* Starts a cursor over the first element of every line along one dimension. */
static inline void THTensor_(startLines)(THCursor *cursor, const THTensor *tensor, int dimension)
{
  THCursor_startWithout(cursor, tensor->nDimension, tensor->size, tensor->stride, dimension);
}

/* A new tensor that shares the storage of another, with n sizes and strides left to the caller. */
THTensor *THTensor_(newSharing)(const THTensor *tensor, int n);

/* Whether n elements at a and at b are the same ones or have none in common. */
static inline bool THTensor_(areApart)(const real *a, const real *b, int64_t n)
{
  const uintptr_t first = (uintptr_t)a, second = (uintptr_t)b, bytes = (uintptr_t)n * sizeof(real);
  return first == second || first + bytes <= second || second + bytes <= first;
}

/* Copies x to y, which have the same sizes and do not overlap. */
void THTensor_(copyStrided)(int nDimension, const int64_t *size, real *y, const int64_t *yStride,
                            const real *x, const int64_t *xStride);

#endif
