/* The shape checks of criterions: untemplated, each in its module's own file, called by both real
 * types and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each raises,
 * or returns what the function needs to know. */
#ifndef THNN_CRITERION_CHECKS_H
#define THNN_CRITERION_CHECKS_H

#include "call/check.h"

/* Criterions that compare element by element: as many elements in target and weights (NULL: there
 * are none) as in input; one element in output. */
THNN_API void THNN_elementwiseCriterion_shapeCheck(const char *function, THNNShape input,
                                                   THNNShape target, THNNShape weights,
                                                   THNNShape output);

/* What a criterion with class targets needs to know; positions are those of a plane, or 1. */
typedef struct THNNClasses {
  int64_t batch, classes, positions;
} THNNClasses;

/* As many elements as classes, or NULL. */
THNN_API void THNN_checkClassWeights(const char *function, THNNShape weights, int64_t classes);

THNN_API THNNClasses THNN_ClassNLLCriterion_shapeCheck(const char *function, THNNShape input,
                                                       THNNShape target, THNNShape weights);

THNN_API THNNClasses THNN_SpatialClassNLLCriterion_shapeCheck(const char *function, THNNShape input,
                                                              THNNShape target, THNNShape weights);

/* Without a batch the target is a vector, or may have `anyTargetShape`. */
THNN_API THNNClasses THNN_MultiMarginCriterion_shapeCheck(const char *function, THNNShape input,
                                                          THNNShape target, bool anyTargetShape);

THNN_API THNNClasses THNN_MultiLabelMarginCriterion_shapeCheck(const char *function,
                                                               THNNShape input, THNNShape target,
                                                               THNNShape isTarget);

#endif
