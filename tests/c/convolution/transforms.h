/* Sizes of what Winograd's algorithm sums up, which its error bounds are made of. */
#ifndef TRANSFORMS_H
#define TRANSFORMS_H

#include "definition.h"

/* The absolute values of one algorithm's matrices along one dimension: of the side + 2 elements that a
 * tile of `side` results sees, and of three taps, to coefficients; of coefficients to results; and of
 * F(3, side), which makes weight gradients: of a tile of gradients to coefficients, and of these to
 * taps. */
typedef struct Transforms {
  int side;
  const double *elements, *taps, *results, *gradients, *toTaps;
} Transforms;

/* The algorithms with tiles of 2x2 and of 4x4. */
extern const Transforms TRANSFORMS[2];

/* Whether a convolution is one of 3x3 kernels with stride 1. */
bool isForWinograd(const THNNConvolution *g);

/* Adds for each result of such a convolution the sizes of what the algorithm sums up: also elements
 * times weights that meet in the tile, but not in the result. */
void addTransformedSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                         double *size);

/* Adds the sizes for the weight gradient: coefficients of each filter are summed up over all tiles
 * first. */
void addTransformedWeightSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                               double *size);

#endif
