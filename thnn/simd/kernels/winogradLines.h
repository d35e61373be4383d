/* How the tiles of Winograd's algorithms lie along a line, and loading the elements that a vector of
 * them sees. `side`, the number of a tile's results, `seen`, that of its elements, and `spacing` are
 * constants where these functions are called. */
#ifndef THNN_SIMD_WINOGRAD_LINES_H
#define THNN_SIMD_WINOGRAD_LINES_H

#include "simd/kernels/winogradPoints.h"
#include "simd/vector/inside.h"

/* How the tiles of a line are arranged: side by side, in every column or in every second one; in
 * pairs if columns are dilated by 2; or in groups of any size. Only tiles of 2x2 results are taken
 * in pairs. */
typedef enum Spacing { SINGLE, ALTERNATE, PAIRS, GROUPS } Spacing;

INLINE Spacing spacingOf(const TileRow *of, const int side)
{
  if (of->columnStep == 1)
    return of->alternate ? ALTERNATE : SINGLE;
  const bool pairs = of->columnStep == 2 && of->place == 0 && of->tiles % 2 == 0;
  return side == 2 && pairs ? PAIRS : GROUPS;
}

/* The distance between two elements of a tile. */
INLINE int64_t elementStep(const Spacing spacing)
{
  return spacing == SINGLE ? 1 : 2;
}

/* The elements that a vector of tiles sees along a line are loaded in so many parts, each of a vector
 * or, with ALTERNATE, of two. */
INLINE int partsOfLine(const int side, const int seen)
{
  return side == 2 ? (seen + 1) / 2 * 2 : seen;
}

INLINE int vectorsOfPart(const Spacing spacing)
{
  return spacing == ALTERNATE ? 2 : 1;
}

/* Where a part begins, counted from the first tile's first element. */
INLINE int64_t partOffset(const int side, const Spacing spacing, const int i)
{
  if (side == 4)
    return (i < 4 ? i * LANES : 4 * LANES + i - 4) * elementStep(spacing);
  return i / 2 * 2 * elementStep(spacing) + i % 2 * vectorsOfPart(spacing) * LANES;
}

/* The lanes of these vectors that are inside a line: the same for all lines of a vector of tiles. With
 * a flag for each vector, as InsideLanes have, the transform of tiles that are all inside took a fifth
 * longer (AVX2). */
typedef struct Inside {
  bool all; /* the lanes are not listed */
  Lanes lanes[MOST_SEEN][2];
} Inside;

INLINE Inside insideOf(const int side, const int seen, const Spacing spacing, int64_t column,
                       int64_t width)
{
  const int parts = partsOfLine(side, seen), vectors = vectorsOfPart(spacing);
  const int64_t end = column + partOffset(side, spacing, parts - 1) + vectors * LANES;
  Inside inside = {.all = column >= 0 && end <= width};
  if (!inside.all)
#pragma GCC unroll 6
    for (int i = 0; i < parts; i++)
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        const int64_t first = column + partOffset(side, spacing, i) + v * LANES;
        inside.lanes[i][v] = lanesBetween(-first, width - first);
      }
  return inside;
}

/* Loads part i; what the tiles see begins at `x`. */
INLINE Vector loadPart(const int side, const Spacing spacing, const real *x, const Inside *inside,
                       const int i)
{
  const int vectors = vectorsOfPart(spacing);
  const real *part = x + partOffset(side, spacing, i);
  Vector vector[2];
#pragma GCC unroll 2
  for (int v = 0; v < vectors; v++)
    vector[v] =
        inside->all ? load(part + v * LANES) : loadLanes(part + v * LANES, inside->lanes[i][v]);
  return spacing == ALTERNATE ? evenLanes(vector[0], vector[1]) : vector[0];
}

/* Loads the elements that a vector of tiles of 2x2 results sees, so that element[i] has the i-th of
 * each tile. */
INLINE void separatePairs(const int seen, const real *x, const Spacing spacing,
                          const Inside *inside, Vector *element)
{
#pragma GCC unroll 3
  for (int i = 0; i < seen; i += 2) {
    const Vector a = loadPart(2, spacing, x, inside, i);
    const Vector b = loadPart(2, spacing, x, inside, i + 1);
    element[i] = spacing == PAIRS ? evenPairs(a, b) : evenLanes(a, b);
    element[i + 1] = spacing == PAIRS ? oddPairs(a, b) : oddLanes(a, b);
  }
}

/* Does the same for tiles of 4x4 results, which are side by side. The last elements of a tile are
 * the first ones of the next. */
INLINE void separateFours(const int seen, const real *x, const Spacing spacing,
                          const Inside *inside, Vector *element)
{
  Vector part[MOST_SEEN];
#pragma GCC unroll 6
  for (int i = 0; i < seen; i++)
    part[i] = loadPart(4, spacing, x, inside, i);
  separateFourths(part, element);
#pragma GCC unroll 2
  for (int i = 4; i < seen; i++)
    element[i] = nextLanes(element[i - 4], part[i]);
}

#endif
