#include "generic/convolution/grouped.h"

#include "generic/convolution/engine/algorithm.h"
#include "generic/convolution/planeSums.h"
#include "generic/convolution/checks.h"
#include "work/scratch.h"
#include "work/sizes.h"

#ifdef THNN_ONCE
bool THNN_groupsJoinPlanes(const THNNGroups *groups)
{
  const THNNConvolution *g = &groups->geometry;
  for (int d = 1; d < 3; d++)
    if (g->dilation[d] > 1 && g->stride[d] > 1)
      return false;
  return groups->groups > 1 && g->inputPlanes == 1 && g->kernel[0] == 1 && g->stride[0] == 1 &&
         g->pad[0] == 0 && g->input[0] == 1 && g->output[0] == 1;
}

THNNPlaneJoins THNN_joinsOfGroups(const THNNGroups *groups, int64_t samples)
{
  const THNNConvolution *g = &groups->geometry;
  THNNPlaneJoins joins = {.geometry = *g,
                          .nDimension = groups->nDimension,
                          .transposed = groups->transposed,
                          .connections = groups->groups * g->outputPlanes,
                          .multiplier = g->outputPlanes,
                          .imagePlanes = groups->groups,
                          .mapPlanes = groups->groups * g->outputPlanes};
  joins.geometry.batch = samples;
  joins.geometry.inputPlanes = joins.imagePlanes;
  joins.geometry.outputPlanes = joins.mapPlanes;
  return joins;
}
#endif

/* ---- Sides ----------------------------------------------------------------------------------- */

/* The image or the map: planes of one group, and positions of a plane. */
typedef struct Side {
  int64_t planes, positions;
} Side;

static Side sideOf(const THNNGroupedPlan *plan, bool image)
{
  const THNNConvolution *g = &plan->groups.geometry;
  if (image)
    return (Side){g->inputPlanes, THNN_convolutionImagePositions(g)};
  return (Side){g->outputPlanes, THNN_convolutionMapPositions(g)};
}

/* The groups that one unit computes. */
static int64_t groupsOfUnit(const THNNGroupedPlan *plan)
{
  return plan->planewise ? plan->groups.groups : 1;
}

/* Elements of a chunk's planes that a unit works on. */
static int64_t unitElements(const THNNGroupedPlan *plan, bool image)
{
  const Side side = sideOf(plan, image);
  return plan->samples * groupsOfUnit(plan) * side.planes * side.positions;
}

static int64_t weightElements(const THNNGroupedPlan *plan)
{
  const THNNConvolution *g = &plan->groups.geometry;
  return plan->groups.groups * g->outputPlanes * g->inputPlanes * THNN_convolutionTaps(g);
}

/* A unit: its group, and its place in the batch. */
typedef struct Unit {
  int64_t group, sample;
} Unit;

static Unit unitAt(const THNNGroupedPlan *plan, int64_t number)
{
  return (Unit){number / plan->chunks, number % plan->chunks * plan->samples};
}

/* Where the planes of a unit begin; those of the next sample are sampleStep further on. */
static int64_t unitOffset(const THNNGroupedPlan *plan, Unit unit, bool image)
{
  const Side side = sideOf(plan, image);
  return (unit.sample * plan->groups.groups + unit.group) * side.planes * side.positions;
}

static int64_t sampleStep(const THNNGroupedPlan *plan, bool image)
{
  const Side side = sideOf(plan, image);
  return plan->groups.groups * side.planes * side.positions;
}

/* ---- Planning -------------------------------------------------------------------------------- */

/* Whether the weights are rearranged: flipped, or in the order of planewise/, which counts the
 * kernels of all groups before it counts the next map plane of each. */
static bool rearranges(const THNNGroupedPlan *plan)
{
  return plan->groups.flip || (plan->planewise && plan->groups.geometry.outputPlanes > 1);
}

/* The areas of the scratch; each thread has the last two of its own. */
typedef struct Areas {
  real *weight, *bias;
  real *result; /* the result of a chunk */
  void *unit;
} Areas;

static Areas layOut(const THNNGroupedPlan *plan, Scratch *scratch, int thread)
{
  const bool toImage = plan->part == THNN_CONVOLUTION_BACKWARD_DATA;
  Areas areas = {.result = NULL};
  if (rearranges(plan)) {
    areas.weight = THNN_take(scratch, weightElements(plan), sizeof(real));
    areas.bias = THNN_take(scratch, plan->joins.connections, sizeof(real));
  }
  for (int i = 0; i <= thread; i++) {
    if (plan->copiesResult)
      areas.result = THNN_take(scratch, unitElements(plan, toImage), sizeof(real));
    areas.unit = THNN_take(scratch,
                           (int64_t)(plan->planewise ? THNN_(connected_scratchBytes)(
                                                           &plan->state, &plan->joins, plan->part)
                                                     : plan->convolution.scratchBytes),
                           1);
  }
  return areas;
}

static Areas areasOf(const THNNGroupedPlan *plan, void *memory, int thread)
{
  Scratch scratch = {.base = memory};
  return layOut(plan, &scratch, thread);
}

/* Multiply-adds of the whole computation. */
static double operationsOf(const THNNGroupedPlan *plan)
{
  const THNNConvolution *g = &plan->groups.geometry;
  return (double)g->batch * (double)weightElements(plan) * (double)THNN_convolutionMapPositions(g);
}

/* Plans a unit of this number of samples. */
static void planUnit(THNNGroupedPlan *plan, int64_t samples)
{
  const THNNGroups *groups = &plan->groups;
  plan->samples = samples;
  plan->chunks = groups->geometry.batch / samples;
  if (plan->planewise) {
    plan->joins = THNN_joinsOfGroups(groups, samples);
    plan->joins.adds = plan->add;
    plan->cost =
        costsInUse()->planewise[PLANEWISE_PRODUCT] * operationsOf(plan) / (double)vectorLanes();
    return;
  }
  const bool toImage = plan->part == THNN_CONVOLUTION_BACKWARD_DATA;
  THNNConvolution geometry = groups->geometry;
  geometry.batch = samples;
  if (!plan->copiesResult || !toImage)
    geometry.imageStep = sampleStep(plan, true);
  if (!plan->copiesResult || toImage)
    geometry.mapStep = sampleStep(plan, false);
  THNN_(engine_prepare)(&plan->convolution, &plan->state, &geometry, plan->part);
  const double added = plan->copiesResult ? (double)unitElements(plan, toImage) : 0;
  plan->cost =
      (double)(groups->groups * plan->chunks) *
      (THNN_(engine_cost)(&plan->convolution) + costsInUse()->groups[GROUPS_COPIED] * added);
}

/* The most samples up to `most` that divide the batch. */
static int64_t evenSamples(int64_t batch, int64_t most)
{
  int64_t samples = clamp(most, 1, batch);
  while (batch % samples != 0)
    samples--;
  return samples;
}

/* Chooses the samples of a chunk: all, unless results are computed in scratch; then as many as leave
 * them in half of the workspace. */
static void chooseSamples(THNNGroupedPlan *plan)
{
  const int64_t batch = plan->groups.geometry.batch;
  planUnit(plan, batch);
  if (!plan->add || plan->planewise || THNN_(engine_adds)(&plan->convolution))
    return;
  plan->copiesResult = true;
  const bool toImage = plan->part == THNN_CONVOLUTION_BACKWARD_DATA;
  const int64_t sampleBytes = unitElements(plan, toImage) / batch * (int64_t)sizeof(real);
  planUnit(plan, evenSamples(batch, (int64_t)plan->state.workspaceLimit / 2 / sampleBytes));
}

/* Lets threads share the units, or the work within each unit, whichever leaves fewer threads
 * idle. */
static void chooseThreads(THNNGroupedPlan *plan, const THNNState *state)
{
  /* Units for each thread, so that threads that finish early wait little. */
  enum { ENOUGH_UNITS = 4 };
  const THNNGroups *groups = &plan->groups;
  const THNNConvolution *g = &groups->geometry;
  const int64_t units = groups->groups / groupsOfUnit(plan) * plan->chunks;
  const double operations = operationsOf(plan);
  plan->threads = THNN_blasThreads(state, units, operations);
  plan->unitThreads = 1;
  if (plan->threads > 1 && (units % plan->threads == 0 || units >= ENOUGH_UNITS * plan->threads))
    return;
  plan->threads = 1;
  plan->state.threads = THNN_State_threads(state);
  plan->unitThreads = THNN_threads(state, g->batch, operations);
  planUnit(plan, plan->samples);
}

static THNNConvolutionResult resultOf(const THNNGroups *groups, THNNConvolutionPart part)
{
  if (part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
    return THNN_GRAD_WEIGHT;
  return (part == THNN_CONVOLUTION_FORWARD) == groups->transposed ? THNN_GRAD_INPUT : THNN_OUTPUT;
}

static THNNConvolutionPart partOf(const THNNGroups *groups, THNNConvolutionResult result)
{
  if (result == THNN_GRAD_WEIGHT)
    return THNN_CONVOLUTION_BACKWARD_WEIGHT;
  return (result == THNN_OUTPUT) == groups->transposed ? THNN_CONVOLUTION_BACKWARD_DATA
                                                       : THNN_CONVOLUTION_FORWARD;
}

/* Plans one part of a convolution in groups. `state` may be NULL. With `add`, results are added to
 * what is there, as the gradient of the weight always is. */
static void prepare(THNNGroupedPlan *plan, const THNNState *state, const THNNGroups *groups,
                    THNNConvolutionPart part, bool add)
{
  *plan = (THNNGroupedPlan){
      .groups = *groups, .part = part, .add = add && part != THNN_CONVOLUTION_BACKWARD_WEIGHT};
  plan->state = THNN_stateFor(state, resultOf(groups, part));
  plan->state.threads = 1;
  const THNNConvolutionAlgorithm algorithm = THNN_State_convolutionAlgorithm(&plan->state);
  plan->planewise = THNN_groupsJoinPlanes(groups) &&
                    (algorithm == THNN_CONVOLUTION_AUTO || algorithm == THNN_CONVOLUTION_DIRECT);
  chooseSamples(plan);
  chooseThreads(plan, state);
  Scratch scratch = {.base = NULL};
  layOut(plan, &scratch, plan->threads - 1);
  plan->scratchBytes = scratch.used;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* The place of a kernel, counted group by group, in rearranged weights. */
static int64_t placeOfKernel(const THNNGroupedPlan *plan, int64_t kernel)
{
  const THNNConvolution *g = &plan->groups.geometry;
  if (!plan->planewise)
    return kernel;
  return kernel % g->outputPlanes * plan->groups.groups + kernel / g->outputPlanes;
}

/* Copies one kernel, flipped if kernels are. */
static void copyKernel(const THNNGroupedPlan *plan, const real *from, real *to)
{
  const int64_t taps = THNN_convolutionTaps(&plan->groups.geometry);
  if (plan->groups.flip)
    for (int64_t t = 0; t < taps; t++)
      to[t] = from[taps - 1 - t];
  else
    THNN_(simd).pointwise.copy(taps, from, to);
}

/* Copies the weights to or from the order in which they are used. */
static void rearrange(const THNNGroupedPlan *plan, bool back, const real *from, real *to)
{
  const int64_t taps = THNN_convolutionTaps(&plan->groups.geometry);
  const int64_t kernels = weightElements(plan) / taps;
  for (int64_t kernel = 0; kernel < kernels; kernel++) {
    const int64_t place = placeOfKernel(plan, kernel);
    copyKernel(plan, from + (back ? place : kernel) * taps, to + (back ? kernel : place) * taps);
  }
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Adds a unit's results to the planes that they belong to. */
static void addUnit(const THNNGroupedPlan *plan, Unit unit, bool image, const real *results,
                    real *planes)
{
  real *to = planes + unitOffset(plan, unit, image);
  const int64_t elements = unitElements(plan, image) / plan->samples;
  const int64_t step = sampleStep(plan, image);
#pragma omp parallel for num_threads(plan->unitThreads) schedule(static) if (plan->unitThreads > 1)
  for (int64_t n = 0; n < plan->samples; n++)
    THNN_(simd).pointwise.axpy(elements, 1, results + n * elements, to + n * step);
}

static void gatherUnit(const THNNGroupedPlan *plan, Unit unit, const real *source,
                       const real *weight, const real *bias, real *result, Areas areas)
{
  const bool toImage = plan->part == THNN_CONVOLUTION_BACKWARD_DATA;
  const real *from = source + unitOffset(plan, unit, !toImage);
  real *to = plan->copiesResult ? areas.result : result + unitOffset(plan, unit, toImage);
  if (plan->planewise) {
    THNN_(connected_gather)(&plan->state, &plan->joins, plan->part, NULL, from, weight, bias, to,
                            areas.unit);
    return;
  }
  const real *kernels = weight + unit.group * (weightElements(plan) / plan->groups.groups);
  const real *start = bias ? bias + unit.group * sideOf(plan, toImage).planes : NULL;
  const Finish finish = {.adds = plan->add && !plan->copiesResult};
  THNN_(engine_runAndFinish)(&plan->convolution, from, kernels, start, finish, to, areas.unit);
  if (plan->copiesResult)
    addUnit(plan, unit, toImage, to, result);
}

static void gather(const THNNGroupedPlan *plan, const real *source, const real *weight,
                   const real *bias, real *result, void *scratch)
{
  if (rearranges(plan)) {
    const Areas areas = areasOf(plan, scratch, 0);
    rearrange(plan, false, weight, areas.weight);
    weight = areas.weight;
    if (bias && plan->planewise && plan->part == THNN_CONVOLUTION_FORWARD) {
      for (int64_t i = 0; i < plan->joins.connections; i++)
        areas.bias[placeOfKernel(plan, i)] = bias[i];
      bias = areas.bias;
    }
  }
  const int64_t units = plan->chunks * plan->groups.groups / groupsOfUnit(plan);
  if (plan->threads == 1) {
    const Areas areas = areasOf(plan, scratch, 0);
    for (int64_t i = 0; i < units; i++)
      gatherUnit(plan, unitAt(plan, i), source, weight, bias, result, areas);
    return;
  }
  THNN_blasBegin();
#pragma omp parallel for num_threads(plan->threads) schedule(static)
  for (int64_t i = 0; i < units; i++)
    gatherUnit(plan, unitAt(plan, i), source, weight, bias, result,
               areasOf(plan, scratch, THNN_threadIndex()));
  THNN_blasEnd();
}

/* Adds the gradients of one group's parameters. */
static void correlateGroup(const THNNGroupedPlan *plan, int64_t group, const real *image,
                           const real *map, accreal scale, real *gradWeight, real *gradBias,
                           Areas areas)
{
  const Unit unit = {group, 0};
  real *kernels = gradWeight + group * (weightElements(plan) / plan->groups.groups);
  real *sums = gradBias ? gradBias + group * plan->groups.geometry.outputPlanes : NULL;
  THNN_(engine_backwardWeight)(&plan->convolution, image + unitOffset(plan, unit, true),
                               map + unitOffset(plan, unit, false), scale, kernels, sums,
                               areas.unit);
}

static void correlateAll(const THNNGroupedPlan *plan, const real *image, const real *map,
                         accreal scale, real *gradWeight, real *gradBias, void *scratch)
{
  const Areas areas = areasOf(plan, scratch, 0);
  if (plan->planewise) {
    THNN_(connected_correlate)(&plan->state, &plan->joins, NULL, image, map, scale, gradWeight,
                               gradBias, areas.unit);
    return;
  }
  const int64_t groups = plan->groups.groups;
  if (plan->threads == 1) {
    for (int64_t group = 0; group < groups; group++)
      correlateGroup(plan, group, image, map, scale, gradWeight, gradBias, areas);
    return;
  }
  THNN_blasBegin();
#pragma omp parallel for num_threads(plan->threads) schedule(static)
  for (int64_t group = 0; group < groups; group++)
    correlateGroup(plan, group, image, map, scale, gradWeight, gradBias,
                   areasOf(plan, scratch, THNN_threadIndex()));
  THNN_blasEnd();
}

static void correlate(const THNNGroupedPlan *plan, const real *image, const real *map,
                      accreal scale, real *gradWeight, real *gradBias, void *scratch)
{
  const THNNGroups *groups = &plan->groups;
  /* The engine sums up the planes of a map beside its gradients, in the order of its weights. */
  const bool beside = !groups->transposed && !(plan->planewise && rearranges(plan));
  real *sums = gradWeight;
  if (rearranges(plan)) {
    sums = areasOf(plan, scratch, 0).weight;
    rearrange(plan, false, gradWeight, sums);
  }
  correlateAll(plan, image, map, scale, sums, beside ? gradBias : NULL, scratch);
  if (rearranges(plan))
    rearrange(plan, true, sums, gradWeight);
  if (!gradBias || beside)
    return;
  const Side side = sideOf(plan, groups->transposed);
  const THNNPlaneSet set = {.batch = groups->geometry.batch,
                            .sample = sampleStep(plan, groups->transposed),
                            .planes = groups->groups * side.planes,
                            .step = 1,
                            .positions = side.positions};
  THNN_(planeSums_add)(&plan->state, &set, groups->transposed ? image : map, scale, gradBias);
}

/* ---- The functions of a module --------------------------------------------------------------- */

void THNN_(grouped_updateOutput)(const char *function, THNNState *state, const THNNGroups *groups,
                                 THTensor *input, THTensor *output, THTensor *weight,
                                 THTensor *bias)
{
  THNN_REPRODUCIBLY(state, grouped_updateOutput,
                    (function, state, groups, input, output, weight, bias))
  int64_t size[5];
  const int nDimension = THNN_groupedSizes(groups, groups->transposed, size);
  THNNGroupedPlan grouped;
  prepare(&grouped, state, groups,
          groups->transposed ? THNN_CONVOLUTION_BACKWARD_DATA : THNN_CONVOLUTION_FORWARD, false);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  THNNBuffer *kernels = THNN_planIn(&plan, weight, 4);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 5) : NULL;
  THNNBuffer *scratch = THNN_planScratch(&plan, grouped.scratchBytes);
  THNN_planAcquire(&plan);

  gather(&grouped, in->data, kernels->data, start ? start->data : NULL, out->data, scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(grouped_updateGradInput)(const char *function, THNNState *state,
                                    const THNNGroups *groups, THTensor *gradOutput,
                                    THTensor *gradInput, THTensor *weight, bool add)
{
  THNN_REPRODUCIBLY(state, grouped_updateGradInput,
                    (function, state, groups, gradOutput, gradInput, weight, add))
  int64_t size[5];
  const int nDimension = THNN_groupedSizes(groups, !groups->transposed, size);
  THNNGroupedPlan grouped;
  prepare(&grouped, state, groups,
          groups->transposed ? THNN_CONVOLUTION_FORWARD : THNN_CONVOLUTION_BACKWARD_DATA, add);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 2);
  THNNBuffer *to = add ? THNN_planInOut(&plan, gradInput, 3)
                       : THNN_planOut(&plan, gradInput, 3, nDimension, size);
  THNNBuffer *kernels = THNN_planIn(&plan, weight, 4);
  THNNBuffer *scratch = THNN_planScratch(&plan, grouped.scratchBytes);
  THNN_planAcquire(&plan);

  gather(&grouped, from->data, kernels->data, NULL, to->data, scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(grouped_accGradParameters)(const char *function, THNNState *state,
                                      const THNNGroups *groups, THTensor *input,
                                      THTensor *gradOutput, THTensor *gradWeight,
                                      THTensor *gradBias, accreal scale)
{
  THNN_REPRODUCIBLY(state, grouped_accGradParameters,
                    (function, state, groups, input, gradOutput, gradWeight, gradBias, scale))
  THNNGroupedPlan grouped;
  prepare(&grouped, state, groups, THNN_CONVOLUTION_BACKWARD_WEIGHT, false);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *kernels = THNN_planInOut(&plan, gradWeight, 4);
  THNNBuffer *start = gradBias ? THNN_planInOut(&plan, gradBias, 5) : NULL;
  THNNBuffer *scratch = THNN_planScratch(&plan, grouped.scratchBytes);
  THNN_planAcquire(&plan);

  const real *image = groups->transposed ? from->data : in->data;
  const real *map = groups->transposed ? in->data : from->data;
  correlate(&grouped, image, map, scale, kernels->data, start ? start->data : NULL, scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(grouped_accGradBias)(const char *function, THNNState *state, int nDimension,
                                THTensor *gradOutput, THTensor *gradBias, accreal scale)
{
  const THNNPlaneSet set =
      THNN_biasPlanes(function, nDimension, THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradBias, 5));
  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *start = THNN_planInOut(&plan, gradBias, 5);
  THNN_planAcquire(&plan);

  THNN_(planeSums_add)(state, &set, from->data, scale, start->data);
  THNN_planRelease(&plan);
}

/* ---- What would be chosen -------------------------------------------------------------------- */

void THNN_(GroupedConvolution_plan)(const THNNState *state, int which, bool transposed, bool add,
                                    const int64_t *sizes, THNNConvolutionChoice *choice)
{
  THNN_REPRODUCIBLY(state, GroupedConvolution_plan, (state, which, transposed, add, sizes, choice))
  const char *function = "GroupedConvolution_plan";
  const THNNScalar of = THNN_SCALAR(which, 2);
  THNN_checkAtLeast(function, of, THNN_OUTPUT);
  THNN_checkAtMost(function, of, THNN_GRAD_WEIGHT);
  THNNGroups groups = {.groups = sizes[0], .transposed = transposed, .nDimension = 3};
  THNNConvolution *g = &groups.geometry;
  int64_t *const fields[] = {&g->batch, &g->inputPlanes, &g->outputPlanes};
  int64_t *const spatial[] = {g->input, g->output, g->kernel, g->stride, g->dilation, g->pad};
  for (int i = 0; i < 3; i++)
    *fields[i] = sizes[1 + i];
  for (int i = 0; i < 6; i++)
    for (int d = 0; d < 3; d++)
      spatial[i][d] = sizes[4 + 3 * i + d];
  for (int i = 0; i < 4 + 3 * 5; i++)
    THNN_checkPositive(function, (THNNScalar){"sizes", 5, sizes[i]});
  THNN_dropUnusedDilation(g);
  THNNGroupedPlan plan;
  prepare(&plan, state, &groups, partOf(&groups, (THNNConvolutionResult)which), add);
  choice->algorithm =
      plan.planewise ? THNN_CONVOLUTION_DIRECT : THNN_(engine_algorithm)(&plan.convolution);
  choice->row = plan.planewise ? "planewise" : THNN_(engine_row)(&plan.convolution);
  choice->scratchBytes = plan.scratchBytes;
  choice->cost = plan.cost;
}
