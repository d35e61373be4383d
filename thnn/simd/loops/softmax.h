/* Softmax, or its logarithm. */
#ifndef THNN_SIMD_SOFTMAX_H
#define THNN_SIMD_SOFTMAX_H

#include <stdbool.h>

#include "simd/loops/pointwise.h"

/* Softmax, or its logarithm, over channels. The channels of a row are contiguous; in a tile,
 * positions are contiguous and the channels of each are `step` apart. Backward takes the forward
 * call's result y. backwardRows writes rows through `run`, except short ones, and backwardTile
 * writes through `put`, unless that is NULL: these may be streaming stores. */
typedef struct SimdSoftmax {
  int64_t tile; /* the most positions of a tile */
  void (*forwardRows)(bool logarithm, int64_t rows, int64_t channels, const real *x, real *y);
  void (*backwardRows)(bool logarithm, int64_t rows, int64_t channels, const real *y,
                       const real *gradOutput, RunMap2 run, real *gradInput);
  void (*forwardTile)(bool logarithm, int64_t channels, int64_t step, int64_t positions,
                      const real *x, real *y);
  void (*backwardTile)(bool logarithm, int64_t channels, int64_t step, int64_t positions,
                       const real *y, const real *gradOutput, Put put, real *gradInput);
} SimdSoftmax;

#endif
