/* Convolutions that join single planes: each connection is one kernel between a plane of the image
 * and a plane of the map. A table lists the planes of each connection, or they follow from its
 * number where every image plane has map planes of its own (depth-wise). See geometry/convolution.h
 * for the geometry, of which height and width are used; in each, the stride or the dilation is 1.
 *
 * Work is cut into tiles. The source of a tile is copied to scratch with its padding, and its rows
 * and columns are sorted by their residue classes modulo the stride. Then every tap of the kernel
 * is a shift of the whole tile, which can be treated as one long row. Where vectors of planes are
 * better than vectors of neighbouring positions, planesInLanes.h does the work, and for small kernels
 * without strides slidingSums.h. */
#ifndef THNN_GENERIC_CONNECTED_H
#define THNN_GENERIC_CONNECTED_H

#include "generic/convolution/checks.h"
#include "generic/template.h"

/* The three functions of a module. `connTable` is argument #6 (#7 in updateGradInput), and NULL for
 * a depth-wise convolution. A connection to a plane that does not exist is ignored if that plane is
 * written, and rejected if it is read. */

/* input #2, output #3, weight #4, bias #5 (may be NULL) */
void THNN_(connected_updateOutput)(const char *function, THNNState *state,
                                   const THNNPlaneJoins *joins, THTensor *input, THTensor *output,
                                   THTensor *weight, THTensor *bias, THTensor *connTable);

/* input #2, gradOutput #3, gradInput #4, weight #5 */
void THNN_(connected_updateGradInput)(const char *function, THNNState *state,
                                      const THNNPlaneJoins *joins, THTensor *input,
                                      THTensor *gradOutput, THTensor *gradInput, THTensor *weight,
                                      THTensor *connTable);

/* input #2, gradOutput #3, gradWeight #4, gradBias #5 (may be NULL) */
void THNN_(connected_accGradParameters)(const char *function, THNNState *state,
                                        const THNNPlaneJoins *joins, THTensor *input,
                                        THTensor *gradOutput, THTensor *gradWeight,
                                        THTensor *gradBias, THTensor *connTable, accreal scale);

/* The entries of a table, a row of `columns` elements per connection. */
typedef struct JoinTable {
  const real *entries;
  int64_t columns;
} JoinTable;

/* The computations on dense memory; `part` says what is computed from what, and `table` is NULL for
 * a depth-wise convolution. The scratch has connected_scratchBytes bytes. */
size_t THNN_(connected_scratchBytes)(const THNNState *state, const THNNPlaneJoins *joins,
                                     THNNConvolutionPart part);

/* result = bias + the convolution of the source, or with `adds` of the joins, result += that; `bias`
 * may be NULL. */
void THNN_(connected_gather)(const THNNState *state, const THNNPlaneJoins *joins,
                             THNNConvolutionPart part, const JoinTable *table, const real *source,
                             const real *weight, const real *bias, real *result, void *scratch);

/* gradWeight += scale * the correlation of image and map; gradBias, unless it is NULL, += scale *
 * the sums of the map, or of the image for a transposed convolution. */
void THNN_(connected_correlate)(const THNNState *state, const THNNPlaneJoins *joins,
                                const JoinTable *table, const real *image, const real *map,
                                accreal scale, real *gradWeight, real *gradBias, void *scratch);

#endif
