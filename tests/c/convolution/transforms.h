/* Sizes of what Winograd's algorithm sums up, which its error bounds are made of. */
#ifndef TRANSFORMS_H
#define TRANSFORMS_H

#include "definition.h"

/* The absolute values of one algorithm's matrices along one dimension: of the elements that a tile
 * of `side` results sees, and of taps, to coefficients; of coefficients to results; and of the
 * algorithm that makes weight gradients: of a tile of gradients to coefficients, and of these to
 * taps. There are as many points as elements, of which the last is infinity. */
enum { MOST_SEEN = 6, MOST_NUMBERS = MOST_SEEN * MOST_SEEN };

typedef struct Transforms {
  int side, taps;
  double point[MOST_SEEN - 1];
  double elements[MOST_NUMBERS], fromTaps[MOST_NUMBERS], results[MOST_NUMBERS];
  double gradients[MOST_NUMBERS], toTaps[MOST_NUMBERS];
} Transforms;

/* F(2x2, 3x3), F(4x4, 3x3), F(2x2, 5x5) and F(4x4, 2x2), whose matrices makeTransforms derives from
 * the points. */
enum { TRANSFORMS = 4 };
extern Transforms transforms[TRANSFORMS];
void makeTransforms(void);

/* Whether they are for a convolution. */
bool areFor(const Transforms *t, const THNNConvolution *g);

/* Adds for each result of such a convolution the sizes of what the algorithm sums up: also elements
 * times weights that meet in the tile, but not in the result. */
void addTransformedSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                         double *size);

/* Adds the sizes for the weight gradient: coefficients of each filter are summed up over all tiles
 * first. */
void addTransformedWeightSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                               double *size);

#endif
