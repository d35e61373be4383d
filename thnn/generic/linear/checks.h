/* The shape checks of linear layers and lookup tables: untemplated, each in its module's own file,
 * called by both real types and by the CUDA twin. Arguments that a function does not have are
 * THNN_NO_SHAPE. Each check raises, or returns what the function needs to know. */
#ifndef THNN_LINEAR_CHECKS_H
#define THNN_LINEAR_CHECKS_H

#include "call/check.h"

/* What a linear layer needs to know; batch is 0 when there is nothing to compute. */
typedef struct THNNLinear {
  int64_t batch, inputs, outputs;
} THNNLinear;

/* `weight` and `bias` can also be gradWeight and gradBias; `bias` may be NULL. */
THNN_PRIVATE THNNLinear THNN_Linear_shapeCheck(const char *function, THNNShape input,
                                               THNNShape gradOutput, THNNShape weight,
                                               THNNShape bias);

/* What a lookup table needs to know. */
typedef struct THNNTable {
  int64_t indices, rows, columns;
} THNNTable;

/* `weight` can also be gradWeight; `gradOutput` has at least a row for each index. */
THNN_PRIVATE THNNTable THNN_LookupTable_shapeCheck(const char *function, THNNShape indices,
                                                   int mostDimensions, THNNShape weight,
                                                   THNNShape gradOutput);

THNN_PRIVATE THNNTable THNN_LookupTableBag_shapeCheck(const char *function, THNNShape input,
                                                      THNNShape weight, THNNScalar mode);

/* What a linear layer over keys needs to know. The weight is rows x columns; `extra` columns come
 * before those of the outputs. */
typedef struct THNNIndexLinear {
  int64_t keys, batch, rows, columns, outputs, extra;
} THNNIndexLinear;

THNN_PRIVATE THNNIndexLinear THNN_IndexLinear_shapeCheck(const char *function, THNNShape keys,
                                                         THNNShape values, THNNShape sizes,
                                                         THNNShape gradOutput, THNNShape weight,
                                                         THNNShape bias);

/* The check of accGradParameters, which leaves rows and columns 0. */
THNN_PRIVATE THNNIndexLinear THNN_IndexLinear_gradientShapeCheck(
    const char *function, THNNShape keys, THNNShape values, THNNShape sizes, THNNShape gradOutput,
    THNNShape gradBias, THNNShape weight, THNNShape bias);

/* The check of updateParameters, which leaves batch 0. */
THNN_PRIVATE THNNIndexLinear THNN_IndexLinear_updateShapeCheck(const char *function,
                                                               THNNShape gradWeight,
                                                               THNNShape gradBias, THNNShape weight,
                                                               THNNShape bias,
                                                               THNNShape runningKeys);

/* What a linear layer over sparse samples needs to know; batch is 0 unless the input tells it. */
typedef struct THNNSparseLinear {
  int64_t entries, batch, inputs, outputs;
} THNNSparseLinear;

/* `weight` and `bias` can also be gradWeight and gradBias. */
THNN_PRIVATE THNNSparseLinear THNN_SparseLinear_shapeCheck(const char *function, bool legacy,
                                                           THNNShape input, THNNShape weight,
                                                           THNNShape bias);

#endif
