/* What the indices of pooling modules mean, for the loops that check and decode many at a time. */
#ifndef THNN_SIMD_WINDOWS_H
#define THNN_SIMD_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "simd/range.h"

/* The windows of `rows` rows of `columns` indices. That of column i in row r begins at element
 * start[i] + rowStart[r] + firstStart, perhaps one outside, for which the sum has 32 bits all the
 * same. Its limits are the bits of all three, too:
 *   for taps    the least and the greatest that lie inside, in bytes as in an index; at most
 *               THNN_LAST_TAP
 *   for places  how many rows down and how many columns to the right there are
 * From one tap to the next along the depth, the height and the width it is `step` elements. */
typedef struct THNNIndexWindows {
  int64_t rows, columns;
  const int32_t *start, *rowStart;
  const uint32_t *limit[2], *rowLimit[2];
  uint32_t firstStart, firstLimit[2], step[3];
} THNNIndexWindows;

enum { THNN_LAST_TAP = 0x7f };

/* The taps of a window along one dimension that lie inside: `taps` of them from position `first` on,
 * which has a number that the kernel's user gives it. */
typedef struct THNNTapSpan {
  int32_t first, taps, number;
} THNNTapSpan;

/* A vector of spans: how they lie, and the most elements that one of them has. */
typedef struct THNNSpanVector {
  enum {
    THNN_NEAR_SPANS, /* each begins less than a vector behind the first one */
    THNN_FAR_SPANS,
    THNN_STEPS /* each begins one behind the one before it, and all are as long, not empty */
  } kind;
  int64_t most;
} THNNSpanVector;

#endif
