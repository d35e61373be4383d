/* The geometry of a weight gradient: sums of products of those elements of an image and of a map
 * that meet through a tap,
 *
 *   sums[m][c][t] = sum over n, p of map[n][m][p] * image[n][c][i]
 *                   with i * spread = p * stride - pad + t * dilation
 *
 * where i, p, t, spread, stride, pad and dilation have one value per dimension. Positions p for
 * which there is no such i inside the image add nothing.
 *
 * The spread of a convolution as such is 1. If image and map are exchanged and the taps reversed,
 * the sums are the same; then the stride is 1, and the spread is what the convolution's stride
 * was. */
#ifndef THNN_CORRELATION_H
#define THNN_CORRELATION_H

#include "geometry/convolution.h"

typedef struct THNNCorrelation {
  THNNConvolution geometry; /* all but the spread */
  int64_t spread[3];        /* distance between the positions that see inside through one tap */
} THNNCorrelation;

THNNCorrelation THNN_correlation(const THNNConvolution *geometry);

/* The same sums with image and map exchanged. Tap t is the given geometry's tap taps - 1 - t. */
THNNCorrelation THNN_correlationExchanged(const THNNConvolution *geometry);

/* The positions that see inside the image through a tap: every spread-th of [begin, end), whose
 * length is a multiple of the spread. */
THNNConvolutionTap THNN_correlationTap(const THNNCorrelation *correlation, int dimension,
                                       int64_t tap);

/* The image index that a position sees through a tap that starts at `start`. */
static inline int64_t THNN_correlationIndex(const THNNCorrelation *correlation, int dimension,
                                            int64_t position, int64_t start)
{
  return (position * correlation->geometry.stride[dimension] + start) /
         correlation->spread[dimension];
}

/* Distance between neighbouring taps through which the same residue class of positions sees inside
 * the image; at most the kernel's size. */
int64_t THNN_correlationTapStep(const THNNCorrelation *correlation, int dimension);

/* Whether the kernel has one tap, stride and spread are 1 and there is no padding, so that map
 * positions are image positions. */
bool THNN_correlationIsPointwise(const THNNCorrelation *correlation);

#endif
