/* Sums over regions of planes, forward and backward, from which average pooling and subsampling are
 * made. Narrow planes are summed together, one in each lane of a vector; others row by row, in
 * vectors of neighbouring columns. */
#ifndef THNN_GENERIC_WINDOW_SUMS_H
#define THNN_GENERIC_WINDOW_SUMS_H

#include "generic/template.h"
#include "geometry/adaptive.h"

typedef struct WindowSums {
  THNNRegionSums of;
  bool inLanes;
  int64_t room;      /* in lanes: elements of source and results that fit a strip */
  THNNBlocks blocks; /* row by row: blocks of result rows */
  int threads;
  size_t sharedBytes, threadBytes,
      bytes; /* sizes of scratch: what threads share, what each has, and both for all threads */
} WindowSums;

WindowSums THNN_(windowSums_plan)(const THNNState *state, const THNNRegionSums *of);

/* The caller must first set these, in memory of sums->bytes: along each dimension the spans of all
 * result indices and, with of.divided, the divisors. An element is divided by the product of
 * three. */
THNNRange *THNN_(windowSums_listSpans)(const WindowSums *sums, void *memory, int dimension);
real *THNN_(windowSums_listDivisors)(const WindowSums *sums, void *memory, int dimension);

void THNN_(windowSums_run)(const WindowSums *sums, void *memory, const real *source, real *result);

/* Forward, row = the undivided sums of one row of results. `threadMemory` has
 * sums->threadBytes. */
void THNN_(windowSums_sumRow)(const WindowSums *sums, void *memory, const real *plane, int64_t z,
                              int64_t y, void *threadMemory, real *row);

#endif
