/* The engine's parts by every algorithm, compared with the definition. */
#ifndef PARTS_H
#define PARTS_H

#include "generic/convolution/engine/algorithm.h"

#include "definition.h"

/* The largest error, in units of EPSILON times the sum of the terms' sizes; NaN if one is NaN. */
double largestError(const real *result, const double *wanted, const double *size, int64_t n);

/* Runs one part with guarded scratch full of NaN. Returns the result. */
real *compute(const THNNConvolution *g, const Computation *of, THNNState *state,
              THNNConvolutionPlan *plan);

/* Whether a plan's algorithm is one of Winograd's; whether it is the row of this name; the number
 * of its row. */
bool isWinograd(const THNNConvolutionPlan *plan);
bool isRow(const THNNConvolutionPlan *plan, const char *name);
int rowOf(const THNNConvolutionPlan *plan);

/* Compares all parts of a convolution of random elements, by every row of the engine's table. */
void testGeometry(const THNNConvolution *g, THNNState *state);

/* The same by the rows whose names begin with `prefix`, for layers that are large for their sake. Returns the
 * number of parts that there is a row for. */
int testGeometryBy(const char *prefix, const THNNConvolution *g, THNNState *state);

/* Checks that testGeometry met every row in every part that it applies to, rows for any kernel in
 * many of the geometries; and that it met the cases within Winograd's algorithms. */
void checkMet(int geometries);

#endif
