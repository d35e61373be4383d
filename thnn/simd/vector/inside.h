/* The part of a vector that is inside a line, and whether results are finite. */
#ifndef THNN_SIMD_INSIDE_H
#define THNN_SIMD_INSIDE_H

#include <stdbool.h>

#include "simd/vector/transpose.h"

/* The lanes from `begin` to `end`, which can be outside of a vector. */
INLINE Lanes lanesBetween(int64_t begin, int64_t end)
{
  const int64_t from = begin > 0 ? begin : 0, to = end < LANES ? end : LANES;
  return from < to ? firstLanes(to) & ~firstLanes(from) : firstLanes(0);
}

/* Elements [column, column + LANES) of a line, 0 outside of it. */
INLINE Vector loadInside(const real *line, int64_t column, int64_t width)
{
  if (column >= 0 && column + LANES <= width)
    return load(line + column);
  if (column <= -LANES || column >= width) /* takes no mask */
    return (Vector){0};
  return loadLanes(line + column, lanesBetween(-column, width - column));
}

/* The lanes of a vector that are inside of many lines, at the same columns of each. For a single line,
 * loadInside() takes less time: it finds lanes where they are needed only. */
typedef struct InsideLanes {
  bool all;
  Lanes lanes;
} InsideLanes;

INLINE InsideLanes insideLanes(int64_t column, int64_t width)
{
  return (InsideLanes){column >= 0 && column + LANES <= width,
                       lanesBetween(-column, width - column)};
}

/* Loads these lanes and reads nothing else; the other lanes become 0. */
INLINE Vector loadInsideLanes(const real *x, InsideLanes inside)
{
  return inside.all ? load(x) : loadLanes(x, inside.lanes);
}

/* Stores the first `count` elements of a vector; `count` can be negative, or more than LANES. */
INLINE void storeInside(real *line, int64_t count, Vector x)
{
  if (count >= LANES)
    store(line, x);
  else if (count > 0)
    storeFirst(line, count, x);
}

/* Stores the first `count` of the elements of two vectors in turns. */
INLINE void storeInTurns(real *line, int64_t count, Vector a, Vector b)
{
  storeInside(line, count, interleaveLower(a, b));
  storeInside(line + LANES, count - LANES, interleaveUpper(a, b));
}

/* Whether a sum of terms 0 * x is 0; it is NaN where an x is infinite or NaN. */
INLINE bool isZero(Vector sum)
{
  real any = 0;
  for (int l = 0; l < LANES; l++)
    any += sum[l];
  return any == 0;
}

#endif
