/* Sums over planes, which are the gradients of biases. */
#ifndef THNN_CONVOLUTION_PLANE_SUMS_H
#define THNN_CONVOLUTION_PLANE_SUMS_H

#include "generic/template.h"
#include "geometry/convolutionCheck.h"

/* sums[plane] += scale * the sum of a plane over the batch, sample after sample. */
void THNN_(planeSums_add)(const THNNState *state, const THNNPlaneSet *set, const real *x,
                          accreal scale, real *sums);

#endif
