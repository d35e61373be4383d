/* The shape checks of criterions: untemplated, each in its module's own file, called by both real
 * types and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each
 * raises, or returns what the function needs to know. */
#ifndef THNN_CRITERION_CHECKS_H
#define THNN_CRITERION_CHECKS_H

#include "call/check.h"

/* The check of criterions that compare element by element: target and weights (which may be NULL)
 * have as many elements as input; output has one element. */
THNN_PRIVATE void THNN_elementwiseCriterion_shapeCheck(const char *function, THNNShape input,
                                                       THNNShape target, THNNShape weights,
                                                       THNNShape output);

/* The sizes for a criterion with class targets; `positions` counts the positions of a plane, and is
 * 1 where a sample has one target. */
typedef struct THNNClasses {
  int64_t batch, classes, positions;
} THNNClasses;

/* Weights have one element per class, or are NULL. */
void THNN_checkClassWeights(const char *function, THNNShape weights, int64_t classes);

THNN_PRIVATE THNNClasses THNN_ClassNLLCriterion_shapeCheck(const char *function, THNNShape input,
                                                           THNNShape target, THNNShape weights);

THNN_PRIVATE THNNClasses THNN_SpatialClassNLLCriterion_shapeCheck(const char *function,
                                                                  THNNShape input, THNNShape target,
                                                                  THNNShape weights);

/* Without a batch the target must be a vector, unless anyTargetShape. */
THNN_PRIVATE THNNClasses THNN_MultiMarginCriterion_shapeCheck(const char *function, THNNShape input,
                                                              THNNShape target,
                                                              bool anyTargetShape);

THNN_PRIVATE THNNClasses THNN_MultiLabelMarginCriterion_shapeCheck(const char *function,
                                                                   THNNShape input,
                                                                   THNNShape target,
                                                                   THNNShape isTarget);

typedef struct THNNMixture {
  int64_t batch, centres;
} THNNMixture;

/* `others` are the means, the deviations and the correlation. */
THNN_PRIVATE THNNMixture THNN_GaussianMixture_shapeCheck(const char *function, THNNShape target1,
                                                         THNNShape target2, THNNShape weight,
                                                         const THNNShape others[5]);

/* Checks gradOutput; whether it is one number for all samples. */
THNN_PRIVATE bool THNN_GaussianMixture_gradientIsOne(const char *function, THNNShape gradOutput,
                                                     int64_t batch);

#endif
