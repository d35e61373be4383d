/* Multi-class margin loss, one class target per sample.
 *   input, gradInput   [batch x] classes
 *   target             batch; without a batch the first element counts
 *   weights            one element for each class that is a target, or none at all
 *   output             one element, or more, of which the first is written
 * With z = max(0, margin - input[target] + input[class]): the loss of a sample is
 * weights[target] / classes * sum of z^p over the other classes, where any p but 1 means 2;
 * output = sum over samples, divided by their number when sizeAverage. */
#include "call/indices.h"
#include "generic/criterion/checks.h"
#include "generic/template.h"

#ifdef THNN_ONCE
THNNClasses THNN_MultiMarginCriterion_shapeCheck(const char *function, THNNShape input,
                                                 THNNShape target, bool anyTargetShape)
{
  THNN_checkDimensions(function, input, 1, 2, "[batch x] classes");
  THNN_elements(function, input);
  if (input.nDimension == 2)
    THNN_checkVector(function, target, input.size[0], "the batch size of input");
  else if (anyTargetShape)
    THNN_checkNotEmpty(function, target);
  else
    THNN_checkDimensions(function, target, 1, 1, "one class");
  return input.nDimension == 2 ? (THNNClasses){input.size[0], input.size[1], 1}
                               : (THNNClasses){1, input.size[0], 1};
}
#endif

/* Checks that targets are classes and that each has a weight. Returns NULL for weights without
 * elements. */
static THTensor *checkValues(const char *function, const THNNState *state, THNNClasses sizes,
                             const THIndexTensor *target, THTensor *weights)
{
  THNN_checkIndices(state, THNN_INDICES(function, target, 3), sizes.batch, TH_INDEX_BASE,
                    sizes.classes - 1 + TH_INDEX_BASE, "classes");
  if (!weights || THTensor_(nElement)(weights) == 0)
    return NULL;
  int64_t greatest = TH_INDEX_BASE - 1;
  for (int64_t i = 0; i < sizes.batch; i++) {
    const int64_t index = THNN_indexAt(target, i);
    greatest = index > greatest ? index : greatest;
  }
  THNN_checkElements(function, THNN_SHAPE(weights, 7), greatest + 1 - TH_INDEX_BASE,
                     "to the last target");
  return weights;
}

/* The sum of the terms of one sample, over all classes but the target. */
static double sampleLoss(int64_t classes, int64_t target, const real *x, real margin, int p)
{
  const real offset = margin - x[target];
  double (*hinge)(int64_t, const real *, real) =
      p == 1 ? THNN_(simd).criterion.hinge : THNN_(simd).criterion.squaredHinge;
  return hinge(target, x, offset) + hinge(classes - target - 1, x + target + 1, offset);
}

void THNN_(MultiMarginCriterion_updateOutput)(THNNState *state, THTensor *input,
                                              THIndexTensor *target, THTensor *output,
                                              bool sizeAverage, int p, THTensor *weights,
                                              accreal margin)
{
  const char *function = "MultiMarginCriterion_updateOutput";
  const THNNClasses sizes = THNN_MultiMarginCriterion_shapeCheck(function, THNN_SHAPE(input, 2),
                                                                 THNN_SHAPE(target, 3), false);
  THNN_checkFirstElement(function, THNN_SHAPE(output, 4));
  weights = checkValues(function, state, sizes, target, weights);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *wanted = THNN_planIn(&plan, target, 3);
  THNNBuffer *out = THNN_planInOut(&plan, output, 4);
  THNNBuffer *factors = weights ? THNN_planIn(&plan, weights, 7) : NULL;
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)sizes.batch * sizeof(double));
  THNN_planAcquire(&plan);

  const real *x = in->data, *w = factors ? factors->data : NULL;
  const int64_t *targets = wanted->data;
  double *losses = scratch->data;
  const int threads = THNN_threads(state, sizes.batch, (double)sizes.batch * (double)sizes.classes);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < sizes.batch; i++) {
    const int64_t class = targets[i] - TH_INDEX_BASE;
    const double loss = sampleLoss(sizes.classes, class, x + i * sizes.classes, (real)margin, p);
    losses[i] = loss * (w ? w[class] : 1);
  }

  double sum = 0;
  for (int64_t i = 0; i < sizes.batch; i++)
    sum += losses[i];
  *(real *)out->data =
      (real)(sum / (double)(sizeAverage ? sizes.classes * sizes.batch : sizes.classes));
  THNN_planRelease(&plan);
}

/* The gradient of `factor` times the sum of one sample. */
static void sampleGradient(const SimdCriterion *loops, int64_t classes, int64_t target,
                           const real *x, real margin, int p, real factor, real *gradInput)
{
  const real offset = margin - x[target];
  double (*addGradient)(int64_t, const real *, real, real, real *) =
      p == 1 ? loops->addHingeGradient : loops->addSquaredHingeGradient;
  THNN_(simd).pointwise.fill(classes, 0, gradInput);
  const double before = addGradient(target, x, offset, factor, gradInput);
  const double after =
      addGradient(classes - target - 1, x + target + 1, offset, factor, gradInput + target + 1);
  gradInput[target] = (real) - (before + after);
}

void THNN_(MultiMarginCriterion_updateGradInput)(THNNState *state, THTensor *input,
                                                 THIndexTensor *target, THTensor *gradInput,
                                                 bool sizeAverage, int p, THTensor *weights,
                                                 accreal margin)
{
  const char *function = "MultiMarginCriterion_updateGradInput";
  const THNNClasses sizes = THNN_MultiMarginCriterion_shapeCheck(function, THNN_SHAPE(input, 2),
                                                                 THNN_SHAPE(target, 3), true);
  weights = checkValues(function, state, sizes, target, weights);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *wanted = THNN_planIn(&plan, target, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *factors = weights ? THNN_planIn(&plan, weights, 7) : NULL;
  THNN_planAcquire(&plan);

  const real *x = in->data, *w = factors ? factors->data : NULL;
  real *y = to->data;
  const int64_t *targets = wanted->data;
  const double norm = 1 / ((double)sizes.classes * (sizeAverage ? (double)sizes.batch : 1));
  const int threads =
      THNN_threads(state, sizes.batch, (double)sizes.batch * (double)sizes.classes * 2);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < sizes.batch; i++) {
    const int64_t class = targets[i] - TH_INDEX_BASE, at = i * sizes.classes;
    sampleGradient(&simdFor(state)->criterion, sizes.classes, class, x + at, (real)margin, p,
                   (real)(norm * (w ? w[class] : 1)), y + at);
  }
  THNN_planRelease(&plan);
}
