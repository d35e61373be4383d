/* Margin loss with any number of target classes per sample.
 *   input, gradInput   [batch x] classes
 *   target             shape of input: a sample's targets, ended by 0
 *   isTarget           shape of target: 1 for the classes that are targets, 0 for the others
 *   output             one element, or more, of which the first is written
 * The loss of a sample is the sum over its targets t and the classes c that are not targets of
 * max(0, 1 - input[t] + input[c]), divided by the number of classes; output = sum over samples,
 * divided by their number when sizeAverage. */
#include <math.h>

#include "call/indices.h"
#include "generic/criterion/checks.h"
#include "generic/template.h"

#ifdef THNN_ONCE
THNNClasses THNN_MultiLabelMarginCriterion_shapeCheck(const char *function, THNNShape input,
                                                      THNNShape target, THNNShape isTarget)
{
  THNN_checkDimensions(function, input, 1, 2, "[batch x] classes");
  THNN_elements(function, input);
  THNN_checkSizes(function, target, input.nDimension, input.size, "the shape of input");
  if (isTarget.nDimension != THNN_NOT_PRESENT)
    THNN_checkSizes(function, isTarget, input.nDimension, input.size, "the shape of input");
  return input.nDimension == 2 ? (THNNClasses){input.size[0], input.size[1], 1}
                               : (THNNClasses){1, input.size[0], 1};
}
#endif

static void checkTargets(const char *function, const THNNState *state, THNNClasses sizes,
                         const THIndexTensor *target)
{
  THNN_checkIndices(state, THNN_INDICES(function, target, 3), sizes.batch * sizes.classes,
                    TH_INDEX_BASE - 1, sizes.classes - 1 + TH_INDEX_BASE, "classes, 0 at the end");
}

/* A sample's i-th target, from 0; -1 at the end. */
static int64_t targetAt(int64_t classes, const int64_t *targets, int64_t i)
{
  return i < classes ? targets[i] - TH_INDEX_BASE : -1;
}

/* others = the scores, with those of targets replaced by -infinity, which no margin reaches. */
static void maskTargets(int64_t classes, const real *x, const real *isTarget, real *others)
{
  for (int64_t i = 0; i < classes; i++)
    others[i] = isTarget[i] != 0 ? (real)-INFINITY : x[i];
}

/* The same where the targets' marks, which are 0, are to be set. */
static void markTargets(int64_t classes, const real *x, const int64_t *targets, real *mark,
                        real *others)
{
  for (int64_t i = 0; i < classes; i++)
    others[i] = x[i];
  for (int64_t i = 0, t; (t = targetAt(classes, targets, i)) >= 0; i++) {
    mark[t] = 1;
    others[t] = (real)-INFINITY;
  }
}

/* One sample; `others` is in the calling thread's scratch. */
typedef struct Sample {
  int64_t classes;
  const real *x;
  const int64_t *targets;
  const real *others;
} Sample;

static double sampleLoss(const Sample *of)
{
  double loss = 0;
  for (int64_t i = 0, t; (t = targetAt(of->classes, of->targets, i)) >= 0; i++)
    loss += THNN_(simd).criterion.hinge(of->classes, of->others, 1 - of->x[t]);
  return loss;
}

static void sampleGradient(const Sample *of, real factor, real *gradInput)
{
  THNN_(simd).pointwise.fill(of->classes, 0, gradInput);
  for (int64_t i = 0, t; (t = targetAt(of->classes, of->targets, i)) >= 0; i++) {
    const double added = THNN_(simd).criterion.addHingeGradient(of->classes, of->others,
                                                                1 - of->x[t], factor, gradInput);
    gradInput[t] -= (real)added;
  }
}

/* Threads work on whole samples. The numbers of targets are not known; each is taken to be a
 * few. */
static int threadsFor(const THNNState *state, THNNClasses sizes)
{
  return THNN_threads(state, sizes.batch, (double)sizes.batch * (double)sizes.classes * 4);
}

void THNN_(MultiLabelMarginCriterion_updateOutput)(THNNState *state, THTensor *input,
                                                   THIndexTensor *target, THTensor *output,
                                                   THTensor *isTarget, bool sizeAverage)
{
  const char *function = "MultiLabelMarginCriterion_updateOutput";
  const THNNClasses sizes = THNN_MultiLabelMarginCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_NO_SHAPE);
  THNN_checkFirstElement(function, THNN_SHAPE(output, 4));
  checkTargets(function, state, sizes, target);
  const int64_t classes = sizes.classes, room = THNN_wholeLines(classes, sizeof(real));
  const int threads = threadsFor(state, sizes);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *wanted = THNN_planIn(&plan, target, 3);
  THNNBuffer *out = THNN_planInOut(&plan, output, 4);
  THNNBuffer *marks = THNN_planOutLike(&plan, isTarget, 5, input);
  THNNBuffer *lossScratch = THNN_planScratch(&plan, (size_t)sizes.batch * sizeof(double));
  THNNBuffer *rowScratch = THNN_planScratch(&plan, (size_t)(threads * room) * sizeof(real));
  THNN_planAcquire(&plan);

  double *losses = lossScratch->data;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int share = 0; share < threads; share++) {
    const THNNRange samples = THNN_shareOf(sizes.batch, share, threads);
    real *others = (real *)rowScratch->data + share * room;
    THNN_(simd).pointwise.fill((samples.end - samples.begin) * classes, 0,
                               (real *)marks->data + samples.begin * classes);
    for (int64_t i = samples.begin; i < samples.end; i++) {
      const real *x = (const real *)in->data + i * classes;
      const int64_t *targets = (const int64_t *)wanted->data + i * classes;
      markTargets(classes, x, targets, (real *)marks->data + i * classes, others);
      const Sample sample = {classes, x, targets, others};
      losses[i] = sampleLoss(&sample) / (double)classes;
    }
  }

  double sum = 0;
  for (int64_t i = 0; i < sizes.batch; i++)
    sum += losses[i];
  *(real *)out->data = (real)(sizeAverage ? sum / (double)sizes.batch : sum);
  THNN_planRelease(&plan);
}

void THNN_(MultiLabelMarginCriterion_updateGradInput)(THNNState *state, THTensor *input,
                                                      THIndexTensor *target, THTensor *gradInput,
                                                      THTensor *isTarget, bool sizeAverage)
{
  const char *function = "MultiLabelMarginCriterion_updateGradInput";
  const THNNClasses sizes = THNN_MultiLabelMarginCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_SHAPE(isTarget, 5));
  checkTargets(function, state, sizes, target);
  const int64_t classes = sizes.classes, room = THNN_wholeLines(classes, sizeof(real));
  const int threads = threadsFor(state, sizes);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *wanted = THNN_planIn(&plan, target, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *marks = THNN_planIn(&plan, isTarget, 5);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)(threads * room) * sizeof(real));
  THNN_planAcquire(&plan);

  const double norm = 1 / ((double)classes * (sizeAverage ? (double)sizes.batch : 1));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < sizes.batch; i++) {
    const real *x = (const real *)in->data + i * classes;
    real *others = (real *)scratch->data + THNN_threadIndex() * room;
    maskTargets(classes, x, (const real *)marks->data + i * classes, others);
    const Sample sample = {classes, x, (const int64_t *)wanted->data + i * classes, others};
    sampleGradient(&sample, (real)norm, (real *)to->data + i * classes);
  }
  THNN_planRelease(&plan);
}
