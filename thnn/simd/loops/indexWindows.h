/* What the indices of pooling modules mean, for the loops that check and decode many at a time. */
#ifndef THNN_SIMD_INDEX_WINDOWS_H
#define THNN_SIMD_INDEX_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "simd/range.h"

/* The windows of `rows` rows of `columns` indices. The window of column i in row r begins at
 * element start[i] + rowStart[r] + firstStart; this can be outside of the plane, so the sum is
 * modulo 2^32. Its two limits are limit[0 or 1][i] | rowLimit[0 or 1][r] | firstLimit[0 or 1]:
 *   for taps    the least and the greatest taps inside, in bytes as in an index; at most
 *               THNN_LAST_TAP
 *   for places  how many rows down and how many columns to the right there are
 * `step` is the number of elements from one tap to the next along the depth, the height and the
 * width. */
typedef struct THNNIndexWindows {
  int64_t rows, columns;
  const int32_t *start, *rowStart;
  const uint32_t *limit[2], *rowLimit[2];
  uint32_t firstStart, firstLimit[2], step[3];
} THNNIndexWindows;

enum { THNN_LAST_TAP = 0x7f };

/* Numbers of 16 bits, for indices that have been checked: `THNN_NO_NUMBER` where an index names
 * nothing. */
enum { THNN_NO_NUMBER = 0xffff };

/* What a loop found among indices. */
typedef enum THNNIndexKind { THNN_ALL_NAME, THNN_SOME_NAME, THNN_SOME_BAD } THNNIndexKind;

/* The taps of a window along one dimension that are inside: `taps` of them, of which the first is
 * at position `first` and has the number `number` for the caller's places. */
typedef struct THNNTapSpan {
  int32_t first, taps, number;
} THNNTapSpan;

/* A vector of spans, one for each lane: how they are arranged, and the length of the longest. */
typedef struct THNNSpanVector {
  enum {
    THNN_NEAR_SPANS, /* each begins less than a vector after the first one */
    THNN_FAR_SPANS,
    THNN_STEPS /* each begins one element after the one before; all have one length, not 0 */
  } kind;
  int64_t most;
} THNNSpanVector;

#endif
