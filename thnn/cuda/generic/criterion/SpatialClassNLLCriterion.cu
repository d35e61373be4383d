/* The twin of generic/criterion/SpatialClassNLLCriterion.c. */
#include "cuda/generic/criterion/classNLL.cuh"
#include "generic/criterion/checks.h"

void THCUNN_(SpatialClassNLLCriterion_updateOutput)(THCState *state, THCTensor *input,
                                                    THCIndexTensor *target, THCTensor *output,
                                                    bool sizeAverage, THCTensor *weights,
                                                    THCTensor *total_weight)
{
  const char *function = "SpatialClassNLLCriterion_updateOutput";
  const THNNClasses sizes = THNN_SpatialClassNLLCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_SHAPE(weights, 6));
  THNN_checkElements(function, THNN_SHAPE(output, 4), 1, "the loss");
  THNN_checkElements(function, THNN_SHAPE(total_weight, 7), 1, "the sum of weights");
  const ClassNLL run = {function, state, input, target, weights, sizes, false, 0};
  classNLLForward(run, output, total_weight, sizeAverage);
}

void THCUNN_(SpatialClassNLLCriterion_updateGradInput)(THCState *state, THCTensor *input,
                                                       THCIndexTensor *target, THCTensor *gradInput,
                                                       bool sizeAverage, THCTensor *weights,
                                                       THCTensor *total_weight)
{
  const char *function = "SpatialClassNLLCriterion_updateGradInput";
  const THNNClasses sizes = THNN_SpatialClassNLLCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_SHAPE(weights, 6));
  THNN_checkElements(function, THNN_SHAPE(gradInput, 4),
                     sizes.batch * sizes.classes * sizes.positions, "like input");
  THNN_checkElements(function, THNN_SHAPE(total_weight, 7), 1, "the sum of weights");
  const ClassNLL run = {function, state, input, target, weights, sizes, false, 0};
  classNLLBackward(run, gradInput, total_weight, sizeAverage);
}
