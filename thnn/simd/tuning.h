/* What differs between processors with the same instruction set, and how large the caches are. No
 * other file names a processor or asks the system about it. */
#ifndef THNN_SIMD_TUNING_H
#define THNN_SIMD_TUNING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct THNNTuning {
  int64_t prefetchBytes; /* prefetch distance of loops that are bound by memory */
  bool rowSumsPrefetch;  /* whether sums of rows prefetch; otherwise the map after them does */
  int64_t passingPart; /* reading two tensors displaces 1/passingPart of a tensor from the caches */
  int64_t lastCacheBytes; /* size of the last-level cache that a core shares; 0 if unknown */
} THNNTuning;

/* Filled while the library loads. */
extern THNNTuning THNN_tuning;

#endif
