/* Sums over regular windows, and the transposed of it: what average pooling and subsampling are
 * made of. Windows have no dilation here. */
#ifndef THNN_GENERIC_WINDOW_SUMS_H
#define THNN_GENERIC_WINDOW_SUMS_H

#include "template.h"
#include "../THNNPooling.h"

/* How either is computed: in blocks of rows, each thread with scratch of its own. */
typedef struct THNN_(WindowSums) {
  const THNNConvolution *geometry;
  THNNConvolution windows; /* the same, cropped */
  THNNPositions whole;     /* windows that lie inside along x */
  THNNBlocks blocks;       /* of output rows forward, of input rows backward */
  int threads;
  size_t rows, sums, phases, threadBytes;
} THNN_(WindowSums);

THNN_(WindowSums)
THNN_(windowSums)(const THNNState *state, const THNNConvolution *geometry, bool backward);

/* sums = what the windows of one output row contain; one element per output column. */
void THNN_(sumWindows)(const THNN_(WindowSums) * work, const real *plane, int64_t outputZ,
                       int64_t outputY, char *scratch, real *sums);

/* The weights of output elements in the backward pass: 1 over the product of a divisor for the
 * output row and one for the column, or no division where `columns` is NULL. */
typedef struct THNN_(WindowDivisors) {
  const real *slices, *rows, *columns;
} THNN_(WindowDivisors);

/* row = what one input row gets when each output element is given to all elements of its window. */
void THNN_(spreadWindows)(const THNN_(WindowSums) * work, const THNN_(WindowDivisors) * divisors,
                          const real *outputPlane, int64_t inputZ, int64_t inputY, char *scratch,
                          real *row);

/* Whether the windows over an input row, not the first, are those over the row before it: then
 * spreadWindows gives the same. */
bool THNN_(sameWindowsOver)(const THNN_(WindowSums) * work, int64_t inputY);

#endif
