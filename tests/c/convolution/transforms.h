/* Sizes of what Winograd's algorithm sums up, which its error bounds are made of. */
#ifndef TRANSFORMS_H
#define TRANSFORMS_H

#include "definition.h"

/* The absolute values of one algorithm's matrices along one dimension. `elements` and `fromTaps`
 * make coefficients of the elements that a tile of `side` results sees, and of taps; `results`
 * makes results of coefficients. For weight gradients, `gradients` makes coefficients of a tile of
 * gradients, and `toTaps` makes taps of coefficients. There are as many points as elements; the
 * last point is infinity. */
enum { MOST_SEEN = 6, MOST_NUMBERS = MOST_SEEN * MOST_SEEN };

typedef struct Transforms {
  int side, taps;
  double point[MOST_SEEN - 1];
  double elements[MOST_NUMBERS], fromTaps[MOST_NUMBERS], results[MOST_NUMBERS];
  double gradients[MOST_NUMBERS], toTaps[MOST_NUMBERS];
} Transforms;

/* F(2x2, 3x3), F(4x4, 3x3), F(2x2, 5x5), F(4x4, 2x2) and F(2x2, 2x2), whose matrices makeTransforms
 * derives from the points. */
enum { TRANSFORMS = 5 };
extern Transforms transforms[TRANSFORMS];
void makeTransforms(void);

/* Whether the transforms are for this convolution. */
bool areFor(const Transforms *t, const THNNConvolution *g);

/* Adds for each result of such a convolution the sizes of what the algorithm sums up, products of
 * elements and weights included that occur in the tile but cancel in the result. */
void addTransformedSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                         double *size);

/* Whether a stride of 2 has slices or phases that the transforms are for; adds the sizes of what is
 * summed up for the map, or for the gradient of the image. */
bool areForPhases(const Transforms *t, const THNNConvolution *g);
void addPhaseSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                   double *size);

/* Adds the sizes for the weight gradient: coefficients of each filter are summed up over all tiles
 * first. */
void addTransformedWeightSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                               double *size);

#endif
