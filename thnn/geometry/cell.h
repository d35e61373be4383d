/* The shape checks of the fused recurrent cells, GRUFused and LSTMFused. */
#ifndef THNN_GEOMETRY_CELL_H
#define THNN_GEOMETRY_CELL_H

#include "call/check.h"

/* The sizes of a fused recurrent cell. */
typedef struct THNNCell {
  int64_t batch, units;
} THNNCell;

/* Checks GRUFused_updateOutput or LSTMFused_updateOutput: `units` is the tensor of batch x units
 * elements; input and hidden have `gates` times as many. Both biases are given, or neither. */
THNN_API THNNCell THNN_fusedCell_shapeCheck(const char *function, int gates, THNNShape units,
                                            THNNShape input, THNNShape hidden, THNNShape bias1,
                                            THNNShape bias2);

/* `times` times as many elements as `units`. */
THNN_API void THNN_checkCellElements(const char *function, THNNShape shape, int times,
                                     THNNShape units);

#endif
