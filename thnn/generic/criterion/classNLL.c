#include "generic/criterion/classNLL.h"

#include "generic/criterion/checks.h"

#ifdef THNN_ONCE
void THNN_checkClassWeights(const char *function, THNNShape weights, int64_t classes)
{
  if (THNN_given(weights) && THNN_elements(function, weights) != classes)
    THNN_rejectShape(function, weights, "%lld elements, one per class", (long long)classes);
}
#endif

/* A walk over the targets of one block. */
typedef struct Walk {
  int64_t target, end;     /* indices of targets */
  int64_t position, place; /* the target's index in its plane; the index of its class 0 in input */
} Walk;

static Walk startWalk(const ClassNLL *run, const THNNBlocks *blocks, int64_t block)
{
  const int64_t target = block * blocks->length;
  const int64_t sample = target / run->sizes.positions, position = target % run->sizes.positions;
  return (Walk){target, target + THNN_blockLength(blocks, block), position,
                sample * run->sizes.classes * run->sizes.positions + position};
}

static void step(const ClassNLL *run, Walk *walk)
{
  walk->target++;
  walk->place++;
  if (++walk->position == run->sizes.positions) {
    walk->position = 0;
    walk->place += (run->sizes.classes - 1) * run->sizes.positions;
  }
}

static bool counts(const ClassNLL *run, int64_t target)
{
  return !run->ignored || target != *run->ignored;
}

/* What one block of targets contributes. */
typedef struct Part {
  double loss, weight;
} Part;

static Part sumBlock(const ClassNLL *run, Walk walk, const real *x, const int64_t *target,
                     const real *weights)
{
  Part part = {0, 0};
  for (; walk.target < walk.end; step(run, &walk)) {
    if (!counts(run, target[walk.target]))
      continue;
    const int64_t class = target[walk.target] - TH_INDEX_BASE;
    const double weight = weights ? weights[class] : 1;
    part.loss -= weight * x[walk.place + class * run->sizes.positions];
    part.weight += weight;
  }
  return part;
}

static int threadsFor(const ClassNLL *run, const THNNBlocks *blocks)
{
  /* Each target causes a read that no prefetcher can predict. */
  return THNN_threads(run->state, blocks->count, (double)blocks->elements * 8);
}

void THNN_(classNLL_forward)(const ClassNLL *run, THTensor *output, THTensor *total_weight,
                             bool sizeAverage)
{
  THTensor *input = run->input, *weights = run->weights;
  THIndexTensor *target = run->target;
  const THNNBlocks blocks = THNN_blocks(run->sizes.batch * run->sizes.positions);

  THNNPlan plan;
  THNN_planStart(&plan, run->function, run->state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *wanted = THNN_planIn(&plan, target, 3);
  THNNBuffer *out = THNN_planInOut(&plan, output, 4);
  THNNBuffer *factors = weights ? THNN_planIn(&plan, weights, 6) : NULL;
  THNNBuffer *total = THNN_planInOut(&plan, total_weight, 7);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)blocks.count * sizeof(Part));
  THNN_planAcquire(&plan);

  Part *parts = scratch->data;
#pragma omp parallel for num_threads(threadsFor(run, &blocks)) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++)
    parts[i] = sumBlock(run, startWalk(run, &blocks, i), in->data, wanted->data,
                        factors ? factors->data : NULL);

  Part sum = {0, 0};
  for (int64_t i = 0; i < blocks.count; i++) {
    sum.loss += parts[i].loss;
    sum.weight += parts[i].weight;
  }
  const bool divide = sizeAverage && sum.weight != 0;
  *(real *)total->data = (real)sum.weight;
  *(real *)out->data = (real)(divide ? sum.loss / sum.weight : sum.loss);
  THNN_planRelease(&plan);
}

static void spreadBlock(const ClassNLL *run, Walk walk, const int64_t *target, const real *weights,
                        double factor, real *gradInput)
{
  for (; walk.target < walk.end; step(run, &walk)) {
    if (!counts(run, target[walk.target]))
      continue;
    const int64_t class = target[walk.target] - TH_INDEX_BASE;
    const double weight = weights ? weights[class] : 1;
    gradInput[walk.place + class * run->sizes.positions] = (real)(weight / -factor);
  }
}

void THNN_(classNLL_backward)(const ClassNLL *run, THTensor *gradInput, THTensor *total_weight,
                              bool divide)
{
  THTensor *weights = run->weights;
  THIndexTensor *target = run->target;
  const THNNBlocks blocks = THNN_blocks(run->sizes.batch * run->sizes.positions);

  THNNPlan plan;
  THNN_planStart(&plan, run->function, run->state);
  THNNBuffer *wanted = THNN_planIn(&plan, target, 3);
  THNNBuffer *to = THNN_planInOut(&plan, gradInput, 4);
  THNNBuffer *factors = weights ? THNN_planIn(&plan, weights, 6) : NULL;
  THNNBuffer *total = THNN_planIn(&plan, total_weight, 7);
  THNN_planAcquire(&plan);

  const double totalWeight = *(const real *)total->data;
  if (totalWeight > 0) {
#pragma omp parallel for num_threads(threadsFor(run, &blocks)) schedule(static)
    for (int64_t i = 0; i < blocks.count; i++)
      spreadBlock(run, startWalk(run, &blocks, i), wanted->data, factors ? factors->data : NULL,
                  divide ? totalWeight : 1, to->data);
  }
  THNN_planRelease(&plan);
}
