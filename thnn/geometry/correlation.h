/* The geometry of a weight gradient: sums of products of those elements of an image and of a map
 * that meet through a tap,
 *
 *   sums[m][c][t] = sum over n, p of map[n][m][p] * image[n][c][i]
 *                   with i * spread = p * stride - pad + t * dilation
 *
 * where i, p, t, spread, stride, pad and dilation have one value per dimension. Positions p for
 * which there is no such i inside the image add nothing.
 *
 * As a convolution has it, spread is 1. With image and map exchanged and the taps in reverse order
 * the sums are the same; there stride is 1, and spread is the convolution's stride. */
#ifndef THNN_CORRELATION_H
#define THNN_CORRELATION_H

#include "geometry/convolution.h"

typedef struct THNNCorrelation {
  THNNConvolution geometry; /* all but the spread */
  int64_t spread[3];        /* distance between the positions that see inside through one tap */
} THNNCorrelation;

THNNCorrelation THNN_correlation(const THNNConvolution *geometry);

/* The map as the image, the image as the map: tap t is the geometry's tap `taps - 1 - t`. */
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

/* 1x1 kernel, stride and spread 1, no padding: map positions are image positions. */
bool THNN_correlationIsPointwise(const THNNCorrelation *correlation);

#endif
