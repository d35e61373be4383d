/* The twin of generic/criterion/ClassNLLCriterion.c. */
#include "cuda/generic/criterion/classNLL.cuh"
#include "generic/criterion/checks.h"

void THCUNN_(ClassNLLCriterion_updateOutput)(THCState *state, THCTensor *input,
                                             THCIndexTensor *target, THCTensor *output,
                                             bool sizeAverage, THCTensor *weights,
                                             THCTensor *total_weight, int64_t ignore_index)
{
  const char *function = "ClassNLLCriterion_updateOutput";
  const THNNClasses sizes = THNN_ClassNLLCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_SHAPE(weights, 6));
  THNN_checkOneElement(function, THNN_SHAPE(output, 4));
  THNN_checkOneElement(function, THNN_SHAPE(total_weight, 7));
  const ClassNLL run = {function, state, input, target, weights, sizes, true, ignore_index};
  classNLLForward(run, output, total_weight, sizeAverage);
}

void THCUNN_(ClassNLLCriterion_updateGradInput)(THCState *state, THCTensor *input,
                                                THCIndexTensor *target, THCTensor *gradInput,
                                                bool sizeAverage, THCTensor *weights,
                                                THCTensor *total_weight, int64_t ignore_index)
{
  const char *function = "ClassNLLCriterion_updateGradInput";
  const THNNClasses sizes = THNN_ClassNLLCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_SHAPE(weights, 6));
  THNN_checkElements(function, THNN_SHAPE(total_weight, 7), 1, "the sum of weights");
  THNN_checkElements(function, THNN_SHAPE(gradInput, 4), 0, "to the last target");
  /* The mean over a single sample does not depend on its weight. */
  const bool single = input->nDimension == 1;
  THCTensor *factors = single && sizeAverage ? NULL : weights;
  const ClassNLL run = {function, state, input, target, factors, sizes, true, ignore_index};
  classNLLBackward(run, gradInput, total_weight, sizeAverage && !single);
}
