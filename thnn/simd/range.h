/* Neighbouring indices. */
#ifndef THNN_SIMD_RANGE_H
#define THNN_SIMD_RANGE_H

#include <stdint.h>

typedef struct THNNRange {
  int64_t begin, end; /* [begin, end) */
} THNNRange;

#endif
