/* Negative log likelihood of one class target per sample.
 *   input    [batch x] classes: log probabilities
 *   target   batch; without a batch the first element is used
 *   weights  classes, in any shape
 * output = -sum over samples of weights[target] * input[target], total_weight = sum of
 * weights[target]; output is divided by total_weight when sizeAverage. Targets equal to
 * ignore_index do not count.
 * gradInput at the targets = -weights[target], divided by total_weight when sizeAverage. */
#include "call/indices.h"
#include "generic/criterion/checks.h"
#include "generic/criterion/classNLL.h"

#ifdef THNN_ONCE
THNNClasses THNN_ClassNLLCriterion_shapeCheck(const char *function, THNNShape input,
                                              THNNShape target, THNNShape weights)
{
  THNN_checkDimensions(function, input, 1, 2, "[batch x] classes");
  THNN_elements(function, input);
  THNN_checkDimensions(function, target, 1, 1, "batch");
  const bool batched = input.nDimension == 2;
  if (batched)
    THNN_checkSize(function, target, 0, input.size[0], "the batch size of input");
  const THNNClasses sizes = {batched ? input.size[0] : 1, input.size[batched], 1};
  THNN_checkClassWeights(function, weights, sizes.classes);
  return sizes;
}
#endif

/* Checks the targets. Returns the greatest offset in a dense batch x classes tensor of a target
 * that is not ignored; -1 if there is none. */
static int64_t checkTargets(const char *function, const THIndexTensor *target, THNNClasses sizes,
                            int64_t ignored)
{
  const int64_t *value = target->storage->data + target->storageOffset;
  const int64_t last = sizes.classes - 1 + TH_INDEX_BASE;
  int64_t greatest = -1;
  for (int64_t i = 0; i < sizes.batch; i++) {
    const int64_t class = value[i * target->stride[0]];
    if (class == ignored)
      continue;
    if (class < TH_INDEX_BASE || class > last)
      THNN_rejectIndex(THNN_INDICES(function, target, 3), TH_INDEX_BASE, last, "classes", class);
    greatest = i * sizes.classes + class - TH_INDEX_BASE;
  }
  return greatest;
}

void THNN_(ClassNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                           THTensor *output, bool sizeAverage, THTensor *weights,
                                           THTensor *total_weight, int64_t ignore_index)
{
  const char *function = "ClassNLLCriterion_updateOutput";
  const THNNClasses sizes = THNN_ClassNLLCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_SHAPE(weights, 6));
  THNN_checkOneElement(function, THNN_SHAPE(output, 4));
  THNN_checkOneElement(function, THNN_SHAPE(total_weight, 7));
  checkTargets(function, target, sizes, ignore_index);
  const ClassNLL run = {function, state, input, target, weights, sizes, &ignore_index};
  THNN_(classNLL_forward)(&run, output, total_weight, sizeAverage);
}

void THNN_(ClassNLLCriterion_updateGradInput)(THNNState *state, THTensor *input,
                                              THIndexTensor *target, THTensor *gradInput,
                                              bool sizeAverage, THTensor *weights,
                                              THTensor *total_weight, int64_t ignore_index)
{
  const char *function = "ClassNLLCriterion_updateGradInput";
  const THNNClasses sizes = THNN_ClassNLLCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_SHAPE(weights, 6));
  THNN_checkElements(function, THNN_SHAPE(total_weight, 7), 1, "the sum of weights");
  const int64_t greatest = checkTargets(function, target, sizes, ignore_index);
  THNN_checkElements(function, THNN_SHAPE(gradInput, 4), greatest + 1, "to the last target");
  /* The mean over a single sample does not depend on its weight. */
  const bool single = input->nDimension == 1;
  THTensor *factors = single && sizeAverage ? NULL : weights;
  const ClassNLL run = {function, state, input, target, factors, sizes, &ignore_index};
  THNN_(classNLL_backward)(&run, gradInput, total_weight, sizeAverage && !single);
}
