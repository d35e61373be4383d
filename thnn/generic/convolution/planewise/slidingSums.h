/* Depth-wise convolution of 3x3 and 5x5 taps, dilated or not, and most of it with stride 2: sums stay in
 * registers while the kernel slides down a plane, and nothing is copied to scratch. */
#ifndef THNN_GENERIC_SLIDING_SUMS_H
#define THNN_GENERIC_SLIDING_SUMS_H

#include "generic/convolution/checks.h"
#include "generic/template.h"

/* Whether a pass is computed this way. */
bool THNN_(slidingSums_apply)(const THNNPlaneJoins *joins, THNNConvolutionPart part);

/* result = bias + the convolution of the source; `bias` may be NULL. */
void THNN_(slidingSums_gather)(const THNNState *state, const THNNPlaneJoins *joins,
                               THNNConvolutionPart part, const real *source, const real *weight,
                               const real *bias, real *result);

/* gradWeight += scale * the correlation of image and map; gradBias += scale * the sums of the map,
 * unless gradBias is NULL. */
void THNN_(slidingSums_correlate)(const THNNState *state, const THNNPlaneJoins *joins,
                                  const real *image, const real *map, double scale,
                                  real *gradWeight, real *gradBias);

#endif
