/* Sizes of what products of Fourier transforms sum up, which their error bounds are made of. */
#ifndef TILE_NORMS_H
#define TILE_NORMS_H

#include "definition.h"

/* Whether tiles of 16x16 elements, or of 16 in a line, can have results of this convolution:
 * transforms are two-dimensional, and every element takes part. */
bool haveTiles(const THNNConvolution *g);

/* Adds for each result of such a convolution the sum over image planes of the Euclidean norms of its
 * tile's elements and of the taps, multiplied. Transforms keep norms, so a transform's rounding
 * errors are in proportion to the norm; and by the Cauchy-Schwarz inequality, coefficient by
 * coefficient, no result of a tile has a larger share of the products' errors. For the weight
 * gradient the sum is over tiles, of the norms of elements and of the gradients of the tile's
 * results. */
void addTileNorms(const THNNConvolution *g, const Computation *of, double *size);

#endif
