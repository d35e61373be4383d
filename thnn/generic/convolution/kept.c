#include "generic/convolution/kept.h"

#include "call/plan.h"
#include "work/scratch.h"
#include "work/threads.h"

/* What a block begins with; the weights follow it, unless another block has them. */
typedef struct KeptConvolution {
  THNNKept head;
  THNNConvolution geometry;
  int threads;     /* threads that a call may use, for which the plan was made */
  THNNState state; /* the settings, to which the plan refers */
  THNNConvolutionPlan plan;
} KeptConvolution;

/* The threads that a call with much work would use. */
static int threadsOf(const THNNState *state)
{
  return THNN_threads(state, INT64_MAX, (double)INT64_MAX);
}

/* The plan for this convolution in a block or in those before it, or NULL. */
static const KeptConvolution *find(const THNNKept *latest, const THNNConvolution *geometry,
                                   THNNConvolutionPart part)
{
  for (; latest; latest = latest->next) {
    const KeptConvolution *kept = (const KeptConvolution *)latest;
    if (kept->plan.chosen.part == part && THNN_convolutionsAreEqual(&kept->geometry, geometry))
      return kept;
  }
  return NULL;
}

/* What a plan keeps of the weights, which does not depend on the sizes of image and map, if a block
 * has it for other sizes; or NULL. */
static const void *sharedWeights(const THNNKept *latest, const THNNConvolution *geometry,
                                 const AlgorithmPlan *plan)
{
  for (; latest; latest = latest->next) {
    const KeptConvolution *kept = (const KeptConvolution *)latest;
    const AlgorithmPlan *other = &kept->plan.chosen;
    if (other->algorithm == plan->algorithm && other->part == plan->part &&
        other->keptBytes == plan->keptBytes &&
        THNN_convolutionLayersAreEqual(&kept->geometry, geometry))
      return kept->plan.kept;
  }
  return NULL;
}

const THNNConvolutionPlan *THNN_(kept_prepare)(THNNConvolutionPlan *room,
                                               LeavingConvolution *leaving, const THNNState *state,
                                               const THNNConvolution *geometry,
                                               THNNConvolutionPart part, THTensor *weight)
{
  const THNNKept *latest;
  *leaving = (LeavingConvolution){.leaves = false};
  if (!THTensor_(isContiguous)(weight) ||
      !THNN_mayKeep(state, THNN_KEPT_CONVOLUTION, sizeof(real), THTensor_(data)(weight), &latest)) {
    THNN_(engine_prepare)(room, state, geometry, part);
    return room;
  }
  const KeptConvolution *kept = find(latest, geometry, part);
  if (kept && kept->threads == threadsOf(state))
    return &kept->plan;
  THNN_(engine_prepareKept)(room, state, geometry, part);
  if (!THNN_(engine_applies)(room))
    return room;
  /* Neither the choice of the algorithm nor what it makes from the weights depends on threads. */
  room->kept = kept ? kept->plan.kept : sharedWeights(latest, geometry, &room->chosen);
  *leaving = (LeavingConvolution){!kept && THNN_hasRoomForKept(latest), latest};
  if (!kept && !leaving->leaves && !room->kept && room->chosen.keptBytes > 0)
    THNN_(engine_prepare)(room, state, geometry, part);
  return room;
}

/* A block: the description, and what the algorithm keeps of the weights, if no other block has
 * it. */
static KeptConvolution *layOut(const THNNConvolutionPlan *plan, void **weights, Scratch *scratch)
{
  KeptConvolution *kept = THNN_take(scratch, 1, sizeof(KeptConvolution));
  *weights = THNN_take(scratch, plan->kept ? 0 : (int64_t)plan->chosen.keptBytes, 1);
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
                                            const LeavingConvolution *leaving,
                                            const THNNState *state, const THNNConvolution *geometry,
                                            const real *weight, void *scratch)
{
  void *weights;
  Scratch whole = {.base = block};
  KeptConvolution *kept = layOut(plan, &weights, &whole);
  *kept = (KeptConvolution){
      .head = {THNN_KEPT_CONVOLUTION, sizeof(real), weight, THNN_(kept_bytes)(plan), leaving->seen},
      .geometry = *geometry,
      .threads = threadsOf(state),
      .state = *state,
      .plan = *plan};
  kept->plan.chosen.state = kept->plan.otherwise.state = &kept->state;
  if (plan->kept)
    return &kept->plan;
  kept->plan.kept = weights;
  THNN_(engine_keep)(&kept->plan, weight, weights, scratch);
  return &kept->plan;
}
