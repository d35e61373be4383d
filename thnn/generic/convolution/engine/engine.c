/* The convolution engine's front: the table of algorithms, the choice of one, and the passes. */
#include "generic/convolution/engine/algorithm.h"
#include "generic/convolution/planeSums.h"

/* ---- The table -------------------------------------------------------------------------------
 *
 * A row is an algorithm: its file; the passes that it computes; the algorithm of the public
 * interface that it belongs to; whether it can keep what it makes from the weights; and what the
 * engine has to know before it asks the algorithm:
 *
 *   LINEAR        it is for the one map position of a linear layer only
 *   ANY_SIZE      it counts nothing that 64 bits may not hold, whatever the padding or the stride
 *   NOT_LINEAR    it is not for linear layers
 *   TRIES         it may find that its results are not finite: another one is planned beside it
 *   ANY_ORDER     it computes with planes in the last dimension, too
 *   LAST_ONLY     it computes with planes in the last dimension only
 *
 * Where two expect the same cost, the upper one is taken. gemm always applies, unless image or map
 * have their planes last. */
enum {
  FORWARD = 1 << THNN_CONVOLUTION_FORWARD,
  DATA = 1 << THNN_CONVOLUTION_BACKWARD_DATA,
  WEIGHT = 1 << THNN_CONVOLUTION_BACKWARD_WEIGHT
};
enum {
  GEMM = 1 << THNN_CONVOLUTION_GEMM,
  DIRECT = 1 << THNN_CONVOLUTION_DIRECT,
  WINOGRAD = 1 << THNN_CONVOLUTION_WINOGRAD,
  WINOGRAD4 = 1 << THNN_CONVOLUTION_WINOGRAD4,
  FFT_TILING = 1 << THNN_CONVOLUTION_FFT_TILING
};
enum { ANY_SIZE = 1, LINEAR = 2, NOT_LINEAR = 4, TRIES = 8, ANY_ORDER = 16, LAST_ONLY = 32 };

/* clang-format off */
#define ALGORITHMS(ROW)                                                            \
  ROW(pointwise,      FORWARD | DATA,          DIRECT,   KEEPS,   0)               \
  ROW(direct,         FORWARD | DATA,          DIRECT,   KEEPS,   ANY_ORDER)       \
  ROW(directWeight,   WEIGHT,                  DIRECT,   NOTHING, 0)               \
  ROW(lines,          FORWARD | DATA,          DIRECT,   NOTHING, NOT_LINEAR)      \
  ROW(linesWeight,    WEIGHT,                  DIRECT,   NOTHING, NOT_LINEAR)      \
  ROW(packedProducts, FORWARD | DATA | WEIGHT, DIRECT,   KEEPS,   NOT_LINEAR)      \
  ROW(linear,         FORWARD | DATA | WEIGHT, GEMM,     NOTHING, LINEAR | ANY_SIZE) \
  ROW(gemm,           FORWARD | DATA | WEIGHT, GEMM,     NOTHING, ANY_SIZE)        \
  ROW(winograd,       FORWARD | DATA,          WINOGRAD, KEEPS,   TRIES)           \
  ROW(winogradWeight, WEIGHT,                  WINOGRAD, NOTHING, TRIES)           \
  ROW(winograd4,      FORWARD | DATA,          WINOGRAD4, KEEPS,  TRIES)           \
  ROW(winograd4Last,  FORWARD,                 WINOGRAD4, KEEPS,  TRIES | LAST_ONLY) \
  ROW(winogradWeight4, WEIGHT,                 WINOGRAD4, NOTHING, TRIES)          \
  ROW(winograd25,     FORWARD | DATA,          WINOGRAD4, KEEPS,  TRIES)           \
  ROW(winogradWeight25, WEIGHT,                WINOGRAD4, NOTHING, TRIES)          \
  ROW(winograd42,     FORWARD | DATA,          WINOGRAD4, KEEPS,  TRIES)           \
  ROW(winogradWeight42, WEIGHT,                WINOGRAD4, NOTHING, TRIES)          \
  ROW(fourier,        FORWARD | DATA,          FFT_TILING, KEEPS, TRIES)           \
  ROW(fourierWeight,  WEIGHT,                  FFT_TILING, NOTHING, TRIES)
/* clang-format on */

#define DECLARE_KEEPS(file) AlgorithmKeeper THNN_(file##_keepWeights);
#define DECLARE_NOTHING(file)
#define DECLARE(file, passes, family, keeps, flags)                                                \
  AlgorithmPlanner THNN_(file##_planConvolution);                                                  \
  AlgorithmRunner THNN_(file##_runConvolution);                                                    \
  DECLARE_##keeps(file)
ALGORITHMS(DECLARE)

#define KEEPER_KEEPS(file) THNN_(file##_keepWeights)
#define KEEPER_NOTHING(file) NULL
#define ROW(file, passes, family, keeps, flags)                                                    \
  {#file,                                                                                          \
   THNN_(file##_planConvolution),                                                                  \
   THNN_(file##_runConvolution),                                                                   \
   KEEPER_##keeps(file),                                                                           \
   passes,                                                                                         \
   family,                                                                                         \
   flags},
static const Algorithm algorithms[] = {ALGORITHMS(ROW)};

enum { ROWS = sizeof algorithms / sizeof *algorithms };

/* ---- Choosing --------------------------------------------------------------------------------
 *
 * Each algorithm estimates its cost; the cheapest is taken. What the things that it counts cost is
 * in costs.c, which benchmarks/fit.py writes. */

/* What decides about a row before its algorithm is asked. */
typedef struct Conditions {
  const char *row; /* the name of the row that is asked for, or NULL */
  int family;      /* otherwise the family that is asked for, or none */
  bool extreme, linear, planesLast;
  bool exclusive; /* beside the family, only gemm is considered, in case the family does not
                   * apply */
} Conditions;

static Conditions conditionsOf(const THNNConvolution *geometry, const THNNState *state,
                               const char *row)
{
  const int family = row ? 0 : 1 << THNN_State_convolutionAlgorithm(state);
  return (Conditions){.row = row,
                      .family = family,
                      .extreme = THNN_convolutionIsExtreme(geometry),
                      .linear = THNN_convolutionIsLinear(geometry),
                      .planesLast = geometry->imageLast || geometry->mapLast,
                      .exclusive = family == GEMM || family == DIRECT};
}

static bool isAsked(const Algorithm *row, const Conditions *conditions)
{
  if (conditions->row)
    return strcmp(conditions->row, row->name) == 0;
  return row->family == conditions->family;
}

static bool isConsidered(const Algorithm *row, const Conditions *conditions, bool asked)
{
  if (conditions->extreme && !(row->flags & ANY_SIZE))
    return false;
  if (conditions->planesLast ? !(row->flags & (ANY_ORDER | LAST_ONLY)) : row->flags & LAST_ONLY)
    return false;
  if (conditions->exclusive && !asked && row->family != GEMM)
    return false;
  if (!conditions->linear)
    return !(row->flags & LINEAR);
  /* The direct algorithms are never the fastest for a linear layer. */
  return row->family != DIRECT || (asked && !(row->flags & NOT_LINEAR));
}

/* Asks a row. Its plan is that of `start` with what the algorithm adds to it. */
static bool planRow(const Algorithm *row, const AlgorithmPlan *start, const Conditions *conditions,
                    AlgorithmPlan *plan)
{
  const bool asked = isAsked(row, conditions);
  if (!(row->passes & 1 << start->part) || !isConsidered(row, conditions, asked))
    return false;
  memcpy(plan, start, offsetof(AlgorithmPlan, own)); /* the algorithm fills `own` itself */
  plan->algorithm = row;
  plan->asked = asked;
  return row->plan(plan);
}

/* Whether a plan is preferred to the best one so far, which may have no algorithm yet. */
static bool isBetter(const AlgorithmPlan *plan, const AlgorithmPlan *best)
{
  if (!best->algorithm || plan->asked != best->asked)
    return !best->algorithm || plan->asked;
  return plan->cost < best->cost;
}

static size_t scratchBytes(const AlgorithmPlan *plan)
{
  return plan->sharedBytes + plan->threadBytes * (size_t)plan->threads;
}

/* Finds the best of the rows with the flag TRIES, or of those without it. The plan has no algorithm
 * if none applies. */
static void chooseAmong(AlgorithmPlan *best, const AlgorithmPlan *start,
                        const Conditions *conditions, int tries)
{
  AlgorithmPlan next;
  best->algorithm = NULL;
  for (const Algorithm *row = algorithms; row < algorithms + ROWS; row++)
    if ((row->flags & TRIES) == tries && planRow(row, start, conditions, &next) &&
        isBetter(&next, best))
      *best = next;
}

/* Chooses among all rows, or takes the row of the given name unless that is NULL or does not
 * apply. */
static void choose(THNNConvolutionPlan *plan, const AlgorithmPlan *settings, const char *name)
{
  const Conditions conditions = conditionsOf(&settings->geometry, settings->state, name);
  AlgorithmPlan *tried = &plan->chosen, *best = &plan->otherwise, start = *settings;
  if (start.part == THNN_CONVOLUTION_BACKWARD_DATA)
    start.geometry = THNN_convolutionTransposed(&settings->geometry);
  chooseAmong(tried, &start, &conditions, TRIES);
  chooseAmong(best, &start, &conditions, 0);
  const bool tries = tried->algorithm && isBetter(tried, best);
  if (tries && start.keeps) { /* only the algorithm that tries keeps something */
    start.keeps = false;
    chooseAmong(best, &start, &conditions, 0);
  }
  plan->kept = NULL;
  if (!best->algorithm) { /* none computes with planes in the last dimension */
    tried->algorithm = NULL;
    return;
  }
  plan->scratchBytes = scratchBytes(best);
  if (!tries)
    *tried = *best;
  else if (scratchBytes(tried) > plan->scratchBytes)
    plan->scratchBytes = scratchBytes(tried);
}

void THNN_(engine_prepare)(THNNConvolutionPlan *plan, const THNNState *state,
                           const THNNConvolution *geometry, THNNConvolutionPart part)
{
  THNN_REPRODUCIBLY(state, engine_prepare, (plan, state, geometry, part))
  const AlgorithmPlan settings = {.geometry = *geometry, .part = part, .state = state};
  choose(plan, &settings, THNN_State_convolutionRow(state));
}

void THNN_(engine_prepareKept)(THNNConvolutionPlan *plan, const THNNState *state,
                               const THNNConvolution *geometry, THNNConvolutionPart part)
{
  THNN_REPRODUCIBLY(state, engine_prepareKept, (plan, state, geometry, part))
  const AlgorithmPlan settings = {
      .geometry = *geometry, .part = part, .state = state, .keeps = true};
  choose(plan, &settings, THNN_State_convolutionRow(state));
}

THNNConvolutionAlgorithm THNN_(engine_algorithm)(const THNNConvolutionPlan *plan)
{
  const int family = plan->chosen.algorithm->family;
  return family == GEMM        ? THNN_CONVOLUTION_GEMM
         : family == DIRECT    ? THNN_CONVOLUTION_DIRECT
         : family == WINOGRAD  ? THNN_CONVOLUTION_WINOGRAD
         : family == WINOGRAD4 ? THNN_CONVOLUTION_WINOGRAD4
                               : THNN_CONVOLUTION_FFT_TILING;
}

double THNN_(engine_cost)(const THNNConvolutionPlan *plan)
{
  return plan->chosen.cost;
}

const char *THNN_(engine_row)(const THNNConvolutionPlan *plan)
{
  return plan->chosen.algorithm->name;
}

bool THNN_(engine_applies)(const THNNConvolutionPlan *plan)
{
  return plan->chosen.algorithm != NULL;
}

bool THNN_(engine_adds)(const THNNConvolutionPlan *plan)
{
  return plan->chosen.adds;
}

const char *THNN_(engine_rowName)(int row)
{
  return row >= 0 && row < ROWS ? algorithms[row].name : NULL;
}

bool THNN_(engine_prepareRow)(THNNConvolutionPlan *plan, const THNNState *state,
                              const THNNConvolution *geometry, THNNConvolutionPart part, int row,
                              bool keeps)
{
  THNN_REPRODUCIBLY_GET(state, engine_prepareRow, (plan, state, geometry, part, row, keeps))
  const AlgorithmPlan settings = {
      .geometry = *geometry, .part = part, .state = state, .keeps = keeps};
  choose(plan, &settings, algorithms[row].name);
  return plan->chosen.algorithm == &algorithms[row];
}

/* ---- The passes ------------------------------------------------------------------------------ */

void THNN_(engine_keep)(const THNNConvolutionPlan *plan, const real *weight, void *kept,
                        void *scratch)
{
  const AlgorithmPlan *chosen = &plan->chosen;
  if (chosen->keptBytes > 0)
    chosen->algorithm->keep(chosen, weight, kept, scratch);
}

/* Finishes a map whose algorithm does not do so. */
static void finishMap(const AlgorithmPlan *plan, const Operands *of)
{
  const THNNConvolution *g = &plan->geometry;
  const int64_t sample = g->outputPlanes * THNN_convolutionMapPositions(g);
  const THNNBlocks blocks = THNN_blocks(sample);
  const int threads =
      THNN_threads(plan->state, g->batch * blocks.count, (double)g->batch * (double)sample);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t i = 0; i < g->batch * blocks.count; i++) {
    const int64_t block = i % blocks.count;
    const int64_t first = i / blocks.count * THNN_convolutionMapSample(g) + block * blocks.length;
    finishResults(of->finish, first, THNN_blockLength(&blocks, block), of->map + first);
  }
}

/* Computes a pass. Returns false if another algorithm has to compute it. */
static bool computeBy(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  if (!plan->algorithm->run(plan, of, scratch))
    return false;
  if (finishes(of->finish) && !plan->finishes)
    finishMap(plan, of);
  return true;
}

static void compute(const THNNConvolutionPlan *plan, const Operands *of, void *scratch)
{
  if (!computeBy(&plan->chosen, of, scratch))
    computeBy(&plan->otherwise, of, scratch);
}

void THNN_(engine_runAndFinish)(const THNNConvolutionPlan *plan, const real *image,
                                const real *weight, const real *bias, Finish finish, real *map,
                                void *scratch)
{
  const Operands of = {.image = image,
                       .weight = weight,
                       .kept = plan->kept,
                       .bias = bias,
                       .map = map,
                       .finish = finish};
  compute(plan, &of, scratch);
}

void THNN_(engine_run)(const THNNConvolutionPlan *plan, const real *image, const real *weight,
                       const real *bias, real *map, void *scratch)
{
  THNN_(engine_runAndFinish)(plan, image, weight, bias, (Finish){0}, map, scratch);
}

void THNN_(engine_backwardWeight)(const THNNConvolutionPlan *plan, const real *image,
                                  const real *gradMap, accreal scale, real *gradWeight,
                                  real *gradBias, void *scratch)
{
  const Operands of = {.image = image,
                       .gradMap = gradMap,
                       .scale = scale,
                       .gradWeight = gradWeight,
                       .gradBias = gradBias};
  compute(plan, &of, scratch);
}

void THNN_(engine_addMapSums)(const AlgorithmPlan *plan, const Operands *of)
{
  const THNNConvolution *g = &plan->geometry;
  const THNNPlaneSet set = {.batch = g->batch,
                            .planes = g->outputPlanes,
                            .positions = THNN_convolutionMapPositions(g),
                            .sample = THNN_convolutionMapSample(g),
                            .step = 1};
  THNN_(planeSums_add)(plan->state, &set, of->gradMap, of->scale, of->gradBias);
}

void THNN_(engine_backwardTransposedBias)(const THNNConvolutionPlan *plan, const real *gradImage,
                                          accreal scale, real *gradBias)
{
  const THNNConvolution *g = &plan->chosen.geometry;
  const THNNPlaneSet set = {.batch = g->batch,
                            .planes = g->inputPlanes,
                            .positions = THNN_convolutionImagePositions(g),
                            .sample = THNN_convolutionImageSample(g),
                            .step = 1};
  THNN_(planeSums_add)(plan->chosen.state, &set, gradImage, scale, gradBias);
}
