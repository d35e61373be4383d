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
  /* How many rows, columns and elements each window lies behind the first; NULL where the place of
   * some tap, inside or not, is beyond 32 bits. */
  const int32_t *down, *right, *behind;
  /* Whether along each dimension the first taps lie inside in all windows of the volume, and the
   * last of these taps, packed like an index. */
  bool someCommon;
  int64_t lastCommon;
} THNNTapWindows;

enum { THNN_COMMON_TAPS = 0x80 }; /* along a dimension at most */

/* Regions of planes `width` wide: the number of a region's first element, and how many rows down
 * and columns to the right of it there are in the plane. */
typedef struct THNNCorners {
  int64_t n, width;
  const int32_t *corner, *down, *right;
} THNNCorners;

#endif
