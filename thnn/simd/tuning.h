/* What differs between processors with the same instruction set, and how large the caches are. No
 * other file names a processor or asks the system about it. */
#ifndef THNN_SIMD_TUNING_H
#define THNN_SIMD_TUNING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct THNNTuning {
  int64_t prefetchBytes; /* prefetch distance of loops that are bound by memory */
  bool rowSumsPrefetch;  /* whether softmax prefetches while it sums rows, or only in the map after
                          * it */
  int64_t passingPart; /* a result of two tensors counts 1/passingPart more, for what these displace
                        * from the caches */
  bool splitsVectors; /* whether vectors of 64 bytes are computed in halves: two of 32 bytes take as
                       * long */
  int64_t lastCacheBytes; /* size of the last-level cache that a core shares; 0 if unknown */
} THNNTuning;

/* Filled while the library loads. */
extern THNNTuning THNN_tuning;

#endif
