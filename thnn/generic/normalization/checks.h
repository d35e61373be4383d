/* The shape checks of normalizations: untemplated, each in its module's own file, called by both
 * real types and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each
 * check raises, or returns what the function needs to know. */
#ifndef THNN_NORMALIZATION_CHECKS_H
#define THNN_NORMALIZATION_CHECKS_H

#include "call/check.h"
#include "geometry/planes.h"

THNN_PRIVATE THNNPlanes THNN_BatchNormalization_shapeCheck(const char *function, THNNShape input,
                                                           THNNShape gradOutput);

/* Checks a parameter or statistic of the planes. */
THNN_PRIVATE void THNN_BatchNormalization_vectorCheck(const char *function, THNNShape vector,
                                                      int64_t planes, bool optional);

/* What layer normalisation needs to know. */
typedef struct THNNRows {
  int64_t rows, columns;
} THNNRows;

/* Checks of the forward and of the backward call. */
THNN_PRIVATE THNNRows THNN_LayerNormalization_shapeCheck(const char *function, THNNShape input,
                                                         THNNShape weight, THNNShape bias);
THNN_PRIVATE THNNRows THNN_LayerNormalization_backwardCheck(const char *function, THNNShape input,
                                                            THNNShape gradOutput, THNNShape weight,
                                                            THNNShape mean, THNNShape std);

/* Checks input, groups, and gradOutput, weight and bias where they are there. */
THNN_PRIVATE THNNPlanes THNN_GroupNormalization_shapeCheck(const char *function, THNNShape input,
                                                           THNNShape gradOutput, THNNScalar groups,
                                                           THNNShape weight, THNNShape bias);

/* Checks what else the backward call has. */
THNN_PRIVATE void THNN_GroupNormalization_backwardCheck(const char *function, THNNPlanes shape,
                                                        int64_t groups, THNNShape gradWeight,
                                                        THNNShape gradBias, THNNShape mean,
                                                        THNNShape std);

THNN_PRIVATE THNNPlanes THNN_SpatialCrossMapLRN_shapeCheck(const char *function, THNNShape input,
                                                           THNNShape gradOutput, THNNShape scale,
                                                           THNNShape output, THNNScalar size);

#endif
