/* Depth-wise convolution with a plane in each lane of a vector. A block of planes is transposed
 * into scratch, a band of rows at a time, with its padding. There each tap of each position is one
 * multiplication of whole vectors, however narrow the planes are and whatever the stride is. */
#ifndef THNN_GENERIC_PLANES_IN_LANES_H
#define THNN_GENERIC_PLANES_IN_LANES_H

#include "generic/convolution/checks.h"
#include "generic/template.h"
#include "geometry/axis.h"

/* The plan of a pass. A unit is one row of the map; if the image is computed, a unit is `stride`
 * rows of the image, one of each residue class. */
typedef struct PlanesInLanes {
  const THNNPlaneJoins *joins;
  THNNConvolutionPart part;
  int64_t blocks;            /* blocks of image planes, which have a lane each */
  int64_t residues[2];       /* residue classes of results along an axis */
  int64_t units, bandUnits;  /* units of a plane, and of a band */
  int64_t low[2], extent[2]; /* source rows or columns that unit 0 sees through all classes: the
                              * first one, and their number */
  int64_t sourceStep[2];     /* source rows or columns from one unit to the next */
  int64_t left, pitch;       /* zero columns before the source in scratch; columns from row to
                              * row */
  int64_t shares;            /* parts of the batch, with partial sums of weight gradients */
  int threads;               /* 0: not applicable (use connected.c) */
  size_t sharedBytes, threadBytes, scratchBytes;
} PlanesInLanes;

/* Plans a pass. `threads` is 0 where vectors of neighbouring positions are better. */
PlanesInLanes THNN_(planesInLanes_plan)(const THNNState *state, const THNNPlaneJoins *joins,
                                        THNNConvolutionPart part);

/* result = bias + the convolution of the source, or with `adds` of the joins, result += that; `bias`
 * may be NULL. */
void THNN_(planesInLanes_gather)(const PlanesInLanes *depthwise, const real *source,
                                 const real *weight, const real *bias, real *result, void *scratch);

/* gradWeight += scale * the correlation of image and map; gradBias += scale * the sums of the map,
 * unless gradBias is NULL. */
void THNN_(planesInLanes_correlate)(const PlanesInLanes *depthwise, const real *image,
                                    const real *map, double scale, real *gradWeight, real *gradBias,
                                    void *scratch);

#endif
