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

/* AVX2 moves elements WITHIN both halves of a vector in one instruction, and whole halves in another.
 * Where elements change their places in both ways, as to take the even lanes of two vectors, GCC would
 * permute each of them with instructions that take two cycles on an AMD EPYC (Zen 2), and join the
 * results. So there are two steps. */
#if defined(LONG_VECTORS) && !defined(__AVX512F__)
#  define MOVES_HALVES
#  if defined(THNN_REAL_FLOAT)
#    define LOWER_OF_BOTH 0, 1, 2, 3, 8, 9, 10, 11
#    define UPPER_OF_BOTH 4, 5, 6, 7, 12, 13, 14, 15
#    define LOWER_WITHIN 0, 8, 1, 9, 4, 12, 5, 13
#    define UPPER_WITHIN 2, 10, 3, 11, 6, 14, 7, 15
#    define EVEN_WITHIN 0, 2, 8, 10, 4, 6, 12, 14
#    define ODD_WITHIN 1, 3, 9, 11, 5, 7, 13, 15
#  else
#    define LOWER_OF_BOTH 0, 1, 4, 5
#    define UPPER_OF_BOTH 2, 3, 6, 7
#    define LOWER_WITHIN 0, 4, 2, 6
#    define UPPER_WITHIN 1, 5, 3, 7
#    define EVEN_WITHIN LOWER_WITHIN
#    define ODD_WITHIN UPPER_WITHIN
#  endif
enum { BLOCK = LANES / 2 }; /* lanes of a half */

/* The lower half of a, and then that of b. */
INLINE Vector joinLower(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, LOWER_OF_BOTH);
}

/* The same with the upper halves. */
INLINE Vector joinUpper(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, UPPER_OF_BOTH);
}
#else
#  define LOWER_WITHIN LOWER_HALVES
#  define UPPER_WITHIN UPPER_HALVES
enum { BLOCK = LANES };
#endif

/* As interleaveLower() and interleaveUpper(), within each BLOCK of lanes. */
INLINE Vector interleaveLowerWithin(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, LOWER_WITHIN);
}

INLINE Vector interleaveUpperWithin(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, UPPER_WITHIN);
}

INLINE Vector interleaveLower(Vector a, Vector b)
{
#if defined(MOVES_HALVES)
  return joinLower(interleaveLowerWithin(a, b), interleaveUpperWithin(a, b));
#else
  return interleaveLowerWithin(a, b);
#endif
}

INLINE Vector interleaveUpper(Vector a, Vector b)
{
#if defined(MOVES_HALVES)
  return joinUpper(interleaveLowerWithin(a, b), interleaveUpperWithin(a, b));
#else
  return interleaveUpperWithin(a, b);
#endif
}

INLINE Vector evenLanes(Vector a, Vector b)
{
#if defined(MOVES_HALVES)
  return __builtin_shufflevector(joinLower(a, b), joinUpper(a, b), EVEN_WITHIN);
#else
  return __builtin_shufflevector(a, b, EVEN_LANES);
#endif
}

INLINE Vector oddLanes(Vector a, Vector b)
{
#if defined(MOVES_HALVES)
  return __builtin_shufflevector(joinLower(a, b), joinUpper(a, b), ODD_WITHIN);
#else
  return __builtin_shufflevector(a, b, ODD_LANES);
#endif
}

INLINE Vector nextLanes(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, NEXT_LANES);
}

/* interleaveLower() and the three functions after it, for pairs of elements. */
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

/* Transposes the squares in BLOCK rows, of which each lies within BLOCK lanes. Interleaving the
 * first half of the rows with the second moves one bit of an element's row number into its column
 * number; after log2(BLOCK) turns, rows and columns have changed places. */
INLINE void transposeBlocks(Vector *row)
{
#pragma GCC unroll 4
  for (int turn = 1; turn < BLOCK; turn *= 2) {
    Vector mixed[BLOCK];
#pragma GCC unroll 8
    for (int i = 0; i < BLOCK / 2; i++) {
      mixed[2 * i] = interleaveLowerWithin(row[i], row[i + BLOCK / 2]);
      mixed[2 * i + 1] = interleaveUpperWithin(row[i], row[i + BLOCK / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < BLOCK; i++)
      row[i] = mixed[i];
  }
}

/* Transposes LANES rows of LANES columns. */
INLINE void transposeSquare(Vector *row)
{
#if defined(MOVES_HALVES)
  Vector left[BLOCK], right[BLOCK];
#  pragma GCC unroll 4
  for (int i = 0; i < BLOCK; i++) {
    left[i] = joinLower(row[i], row[BLOCK + i]);
    right[i] = joinUpper(row[i], row[BLOCK + i]);
  }
  transposeBlocks(left);
  transposeBlocks(right);
#  pragma GCC unroll 4
  for (int i = 0; i < BLOCK; i++) {
    row[i] = left[i];
    row[BLOCK + i] = right[i];
  }
#else
  transposeBlocks(row);
#endif
}

/* Separates the elements of four vectors: fourth[i] has the i-th of every four. */
INLINE void separateFourths(const Vector *x, Vector *fourth)
{
#if defined(MOVES_HALVES) && defined(THNN_REAL_FLOAT)
#  pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    fourth[2 * i] = joinLower(x[i], x[i + 2]);
    fourth[2 * i + 1] = joinUpper(x[i], x[i + 2]);
  }
  transposeBlocks(fourth);
#elif defined(MOVES_HALVES)
#  pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    fourth[i] = x[i];
  transposeSquare(fourth);
#else
  const Vector even[] = {evenLanes(x[0], x[1]), evenLanes(x[2], x[3])};
  const Vector odd[] = {oddLanes(x[0], x[1]), oddLanes(x[2], x[3])};
  fourth[0] = evenLanes(even[0], even[1]);
  fourth[1] = evenLanes(odd[0], odd[1]);
  fourth[2] = oddLanes(even[0], even[1]);
  fourth[3] = oddLanes(odd[0], odd[1]);
#endif
}

/* The reverse: x has the elements of the four vectors in turns. */
INLINE void interleaveFourths(const Vector *fourth, Vector *x)
{
#if defined(MOVES_HALVES) && defined(THNN_REAL_FLOAT)
  Vector block[] = {fourth[0], fourth[1], fourth[2], fourth[3]};
  transposeBlocks(block);
#  pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    x[i] = joinLower(block[2 * i], block[2 * i + 1]);
    x[i + 2] = joinUpper(block[2 * i], block[2 * i + 1]);
  }
#elif defined(MOVES_HALVES)
  separateFourths(fourth, x); /* a square has as many columns as rows */
#else
  const Vector even[] = {interleaveLower(fourth[0], fourth[2]),
                         interleaveUpper(fourth[0], fourth[2])};
  const Vector odd[] = {interleaveLower(fourth[1], fourth[3]),
                        interleaveUpper(fourth[1], fourth[3])};
#  pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    x[2 * i] = interleaveLower(even[i], odd[i]);
    x[2 * i + 1] = interleaveUpper(even[i], odd[i]);
  }
#endif
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
