#include "generic/convolution/kept.h"

#include "call/plan.h"
#include "work/scratch.h"
#include "work/threads.h"

/* What a block begins with; the weights follow it. */
typedef struct KeptConvolution {
  THNNKept head;
  THNNConvolution geometry;
  const real *weight; /* its address stands for its contents */
  int threads;        /* threads that a call may use, for which the plan was made */
  THNNState state;    /* the settings, to which the plan refers */
  THNNConvolutionPlan plan;
} KeptConvolution;

/* The threads that a call with much work would use. */
static int threadsOf(const THNNState *state)
{
  return THNN_threads(state, INT64_MAX, (double)INT64_MAX);
}

/* What the state keeps for this convolution; NULL if it keeps nothing, or that of another one. */
static const KeptConvolution *find(const THNNState *state, const THNNConvolution *geometry,
                                   THNNConvolutionPart part, THTensor *weight)
{
  const KeptConvolution *kept =
      (const KeptConvolution *)THNN_keptBy(state, THNN_KEPT_CONVOLUTION, sizeof(real));
  const bool found = kept && kept->plan.chosen.part == part &&
                     kept->weight == THTensor_(data)(weight) &&
                     THNN_convolutionsAreEqual(&kept->geometry, geometry);
  return found ? kept : NULL;
}

const THNNConvolutionPlan *THNN_(kept_prepare)(THNNConvolutionPlan *room, bool *leaves,
                                               const THNNState *state,
                                               const THNNConvolution *geometry,
                                               THNNConvolutionPart part, THTensor *weight)
{
  *leaves = false;
  if (!state->kept || !THTensor_(isContiguous)(weight)) {
    THNN_(engine_prepare)(room, state, geometry, part);
    return room;
  }
  const KeptConvolution *kept = find(state, geometry, part, weight);
  if (kept && kept->threads == threadsOf(state))
    return &kept->plan;
  THNN_(engine_prepareKept)(room, state, geometry, part);
  *leaves = !kept;
  /* A new plan for other threads can use the kept weights: neither the choice of the algorithm nor
   * what it makes from the weights depends on threads. */
  room->kept = kept ? kept->plan.kept : NULL;
  return room;
}

/* A block: the description, and what the algorithm keeps of the weights. */
static KeptConvolution *layOut(const THNNConvolutionPlan *plan, void **weights, Scratch *scratch)
{
  KeptConvolution *kept = THNN_take(scratch, 1, sizeof(KeptConvolution));
  *weights = THNN_take(scratch, (int64_t)plan->chosen.keptBytes, 1);
  return kept;
}

size_t THNN_(kept_bytes)(const THNNConvolutionPlan *plan)
{
  void *weights;
  Scratch needed = {0};
  layOut(plan, &weights, &needed);
  return needed.used;
}

const THNNConvolutionPlan *THNN_(kept_fill)(void *block, const THNNConvolutionPlan *plan,
                                            const THNNState *state, const THNNConvolution *geometry,
                                            const real *weight, void *scratch)
{
  void *weights;
  Scratch whole = {.base = block};
  KeptConvolution *kept = layOut(plan, &weights, &whole);
  *kept = (KeptConvolution){.head = {THNN_KEPT_CONVOLUTION, sizeof(real)},
                            .geometry = *geometry,
                            .weight = weight,
                            .threads = threadsOf(state),
                            .state = *state,
                            .plan = *plan};
  kept->plan.chosen.state = kept->plan.otherwise.state = &kept->state;
  kept->plan.kept = weights;
  THNN_(engine_keep)(&kept->plan, weight, weights, scratch);
  return &kept->plan;
}
