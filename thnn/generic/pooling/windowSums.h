/* Sums over regions of planes, forward and backward: what average pooling and subsampling are made of.
 * Narrow planes are worked on together, as many as a vector has lanes, one in each lane; others row by
 * row, in vectors of neighbouring columns. */
#ifndef THNN_GENERIC_REGION_SUMS_H
#define THNN_GENERIC_REGION_SUMS_H

#include "generic/template.h"
#include "geometry/adaptive.h"

typedef struct THNN_(RegionSums) {
  THNNRegionSums of;
  bool inLanes;
  int64_t room;      /* in lanes: for elements of source and results */
  THNNBlocks blocks; /* row by row: of result rows */
  int threads;
  size_t spans[3], divisors[3], packed, threadsAt, bytes;
  size_t elements, sum, part, rows, threadBytes; /* of each thread */
} THNN_(RegionSums);

THNN_(RegionSums) THNN_(regionSums)(const THNNState *state, const THNNRegionSums *of);

/* What is set first, in memory of sums->bytes: along each dimension, the spans of all result indices
 * and, where elements are divided, the divisors, of which each is divided by the product of its three. */
THNNRange *THNN_(regionSpans)(const THNN_(RegionSums) * sums, void *memory, int dimension);
real *THNN_(regionDivisors)(const THNN_(RegionSums) * sums, void *memory, int dimension);

void THNN_(sumRegions)(const THNN_(RegionSums) * sums, void *memory, const real *source,
                       real *result);

/* Forward, one row of results: the sums, undivided. `scratch` is of sums->threadBytes. */
void THNN_(sumRegionRow)(const THNN_(RegionSums) * sums, void *memory, const real *plane, int64_t z,
                         int64_t y, char *scratch, real *row);

#endif
