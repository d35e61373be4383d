/* Convolutions that join single planes: each connection is one kernel between a plane of the image
 * and a plane of the map. Which planes it joins is said by a table, or follows from its number where
 * every image plane has maps of its own (depth-wise). See geometry/convolution.h for the geometry; of
 * its dimensions height and width are used, without dilation.
 *
 * Work is done on tiles. The source of a tile is copied to scratch with its padding, and with its
 * rows and columns sorted by their remainder after division by the stride: so every tap of the
 * kernel is a shift of the whole tile, and the tile one long row. Where vectors of planes are better
 * than vectors of neighbouring positions, planesInLanes.h does the work. */
#ifndef THNN_GENERIC_PLANE_CONVOLUTION_H
#define THNN_GENERIC_PLANE_CONVOLUTION_H

#include "generic/convolution/checks.h"
#include "generic/template.h"

/* The three functions of a module. Arguments stand where every convolution module has them; `connTable`
 * is #6 (#7 for updateGradInput), NULL for a depth-wise convolution. Connections to planes
 * that there are not are left aside on the side that is written, and rejected on the others. */

/* input #2, output #3, weight #4, bias #5 (may be NULL) */
void THNN_(planesUpdateOutput)(const char *function, THNNState *state, const THNNPlaneJoins *joins,
                               THTensor *input, THTensor *output, THTensor *weight, THTensor *bias,
                               THTensor *connTable);

/* input #2, gradOutput #3, gradInput #4, weight #5 */
void THNN_(planesUpdateGradInput)(const char *function, THNNState *state,
                                  const THNNPlaneJoins *joins, THTensor *input,
                                  THTensor *gradOutput, THTensor *gradInput, THTensor *weight,
                                  THTensor *connTable);

/* input #2, gradOutput #3, gradWeight #4, gradBias #5 (may be NULL) */
void THNN_(planesAccGradParameters)(const char *function, THNNState *state,
                                    const THNNPlaneJoins *joins, THTensor *input,
                                    THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                    THTensor *connTable, accreal scale);

#endif
