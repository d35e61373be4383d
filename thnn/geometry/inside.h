/* What windows, taps and copies with padding share: how far regularly spaced indices extend, and
 * which of them are inside an array. */
#ifndef THNN_GEOMETRY_INSIDE_H
#define THNN_GEOMETRY_INSIDE_H

#include "simd/range.h"
#include "work/sizes.h"

/* The number of elements from the first of `count` indices to the last, both included; indices are
 * `step` apart. */
static inline int64_t THNN_extent(int64_t count, int64_t step)
{
  return (count - 1) * step + 1;
}

/* The i in [0, count) for which start + i*step is in [0, size); step is positive. */
static inline THNNRange THNN_indicesInside(int64_t start, int64_t step, int64_t count, int64_t size)
{
  const int64_t begin = clamp(ceilDivide(-start, step), 0, maximum(count, 0));
  return (THNNRange){begin, clamp(ceilDivide(size - start, step), begin, maximum(count, 0))};
}

#endif
