/* What the indices of pooling modules mean, for the loops that check and decode many at a time. */
#ifndef THNN_SIMD_WINDOWS_H
#define THNN_SIMD_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

/* `rows` rows of `columns` windows over a volume. Along each of its dimensions, depth first, tap t of
 * the first window lies at start + t*dilation; the next row is strideY further, the next column
 * strideX. */
typedef struct THNNTapWindows {
  int64_t rows, columns, strideY, strideX;
  int64_t start[3], dilation[3], size[3];
  /* How many elements each window lies behind the first; NULL where the place of some tap, inside or
   * not, is beyond 32 bits. */
  const int32_t *behind;
  /* The least and the greatest tap of each window along the rows and columns that lies inside, and
   * of all along the depth, as in an index; at most THNN_LAST_TAP. */
  const uint32_t *least, *most;
  uint32_t leastDepth, mostDepth;
} THNNTapWindows;

enum { THNN_LAST_TAP = 0x7f };

/* Regions of planes `width` wide: the number of a region's first element, and how many rows down
 * and columns to the right of it there are in the plane. */
typedef struct THNNCorners {
  int64_t n, width;
  const int32_t *corner, *down, *right;
} THNNCorners;

/* Neighbouring indices, [begin, end). */
typedef struct THNNSpan {
  int64_t begin, end;
} THNNSpan;

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
