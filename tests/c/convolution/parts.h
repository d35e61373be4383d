/* The engine's parts by every algorithm, compared with the definition. */
#ifndef PARTS_H
#define PARTS_H

#include "generic/convolution/engine/algorithm.h"

#include "definition.h"

/* Runs one part with guarded scratch full of NaN. Returns the result. */
real *compute(const THNNConvolution *g, const Computation *of, THNNState *state,
              THNNConvolutionPlan *plan);

/* Whether a plan's algorithm is one of Winograd's; is the row of this name; and the row's
 * number. */
bool isWinograd(const THNNConvolutionPlan *plan);
bool isRow(const THNNConvolutionPlan *plan, const char *name);
int rowOf(const THNNConvolutionPlan *plan);

/* Compares all parts of a convolution of random elements, by every row of the engine's table. */
void testGeometry(const THNNConvolution *g, THNNState *state);

/* Checks that testGeometry met every row in every part that it is for, and those for any kernel
 * often; and the cases within Winograd's algorithm. */
void checkMet(int geometries);

#endif
