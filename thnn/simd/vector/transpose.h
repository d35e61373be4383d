/* Moving elements across the lanes of vectors: separating and interleaving them, transposing a
 * square of them, adding up lanes. */
#ifndef THNN_SIMD_TRANSPOSE_H
#define THNN_SIMD_TRANSPOSE_H

#include "simd/vector/vector.h"

/* Indices for __builtin_shufflevector. They interleave the lower or the upper halves of two
 * vectors, a0 b0 a1 b1 …, or take the even or the odd lanes of both; all four exist for lanes and
 * for pairs of lanes. NEXT_LANES takes all lanes of a but the first, then the first one of b. */
#if defined(LONGEST_VECTORS) && defined(THNN_REAL_FLOAT)
#  define LOWER_HALVES 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#  define UPPER_HALVES 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#  define EVEN_LANES 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#  define ODD_LANES 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#  define LOWER_PAIRS 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23
#  define UPPER_PAIRS 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31
#  define EVEN_PAIRS 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29
#  define ODD_PAIRS 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31
#  define NEXT_LANES 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#elif defined(LONGEST_VECTORS) || (defined(LONG_VECTORS) && defined(THNN_REAL_FLOAT))
#  define LOWER_HALVES 0, 8, 1, 9, 2, 10, 3, 11
#  define UPPER_HALVES 4, 12, 5, 13, 6, 14, 7, 15
#  define EVEN_LANES 0, 2, 4, 6, 8, 10, 12, 14
#  define ODD_LANES 1, 3, 5, 7, 9, 11, 13, 15
#  define LOWER_PAIRS 0, 1, 8, 9, 2, 3, 10, 11
#  define UPPER_PAIRS 4, 5, 12, 13, 6, 7, 14, 15
#  define EVEN_PAIRS 0, 1, 4, 5, 8, 9, 12, 13
#  define ODD_PAIRS 2, 3, 6, 7, 10, 11, 14, 15
#  define NEXT_LANES 1, 2, 3, 4, 5, 6, 7, 8
#elif defined(LONG_VECTORS) || defined(THNN_REAL_FLOAT)
#  define LOWER_HALVES 0, 4, 1, 5
#  define UPPER_HALVES 2, 6, 3, 7
#  define EVEN_LANES 0, 2, 4, 6
#  define ODD_LANES 1, 3, 5, 7
#  define LOWER_PAIRS 0, 1, 4, 5
#  define UPPER_PAIRS 2, 3, 6, 7
#  define EVEN_PAIRS 0, 1, 4, 5
#  define ODD_PAIRS 2, 3, 6, 7
#  define NEXT_LANES 1, 2, 3, 4
#else
#  define LOWER_HALVES 0, 2
#  define UPPER_HALVES 1, 3
#  define EVEN_LANES 0, 2
#  define ODD_LANES 1, 3
#  define LOWER_PAIRS 0, 1
#  define UPPER_PAIRS 2, 3
#  define EVEN_PAIRS 0, 1
#  define ODD_PAIRS 2, 3
#  define NEXT_LANES 1, 2
#endif

INLINE Vector interleaveLower(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, LOWER_HALVES);
}

INLINE Vector interleaveUpper(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, UPPER_HALVES);
}

INLINE Vector evenLanes(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, EVEN_LANES);
}

INLINE Vector oddLanes(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, ODD_LANES);
}

INLINE Vector nextLanes(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, NEXT_LANES);
}

/* The first four functions above, for pairs of elements. */
INLINE Vector interleaveLowerPairs(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, LOWER_PAIRS);
}

INLINE Vector interleaveUpperPairs(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, UPPER_PAIRS);
}

INLINE Vector evenPairs(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, EVEN_PAIRS);
}

INLINE Vector oddPairs(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, ODD_PAIRS);
}

/* Transposes LANES rows of LANES columns. Interleaving the first half of the rows with the second
 * moves one bit of an element's row number into its column number; after log2(LANES) turns, rows
 * and columns have changed places. */
INLINE void transposeSquare(Vector *row)
{
#pragma GCC unroll 4
  for (int turn = 1; turn < LANES; turn *= 2) {
    Vector mixed[LANES];
#pragma GCC unroll 8
    for (int i = 0; i < LANES / 2; i++) {
      mixed[2 * i] = interleaveLower(row[i], row[i + LANES / 2]);
      mixed[2 * i + 1] = interleaveUpper(row[i], row[i + LANES / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
      row[i] = mixed[i];
  }
}

/* Lane 2l is the sum of lanes l and l + LANES / 2 of a, lane 2l + 1 that of the same lanes of b. */
INLINE Vector fold(Vector a, Vector b)
{
  return interleaveLower(a, b) + interleaveUpper(a, b);
}

/* The sums of all lanes of four vectors. */
INLINE void sumLanes(const Vector *v, real *sums)
{
#if defined(TWO_LANES)
  const Vector ab = fold(v[0], v[1]), cd = fold(v[2], v[3]);
  store(sums, ab);
  store(sums + 2, cd);
#else
  Vector all = fold(fold(v[0], v[2]), fold(v[1], v[3]));
#  pragma GCC unroll 4
  for (int lanes = LANES; lanes > 4; lanes /= 2)
    all = fold(all, all);
#  pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    sums[i] = all[i * (LANES / 4)];
#endif
}

#endif
