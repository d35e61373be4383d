/* Sorting along one dimension: a merge sort, so that equal elements keep their order. */

#include "internal.h"
#include "../THMemory.h"

#include <math.h>
#include <string.h>

typedef struct Item {
  real value;
  int64_t index;
} Item;

/* Whether a comes strictly before b; NaN counts as the largest value. */
static bool precedes(real a, real b, bool descending)
{
  real low = descending ? b : a, high = descending ? a : b;
  return low < high || (isnan((double)high) && !isnan((double)low));
}

/* Merges two sorted runs, from[0…middle) and from[middle…n), into `to`. */
static void merge(Item *to, const Item *from, int64_t middle, int64_t n, bool descending)
{
  int64_t left = 0, right = middle;
  for (int64_t i = 0; i < n; i++) {
    bool takeRight =
        left == middle || (right < n && precedes(from[right].value, from[left].value, descending));
    to[i] = from[takeRight ? right++ : left++];
  }
}

/* Sorts n items with a spare array of n items; returns the array that holds the result. */
static const Item *sortItems(Item *items, Item *spare, int64_t n, bool descending)
{
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t start = 0; start < n; start += 2 * width) {
      int64_t length = n - start < 2 * width ? n - start : 2 * width;
      int64_t middle = length < width ? length : width;
      merge(spare + start, items + start, middle, length, descending);
    }
    Item *sorted = spare;
    spare = items;
    items = sorted;
  }
  return items;
}

void THTensor_(sort)(THTensor *result, THLongTensor *indices, THTensor *tensor, int dimension,
                     int descending)
{
  THTensor_(checkDimension)(tensor, dimension, 4);
  THTensor_(resizeAs)(result, tensor);
  THLongTensor_resizeNd(indices, tensor->nDimension, tensor->size, NULL);
  const int64_t n = tensor->size[dimension];
  size_t bytes = 2 * (size_t)n * sizeof(Item);
  Item *items = THTryAlloc(bytes, sizeof(Item));
  if (!items)
    THOutOfMemory(bytes);

  real *r = THTensor_(data)(result);
  int64_t *x = THLongTensor_data(indices);
  const real *t = THTensor_(data)(tensor);
  const int64_t rs = result->stride[dimension], xs = indices->stride[dimension],
                ts = tensor->stride[dimension];
  THCursor atR, atX, atT;
  THTensor_(startLines)(&atR, result, dimension);
  THTensor_(startLines)(&atT, tensor, dimension);
  THCursor_startWithout(&atX, indices->nDimension, indices->size, indices->stride, dimension);
  for (int64_t left = THTensor_(nElement)(tensor) / n; left > 0; left--) {
    for (int64_t i = 0; i < n; i++)
      items[i] = (Item){t[atT.offset + i * ts], i};
    const Item *sorted = sortItems(items, items + n, n, descending != 0);
    for (int64_t i = 0; i < n; i++) {
      r[atR.offset + i * rs] = sorted[i].value;
      x[atX.offset + i * xs] = sorted[i].index + TH_INDEX_BASE;
    }
    THCursor_advance(&atR, 1);
    THCursor_advance(&atX, 1);
    THCursor_advance(&atT, 1);
  }
  THTryFree(items);
}
