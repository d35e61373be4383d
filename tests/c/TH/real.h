/* Template macros for the tests that are compiled once per type, and tensors to test with. */

#ifndef TEST_REAL_H
#define TEST_REAL_H

#include "../check.h"

#if defined(TH_REAL_FLOAT)
#  include <TH/types/Float.h>
#elif defined(TH_REAL_DOUBLE)
#  include <TH/types/Double.h>
#elif defined(TH_REAL_LONG)
#  include <TH/types/Long.h>
#else
#  include <TH/types/Int.h>
#endif

/* Gives the elements of a tensor the values first, first + 1, … in the order of their indices. */
static inline void countUp(THTensor *tensor, int first)
{
  THLongTensor *numbers = THLongTensor_newWithSize1d(THTensor_(nElement)(tensor));
  for (int64_t i = 0; i < numbers->size[0]; i++)
    THLongTensor_set1d(numbers, i, first + i);
  THTensor_(copyLong)(tensor, numbers);
  THLongTensor_free(numbers);
}

/* A contiguous tensor with the elements 0, 1, 2, … */
static inline THTensor *newCounting(int64_t size0, int64_t size1, int64_t size2)
{
  THTensor *tensor = THTensor_(newWithSize3d)(size0, size1, size2);
  countUp(tensor, 0);
  return tensor;
}

/* Whether the sizes and strides are those; lists end in 0, which is no size here. */
static inline int hasSizes(const THTensor *tensor, const int64_t *size)
{
  int d = 0;
  for (; size[d]; d++)
    if (d >= tensor->nDimension || tensor->size[d] != size[d])
      return 0;
  return d == tensor->nDimension;
}

static inline int hasStrides(const THTensor *tensor, const int64_t *stride)
{
  for (int d = 0; d < tensor->nDimension; d++)
    if (tensor->stride[d] != stride[d])
      return 0;
  return 1;
}

#define SIZES(...) ((int64_t[]){__VA_ARGS__, 0})
#define STRIDES(...) ((int64_t[]){__VA_ARGS__})

#endif
