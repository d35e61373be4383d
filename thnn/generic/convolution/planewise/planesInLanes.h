/* Depth-wise convolution with a plane in each lane of a vector. A block of planes is transposed into
 * scratch, a band of rows at a time, with its padding; there each tap of each position is one
 * multiplication of whole vectors, however narrow the planes are and whatever the stride is. */
#ifndef THNN_GENERIC_DEPTHWISE_H
#define THNN_GENERIC_DEPTHWISE_H

#include "generic/convolution/checks.h"
#include "generic/template.h"
#include "geometry/axis.h"

/* How a pass is done. Units are the results of a phase: rows of the map, or as many rows of the image
 * as the stride says. */
typedef struct THNN_(Depthwise) {
  const THNNPlaneJoins *joins;
  THNNConvolutionPart part;
  int64_t blocks;            /* of image planes */
  int64_t phases[2];         /* of an axis */
  int64_t units, bandUnits;  /* of an image, of a band */
  int64_t low[2], extent[2]; /* what unit 0 sees of the source in all phases: from, and how far */
  int64_t sourceStep[2];     /* from what a unit sees to what the next one does */
  int64_t left, pitch;       /* of the source in scratch: columns before it, of a row */
  int64_t shares;            /* parts of the batch, whose weight gradients are added at last */
  int threads;               /* 0: this is not the way to do it */
  size_t offsets, factorAt, sums, threadsAt;                    /* in scratch, of all threads */
  size_t source, results, factors, start, partial, threadBytes; /* of each one */
  size_t scratchBytes;
} THNN_(Depthwise);

/* What the pass needs; `threads` is 0 where vectors of neighbouring positions are better. */
THNN_(Depthwise)
THNN_(depthwise)(const THNNState *state, const THNNPlaneJoins *joins, THNNConvolutionPart part);

/* result = bias + what comes from the source; `bias` may be NULL. */
void THNN_(depthwiseGather)(const THNN_(Depthwise) * depthwise, const real *source,
                            const real *weight, const real *bias, real *result, void *scratch);

/* gradWeight += scale * the correlation of image and map, and gradBias += scale * the sums of the map,
 * unless it is NULL. */
void THNN_(depthwiseCorrelate)(const THNN_(Depthwise) * depthwise, const real *image,
                               const real *map, double scale, real *gradWeight, real *gradBias,
                               void *scratch);

#endif
