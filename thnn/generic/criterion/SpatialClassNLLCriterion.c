/* Negative log likelihood of one class target per position of a plane.
 *   input    batch x classes x height x width: log probabilities
 *   target   batch x height x width
 *   weights  classes, in any shape
 * output = -sum over positions of weights[target] * input[target], total_weight = sum of
 * weights[target]; output is divided by total_weight when sizeAverage.
 * gradInput at the targets = -weights[target], divided by total_weight when sizeAverage. */
#include "call/indices.h"
#include "generic/criterion/checks.h"
#include "generic/criterion/classNLL.h"

#ifdef THNN_ONCE
THNNClasses THNN_SpatialClassNLLCriterion_shapeCheck(const char *function, THNNShape input,
                                                     THNNShape target, THNNShape weights)
{
  THNN_checkDimensions(function, input, 4, 4, "batch x classes x height x width");
  THNN_elements(function, input);
  const int64_t wanted[] = {input.size[0], input.size[2], input.size[3]};
  THNN_checkSizes(function, target, 3, wanted, "batch x height x width");
  const THNNClasses sizes = {input.size[0], input.size[1], input.size[2] * input.size[3]};
  THNN_checkClassWeights(function, weights, sizes.classes);
  return sizes;
}
#endif

static void checkTargets(const char *function, const THNNState *state, const THIndexTensor *target,
                         THNNClasses sizes)
{
  THNN_checkIndices(state, THNN_INDICES(function, target, 3), sizes.batch * sizes.positions,
                    TH_INDEX_BASE, sizes.classes - 1 + TH_INDEX_BASE, "classes");
}

void THNN_(SpatialClassNLLCriterion_updateOutput)(THNNState *state, THTensor *input,
                                                  THIndexTensor *target, THTensor *output,
                                                  bool sizeAverage, THTensor *weights,
                                                  THTensor *total_weight)
{
  const char *function = "SpatialClassNLLCriterion_updateOutput";
  const THNNClasses sizes = THNN_SpatialClassNLLCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_SHAPE(weights, 6));
  THNN_checkElements(function, THNN_SHAPE(output, 4), 1, "the loss");
  THNN_checkElements(function, THNN_SHAPE(total_weight, 7), 1, "the sum of weights");
  checkTargets(function, state, target, sizes);
  const ClassNLL run = {function, state, input, target, weights, sizes, NULL};
  THNN_(classNLL_forward)(&run, output, total_weight, sizeAverage);
}

void THNN_(SpatialClassNLLCriterion_updateGradInput)(THNNState *state, THTensor *input,
                                                     THIndexTensor *target, THTensor *gradInput,
                                                     bool sizeAverage, THTensor *weights,
                                                     THTensor *total_weight)
{
  const char *function = "SpatialClassNLLCriterion_updateGradInput";
  const THNNClasses sizes = THNN_SpatialClassNLLCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_SHAPE(weights, 6));
  THNN_checkElements(function, THNN_SHAPE(gradInput, 4),
                     sizes.batch * sizes.classes * sizes.positions, "like input");
  THNN_checkElements(function, THNN_SHAPE(total_weight, 7), 1, "the sum of weights");
  checkTargets(function, state, target, sizes);
  const ClassNLL run = {function, state, input, target, weights, sizes, NULL};
  THNN_(classNLL_backward)(&run, gradInput, total_weight, sizeAverage);
}
