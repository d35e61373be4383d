/* What differs between processors that have one instruction set in common, and how large caches are. No
 * other file names a processor or asks the system about it. */
#ifndef THNN_SIMD_TUNING_H
#define THNN_SIMD_TUNING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct THNNTuning {
  int64_t prefetchBytes; /* how far ahead a loop prefetches that does little else than read */
  bool rowSumsPrefetch;  /* whether sums of rows prefetch; otherwise the map after them does */
  int64_t passingPart; /* of two tensors that are read, one part in so many displaces the result */
  int64_t lastCacheBytes; /* of the last-level cache that a core has a part in; 0: unknown */
} THNNTuning;

/* Filled while the library loads. */
extern THNNTuning THNN_tuning;

#endif
