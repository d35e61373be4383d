/* The shape checks of the fused recurrent cells, GRUFused and LSTMFused. */
#ifndef THNN_GEOMETRY_CELL_H
#define THNN_GEOMETRY_CELL_H

#include "call/check.h"

/* What a fused recurrent cell needs to know. */
typedef struct THNNCell {
  int64_t batch, units;
} THNNCell;

/* `units` is the tensor that has batch x units elements; those of GRUFused_updateOutput and
 * LSTMFused_updateOutput with `gates` for each. Both biases or neither. */
THNN_API THNNCell THNN_fusedCell_shapeCheck(const char *function, int gates, THNNShape units,
                                            THNNShape input, THNNShape hidden, THNNShape bias1,
                                            THNNShape bias2);

/* `times` as many elements as `units`. */
THNN_API void THNN_checkCellElements(const char *function, THNNShape shape, int times,
                                     THNNShape units);

#endif
