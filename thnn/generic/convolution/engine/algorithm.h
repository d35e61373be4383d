/* What an algorithm of the convolution engine is, and what its file needs to plan and to run. */
#ifndef THNN_CONVOLUTION_ALGORITHM_H
#define THNN_CONVOLUTION_ALGORITHM_H

#include <assert.h>
#include <string.h>

#include "generic/convolution/engine/engine.h"
#include <THNNSimd.h>
#include "simd/tuning.h"
#include "work/scratch.h"
#include "work/sizes.h"

/* Number of blocks of work that keeps a handful of threads evenly busy. */
enum { ENOUGH_BLOCKS = 8 };

/* A matrix operand of more bytes than this is far: it does not stay in a core's own caches between
 * two uses, so that each use fetches it again. */
enum { FAR_OPERAND_BYTES = 4 << 20 };

/* For THNN_threads, which counts operations on single elements: a cycle of a plan's cost is as long
 * as about so many of these. With 1 to 8, networks were measured to take equally long. */
enum { OPERATIONS_OF_CYCLE = 4 };

/* What a pass reads and writes. The backward pass to the image is the forward pass of the
 * transposed convolution, whose image is the map gradient. */
typedef struct Operands {
  const real *image;
  /* forward */
  const real *weight, *bias; /* bias may be NULL */
  const void *kept;          /* what the algorithm has made from the weights, or NULL */
  real *map;
  Finish finish; /* what is done to the map's results */
  /* backward to the weight */
  const real *gradMap;
  accreal scale;
  real *gradWeight, *gradBias; /* gradBias may be NULL */
} Operands;

/* What the things that algorithms count cost at the instruction set in use. Reproducible calls take
 * the costs of AVX2 on every processor, so that they choose the same algorithms. */
static inline const Costs *costsInUse(void)
{
#if defined(THNN_REPRODUCIBLE)
  return &THNN_(costs)[THNN_SIMD_AVX2];
#elif defined(__aarch64__)
  return &THNN_(costs)[COSTS_NEON];
#else
  const THNNSimdLevel level = THNN_simdLevel();
  if (THNN_tuning.splitsVectors && level != THNN_SIMD_BASELINE)
    return &THNN_(costs)[level == THNN_SIMD_AVX512 ? COSTS_SPLIT : COSTS_AVX2_SPLIT];
  return &THNN_(costs)[(int)level];
#endif
}

/* Sets the cost of a plan from how often it does each of the things that have a cost. */
static inline void setCost(AlgorithmPlan *plan, int things, const double *costs,
                           const double *counts)
{
  plan->cost = 0;
  for (int i = 0; i < things; i++)
    plan->cost += costs[i] * counts[i];
  plan->things = things;
  memcpy(plan->counts, counts, (size_t)things * sizeof *counts);
}

/* The number of threads for the `blocks` independent blocks of a plan whose cost has been set. */
static inline int threadsFor(const AlgorithmPlan *plan, int64_t blocks)
{
  return THNN_threads(plan->state, blocks, OPERATIONS_OF_CYCLE * plan->cost);
}

/* Plans what the geometry in `plan` asks for: cost, threads, bytes of scratch and the algorithm's
 * own plan. Returns whether the algorithm applies and fits into the state's workspace limit. */
typedef bool AlgorithmPlanner(AlgorithmPlan *plan);

/* Computes a pass. Returns false if results are not finite and another algorithm has to compute
 * them; only rows with the flag TRIES may do that. `scratch` is aligned to 64 bytes. */
typedef bool AlgorithmRunner(const AlgorithmPlan *plan, const Operands *of, void *scratch);

/* Makes what the runner is given as `kept` from the weights. `scratch` is as for the runner. */
typedef void AlgorithmKeeper(const AlgorithmPlan *plan, const real *weight, void *kept,
                             void *scratch);

/* A row of the engine's table. */
typedef struct Algorithm {
  const char *name; /* the name of its file */
  AlgorithmPlanner *plan;
  AlgorithmRunner *run;
  AlgorithmKeeper *keep; /* NULL: it keeps nothing */
  int passes;            /* the passes that it computes, a bit for each */
  int family;            /* the algorithm of the public interface that it belongs to */
  int flags;
} Algorithm;

/* An algorithm's own plan is a struct that its file alone knows. */
#define KEEP_OWN(keeping, kept)                                                                    \
  do {                                                                                             \
    static_assert(sizeof(kept) <= sizeof((keeping)->own), "an algorithm's own plan is too large"); \
    memcpy((keeping)->own, &(kept), sizeof(kept));                                                 \
  } while (0)

#define OWN_OF(keeping, kept) memcpy(&(kept), (keeping)->own, sizeof(kept))

/* Sets the plan's scratch; returns whether it fits into the state's workspace limit. */
static inline bool fits(AlgorithmPlan *plan, const Scratch *shared, const Scratch *thread)
{
  plan->sharedBytes = shared->used;
  plan->threadBytes = thread->used;
  return plan->sharedBytes + plan->threadBytes <= THNN_State_workspaceLimit(plan->state);
}

/* A thread's part of a scratch block, after what all threads share. */
static inline Scratch scratchOf(const AlgorithmPlan *plan, void *scratch, int thread)
{
  return (Scratch){.base =
                       (char *)scratch + plan->sharedBytes + (size_t)thread * plan->threadBytes};
}

static inline Scratch threadScratch(const AlgorithmPlan *plan, void *scratch)
{
  return scratchOf(plan, scratch, THNN_threadIndex());
}

/* gradBias += scale * the sums of the map gradient's planes over the batch, sample after sample. */
void THNN_(engine_addMapSums)(const AlgorithmPlan *plan, const Operands *of);

#endif
