/* Outer products along lines of positions, for chains of taps. */
#ifndef THNN_SIMD_CHAINS_H
#define THNN_SIMD_CHAINS_H

#include <stdint.h>

#include "simd/vector/ahead.h"

/* Where a row or a term of a sum of products finds its scalar and its vector, as offsets from the
 * pointers of the structs below; the offsets of row and term are added. */
typedef struct THNNOffsets {
  int64_t scalar, vector;
} THNNOffsets;

/* The most taps of a chain that are computed together. */
enum { THNN_CHAIN_TAPS = 3 };

/* Sums of outer products along lines of positions, for chains of taps that share their scalars: for
 * each line r, each of its positions i and each lane l
 *
 *   sums[r.vector + i*sumStep + l] += sum over the chains c and their taps k of
 *                                     scalars[r.scalar + c.scalar + (i + k)*spacing] *
 *                                     factors[c.vector + k*factorStep + l]
 *
 * Only the products with begin <= i + k < end are formed. */
typedef struct Chains {
  const THNNOffsets *line;
  int64_t lines, positions; /* positions of each line */
  int64_t begin, end;
  const THNNOffsets *chain;
  int64_t chains;
  int64_t vectorStep; /* from each chain's `vector` to the next one's, or 0 if that differs */
  int vectors;        /* 1 to mostVectors */
  int64_t taps;       /* taps of each chain, at least 1 */
  int64_t spacing, sumStep, factorStep;
  const real *scalars, *factors;
  const real *start; /* or NULL */
  real *sums;
  THNNRanges ahead; /* what a later call reads: all tiles fetch some of it */
} Chains;

/* The transposed sums, for chains of taps over lines of positions: for each row r, each tap k of
 * its chain and each lane l of one vector
 *
 *   sums[r.vector + k*sumStep + l] += sum over the lines n and their positions i of
 *                                     scalars[r.scalar + n.scalar + (i + k)*spacing] *
 *                                     factors[n.vector + i*factorStep + l]
 *
 * Only the products with begin <= i + k < end are formed. */
typedef struct Correlations {
  const THNNOffsets *row;
  int64_t rows;
  int taps; /* taps of each chain, 2 to THNN_CHAIN_TAPS */
  const THNNOffsets *line;
  int64_t lines, positions; /* positions of each line, at least THNN_CHAIN_TAPS */
  int64_t begin, end;
  int64_t spacing, sumStep, factorStep;
  const real *scalars, *factors;
  real *sums;
} Correlations;

typedef struct SimdChains {
  int longestTile[4]; /* the most positions of a line in a tile, for 1 to 4 vectors */
  void (*add)(const Chains *chains);
  void (*correlate)(const Correlations *correlations);
} SimdChains;

#endif
