#include "parts.h"

#include <math.h>
#include <stdlib.h>

#include "../check.h"
#include "generic/convolution/engine/panels.h"
#include "tileNorms.h"
#include "transforms.h"

enum { MOST_THREADS = 4, GUARD_BYTES = 256, GUARD = 0xa5 };

/* `bytes` bytes of NaN, and a guard. */
static unsigned char *newGuarded(size_t bytes)
{
  unsigned char *block = aligned_alloc(64, (bytes + GUARD_BYTES + 63) / 64 * 64);
  memset(block, 0xff, bytes);
  memset(block + bytes, GUARD, GUARD_BYTES);
  return block;
}

static void freeGuarded(unsigned char *block, size_t bytes)
{
  for (int i = 0; i < GUARD_BYTES; i++)
    CHECK(block[bytes + (size_t)i] == GUARD);
  free(block);
}

/* Stands in for the algorithm that computes again what the chosen one gives up. */
static const Algorithm *secondAlgorithm;
static bool gaveUp;

static bool computeAgain(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  gaveUp = true;
  return secondAlgorithm->run(plan, of, scratch);
}

real *compute(const THNNConvolution *g, const Computation *of, THNNState *state,
              THNNConvolutionPlan *plan)
{
  if (of->keeps)
    THNN_(engine_prepareKept)(plan, state, g, of->part);
  else
    THNN_(engine_prepare)(plan, state, g, of->part);
  const size_t keptBytes = plan->chosen.keptBytes;
  CHECK(of->keeps || keptBytes == 0);
  unsigned char *block = newGuarded(plan->scratchBytes), *kept = newGuarded(keptBytes);
  if (keptBytes > 0) {
    THNN_(engine_keep)(plan, of->weight, kept, block);
    plan->kept = kept;
    memset(block, 0xff, plan->scratchBytes);
  }
  Algorithm again = *plan->otherwise.algorithm;
  secondAlgorithm = plan->otherwise.algorithm;
  again.run = computeAgain;
  plan->otherwise.algorithm = &again;
  gaveUp = false;
  real *result = newArray(of->results);
  if (of->part != THNN_CONVOLUTION_BACKWARD_WEIGHT) {
    const bool forward = of->part == THNN_CONVOLUTION_FORWARD, adds = of->finish.adds;
    if (adds)
      memcpy(result, of->finish.addend, (size_t)of->results * sizeof(real));
    THNN_(engine_runAndFinish)
    (plan, forward ? of->image : of->map, of->weight, of->bias,
     adds ? (Finish){.adds = true} : of->finish, result, block);
  } else {
    memset(result, 0, (size_t)of->results * sizeof(real));
    real *bias = of->results > weightSize(g) ? result + weightSize(g) : NULL;
    THNN_(engine_backwardWeight)(plan, of->image, of->map, 1, result, bias, block);
  }
  plan->otherwise.algorithm = secondAlgorithm;
  freeGuarded(block, plan->scratchBytes);
  freeGuarded(kept, keptBytes);
  plan->kept = NULL;
  return result;
}

double largestError(const real *result, const double *wanted, const double *size, int64_t n)
{
  double largest = 0;
  for (int64_t i = 0; i < n; i++) {
    const double error = fabs(result[i] - wanted[i]) / (EPSILON * size[i] + DBL_MIN);
    if (!(error <= largest) && !isnan(largest))
      largest = error;
  }
  return largest;
}

enum { MOST_ROWS = 24 };

/* How often the tests met: each row of the engine's table in each part; Winograd's algorithms
 * without [0] and with [1] weights that are transformed once for all tiles, in a weight gradient
 * with several shares; weight gradients of theirs that do not keep their results; plans that keep
 * something of the weights. */
static int met[3][MOST_ROWS], metWinograd[3][2], metUnkept, metKept;

bool isWinograd(const THNNConvolutionPlan *plan)
{
  return strncmp(plan->chosen.algorithm->name, "winograd", strlen("winograd")) == 0;
}

static bool isFourier(const THNNConvolutionPlan *plan)
{
  return strncmp(plan->chosen.algorithm->name, "fourier", strlen("fourier")) == 0;
}

/* Kinds of sizes: the definition's; from 1 on those of `transforms`; those of tiles' norms. */
enum { NORMS = TRANSFORMS + 1, KINDS_OF_SIZES };

/* The sizes of what the plan's algorithm sums up: sizes[0] of the definition, for one of Winograd's
 * algorithms those of its `transforms`, and sizes[NORMS] for Fourier transforms. `names` has the ends
 * of Winograd's algorithms' names. */
static const double *sizeFor(const THNNConvolutionPlan *plan, double *const *sizes)
{
  static const char *const names[TRANSFORMS] = {"", "4", "25", "42", "22"};
  const char *name = plan->chosen.algorithm->name, *end = name + strcspn(name, "0123456789");
  const THNNConvolution *g = &plan->chosen.geometry;
  if (!*end && divideUp(g->kernel[1], g->stride[1]) == 2)
    end = "22";
  if (isFourier(plan))
    return sizes[NORMS];
  int i = 0;
  while (isWinograd(plan) && strcmp(end, names[i++]) != 0) {
  }
  return sizes[i];
}

bool isRow(const THNNConvolutionPlan *plan, const char *name)
{
  return strcmp(plan->chosen.algorithm->name, name) == 0;
}

int rowOf(const THNNConvolutionPlan *plan)
{
  int row = 0;
  while (!isRow(plan, THNN_(engine_rowName)(row)))
    row++;
  return row;
}

static void meet(const THNNConvolution *g, const THNNConvolutionPlan *plan)
{
  const THNNConvolutionPart part = plan->chosen.part;
  met[part][rowOf(plan)]++;
  if (!isWinograd(plan))
    return;
  /* What one share of a weight gradient keeps; what it needs besides is small. */
  const SimdProducts *loops = &THNN_(simd).products;
  const int64_t lanes =
      panelCountOf(loops, g->outputPlanes) * mostPanelLanesOf(loops, g->outputPlanes);
  const size_t share = (size_t)(g->inputPlanes * product(g->kernel) * lanes) * sizeof(real);
  const size_t shared = plan->chosen.sharedBytes;
  metUnkept += part == THNN_CONVOLUTION_BACKWARD_WEIGHT && shared < share;
  metWinograd[part][part == THNN_CONVOLUTION_BACKWARD_WEIGHT ? shared > share * 2 : shared > 0]++;
}

/* Whether scratch stays within the limit, which is for each thread. The room in which matrix
 * products pack their operands does not count; gemm has such room where BLAS is not used. */
static bool isWithinLimit(const AlgorithmPlan *plan, const THNNState *state)
{
  const char *name = plan->algorithm->name;
  const bool products = !strcmp(name, "packedProducts") || !strcmp(name, "linear") ||
                        (THNN_State_reproducible(state) && !strcmp(name, "gemm"));
  return (products ? 0 : plan->threadBytes) + plan->sharedBytes <= THNN_State_workspaceLimit(state);
}

/* Whether finishing results in the run gives what a pass over `results` gives. */
static bool finishesAlike(const THNNConvolution *g, const Computation *of, const real *results,
                          THNNState *state)
{
  real *addend = newRandom(of->results);
  Computation finished = *of;
  finished.finish =
      (Finish){.addend = randomBetween(0, 2) ? addend : NULL, .rectifies = randomBetween(0, 2)};
  THNNConvolutionPlan plan;
  THNN_State_setThreads(state, (int)randomBetween(1, MOST_THREADS));
  real *found = compute(g, &finished, state, &plan);
  bool same = true;
  for (int64_t i = 0; i < of->results; i++) {
    const real sum = finished.finish.addend ? results[i] + addend[i] : results[i];
    const real wanted = finished.finish.rectifies && !(sum > 0) ? 0 : sum;
    same = same && !memcmp(&wanted, &found[i], sizeof wanted);
  }
  free(addend);
  free(found);
  return same;
}

/* Whether a run that adds to its results gives the sum of these and of what a run without a bias
 * writes, within an error bound, since sums of many terms are added part by part; `size` is the
 * size of what is summed up for each result. */
static bool addsAlike(const THNNConvolution *g, const Computation *of, const double *size,
                      THNNState *state)
{
  THNNConvolutionPlan plan;
  Computation adding = *of;
  adding.bias = NULL;
  real *apart = compute(g, &adding, state, &plan), *start = newArray(of->results);
  for (int64_t i = 0; i < of->results; i++)
    start[i] = (real)(i % 7 - 3);
  adding.finish = (Finish){.addend = start, .adds = true};
  real *found = compute(g, &adding, state, &plan);
  bool alike = true;
  for (int64_t i = 0; i < of->results; i++)
    alike = alike && fabs((double)found[i] - start[i] - apart[i]) <=
                         16 * EPSILON * (size[i] + fabs((double)start[i]));
  free(start);
  free(apart);
  free(found);
  return alike;
}

/* Samples of `sample` elements each, with NaN between them, or nothing else. */
static real *spreadOut(const real *x, int64_t batch, int64_t sample, int64_t step)
{
  real *spread = newArray(batch * step);
  for (int64_t i = 0; i < batch * step; i++)
    spread[i] = x && i % step < sample ? x[i / step * sample + i % step] : (real)NAN;
  return spread;
}

/* Whether the gradients of weight and bias have the bits of `results` with samples that lie apart. */
static bool correlatesApart(const THNNConvolutionPlan *plan, const Computation *of,
                            const real *image, const real *map, const real *results)
{
  real *found = newArray(of->results);
  memset(found, 0, (size_t)of->results * sizeof(real));
  unsigned char *block = newGuarded(plan->scratchBytes);
  real *bias = found + weightSize(&plan->chosen.geometry);
  THNN_(engine_backwardWeight)(plan, image, map, 1, found, bias, block);
  freeGuarded(block, plan->scratchBytes);
  const bool alike = !memcmp(found, results, (size_t)of->results * sizeof(real));
  free(found);
  return alike;
}

/* Whether a map or the gradient of an image has the bits of `results`, rectified or not, with
 * samples of `sample` elements that lie `step` elements apart. Nothing is written between them. */
static bool gathersApart(const THNNConvolutionPlan *plan, const Computation *of, const real *source,
                         const real *results, int64_t sample, int64_t step)
{
  const int64_t batch = plan->chosen.geometry.batch;
  const Finish finish = {.rectifies = randomBetween(0, 1)};
  real *found = spreadOut(NULL, batch, sample, step);
  unsigned char *block = newGuarded(plan->scratchBytes);
  THNN_(engine_runAndFinish)(plan, source, of->weight, of->bias, finish, found, block);
  freeGuarded(block, plan->scratchBytes);
  bool alike = true;
  for (int64_t i = 0; i < batch * step; i++) {
    const int64_t place = i % step;
    const real result = place < sample ? results[i / step * sample + place] : (real)NAN;
    const real wanted = finish.rectifies && !(result > 0) && place < sample ? 0 : result;
    alike =
        alike && (place < sample ? !memcmp(&found[i], &wanted, sizeof wanted) : isnan(found[i]));
  }
  free(found);
  return alike;
}

/* Whether samples that lie apart get the bits of `results`. */
static bool liesApartAlike(const THNNConvolution *g, const Computation *of, const real *results,
                           THNNState *state)
{
  enum { GAP = 37 };
  const int64_t imageSample = imageSize(g) / g->batch, mapSample = mapSize(g) / g->batch;
  THNNConvolution apart = *g;
  apart.imageStep = imageSample + GAP;
  apart.mapStep = mapSample + GAP;
  real *image = spreadOut(of->image, g->batch, imageSample, apart.imageStep);
  real *map = spreadOut(of->map, g->batch, mapSample, apart.mapStep);
  THNNConvolutionPlan plan;
  THNN_(engine_prepare)(&plan, state, &apart, of->part);
  const bool alike = of->part == THNN_CONVOLUTION_BACKWARD_WEIGHT
                         ? correlatesApart(&plan, of, image, map, results)
                     : of->part == THNN_CONVOLUTION_FORWARD
                         ? gathersApart(&plan, of, image, results, mapSample, apart.mapStep)
                         : gathersApart(&plan, of, map, results, imageSample, apart.imageStep);
  free(image);
  free(map);
  return alike;
}

/* `sizes` are the sizes of what the algorithms sum up for each result (sizeFor). Returns the result. */
static real *testAlgorithm(const THNNConvolution *g, const Computation *of, const double *wanted,
                           double *const *sizes, THNNState *state)
{
  THNNConvolutionPlan plan;
  THNN_State_setThreads(state, 1);
  real *first = compute(g, of, state, &plan);
  CHECK(!gaveUp); /* as it would if it read scratch that nobody wrote, of NaN */
  if (!of->keeps)
    meet(g, &plan);
  metKept += plan.chosen.keptBytes > 0;
  const double error = largestError(first, wanted, sizeFor(&plan, sizes), of->results);
  CHECK(error < 16);
  CHECK(isWithinLimit(&plan.chosen, state) && isWithinLimit(&plan.otherwise, state));
  bool same = true;
  for (int threads = 2; threads <= MOST_THREADS; threads++) {
    THNN_State_setThreads(state, threads);
    real *other = compute(g, of, state, &plan);
    same = same && !memcmp(first, other, (size_t)of->results * sizeof(real));
    free(other);
  }
  CHECK(same);
  const bool adds = plan.chosen.adds && !of->keeps;
  const bool alike = (of->keeps || liesApartAlike(g, of, first, state)) &&
                     (of->part == THNN_CONVOLUTION_BACKWARD_WEIGHT ||
                      (finishesAlike(g, of, first, state) &&
                       (!adds || addsAlike(g, of, sizeFor(&plan, sizes), state))));
  CHECK(alike);
  if (!(error < 16) || !same || !alike) {
    printf("part %d, algorithm %s, error %g\n", (int)of->part, plan.chosen.algorithm->name, error);
    printGeometry(g, !same ? "threads differ" : !alike ? "finished differently" : "wrong");
  }
  return first;
}

/* Whether the state's plan has the bits that its row gave: it is the same computation. `found` has those
 * of each row. */
static void testSameAsRow(const THNNConvolution *g, const Computation *of, real *const *found,
                          THNNState *state)
{
  THNNConvolutionPlan plan;
  THNN_State_setThreads(state, (int)randomBetween(1, MOST_THREADS));
  real *again = compute(g, of, state, &plan);
  const real *wanted = found[rowOf(&plan)];
  const bool same = wanted && !memcmp(again, wanted, (size_t)of->results * sizeof(real));
  CHECK(same);
  CHECK(isWithinLimit(&plan.chosen, state) && isWithinLimit(&plan.otherwise, state));
  if (!same) {
    printf("part %d, algorithm %s\n", (int)of->part, plan.chosen.algorithm->name);
    printGeometry(g, "not what its row gives");
  }
  free(again);
}

/* Each algorithm, which chooses among the rows. `found` has the results of all that apply. */
static void testChoices(const THNNConvolution *g, const Computation *of, real *const *found,
                        THNNState *state)
{
  for (int algorithm = THNN_CONVOLUTION_AUTO; algorithm <= THNN_CONVOLUTION_FFT_TILING;
       algorithm++) {
    THNN_State_setConvolutionAlgorithm(state, (THNNConvolutionAlgorithm)algorithm);
    testSameAsRow(g, of, found, state);
  }
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
}

/* Every row of the table whose name begins with `prefix`, where it applies, and with what it keeps of the
 * weights; then, if these are all rows, the choice among them. Returns whether a row applies. */
static bool testRows(const THNNConvolution *g, const Computation *of, const char *prefix,
                     const double *wanted, double *const *sizes, THNNState *state)
{
  const char *name;
  real *found[MOST_ROWS] = {NULL};
  bool applies = false;
  for (int row = 0; (name = THNN_(engine_rowName)(row)); row++) {
    THNNConvolutionPlan plan;
    if (strncmp(name, prefix, strlen(prefix)) ||
        !THNN_(engine_prepareRow)(&plan, state, g, of->part, row, false))
      continue;
    THNN_State_setConvolutionRow(state, name);
    THNN_(engine_prepare)(&plan, state, g, of->part);
    CHECK(rowOf(&plan) == row);
    found[row] = testAlgorithm(g, of, wanted, sizes, state);
    applies = true;
    Computation keeping = *of;
    keeping.keeps = of->part != THNN_CONVOLUTION_BACKWARD_WEIGHT;
    if (keeping.keeps && THNN_(engine_prepareRow)(&plan, state, g, of->part, row, true)) {
      if (plan.chosen.keptBytes > 0)
        free(testAlgorithm(g, &keeping, wanted, sizes, state));
      else
        testSameAsRow(g, &keeping, found, state);
    }
    THNN_State_setConvolutionRow(state, NULL);
  }
  if (!*prefix)
    testChoices(g, of, found, state);
  for (int row = 0; row < MOST_ROWS; row++)
    free(found[row]);
  return applies;
}

/* The gradient of the bias: the sums of the map's planes. */
static void addPlanes(const THNNConvolution *g, const real *map, double *sums, double *sizes)
{
  const int64_t positions = product(g->output);
  for (int64_t i = 0; i < mapSize(g); i++) {
    sums[i / positions % g->outputPlanes] += map[i];
    sizes[i / positions % g->outputPlanes] += fabs(map[i]);
  }
}

static bool testPart(const THNNConvolution *g, Computation of, const char *prefix, THNNState *state)
{
  double *wanted = calloc((size_t)of.results, sizeof(double));
  double *size = calloc((size_t)of.results, sizeof(double));
  const int64_t positions = of.results / g->batch / (of.bias ? of.planes : 1);
  for (int64_t i = 0; of.bias && i < of.results; i++) {
    wanted[i] = of.bias[i / positions % of.planes];
    size[i] = fabs(wanted[i]);
  }
  if (of.part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
    addPlanes(g, of.map, wanted + weightSize(g), size + weightSize(g));
  double *sizes[KINDS_OF_SIZES] = {size};
  for (int i = 1; i < KINDS_OF_SIZES; i++) {
    sizes[i] = calloc((size_t)of.results, sizeof(double));
    memcpy(sizes[i], size, (size_t)of.results * sizeof(double));
  }
  if (haveTiles(g))
    addTileNorms(g, &of, sizes[NORMS]);
  for (int i = 0; i < TRANSFORMS; i++) {
    const bool weights = of.part == THNN_CONVOLUTION_BACKWARD_WEIGHT;
    if (areFor(&transforms[i], g))
      (weights ? addTransformedWeightSizes : addTransformedSizes)(&transforms[i], g, &of,
                                                                  sizes[i + 1]);
    else if (areForPhases(&transforms[i], g))
      addPhaseSizes(&transforms[i], g, &of, sizes[i + 1]);
  }
  addProducts(g, of.part, of.image, of.map, of.weight, wanted, size);
  const bool applies = testRows(g, &of, prefix, wanted, sizes, state);
  for (int i = 0; i < KINDS_OF_SIZES; i++)
    free(sizes[i]);
  free(wanted);
  return applies;
}

/* Runs are as many where there is no room to write them. */
static void checkRuns(const THNNConvolution *g)
{
  const THNNConvolution sides[] = {*g, THNN_convolutionTransposed(g)};
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 3; i++) {
      const int64_t room = sides[side].output[i] + 1; /* each run has a position */
      THNNConvolutionRun *runs = malloc((size_t)room * sizeof *runs);
      const int64_t count = THNN_convolutionRuns(&sides[side], i, runs, room);
      CHECK(count < room && THNN_convolutionRuns(&sides[side], i, NULL, 0) == count);
      free(runs);
    }
}

int testGeometryBy(const char *prefix, const THNNConvolution *g, THNNState *state)
{
  checkRuns(g);
  real *image = newRandom(imageSize(g)), *map = newRandom(mapSize(g));
  real *weight = newRandom(weightSize(g));
  real *mapBias = newRandom(g->outputPlanes), *imageBias = newRandom(g->inputPlanes);
  const bool biased = randomBetween(0, 1);
  int parts = testPart(g,
                       (Computation){THNN_CONVOLUTION_FORWARD,
                                     image,
                                     map,
                                     weight,
                                     biased ? mapBias : NULL,
                                     g->outputPlanes,
                                     mapSize(g),
                                     false,
                                     {0}},
                       prefix, state);
  parts += testPart(g,
                    (Computation){THNN_CONVOLUTION_BACKWARD_DATA,
                                  image,
                                  map,
                                  weight,
                                  biased ? imageBias : NULL,
                                  g->inputPlanes,
                                  imageSize(g),
                                  false,
                                  {0}},
                    prefix, state);
  parts += testPart(g,
                    (Computation){THNN_CONVOLUTION_BACKWARD_WEIGHT,
                                  image,
                                  map,
                                  weight,
                                  NULL,
                                  1,
                                  weightSize(g) + g->outputPlanes,
                                  false,
                                  {0}},
                    prefix, state);
  free(image);
  free(map);
  free(weight);
  free(mapBias);
  free(imageBias);
  return parts;
}

void testGeometry(const THNNConvolution *g, THNNState *state)
{
  testGeometryBy("", g, state);
}

void checkMet(int geometries)
{
  const char *name;
  for (int row = 0; (name = THNN_(engine_rowName)(row)); row++) {
    const bool weight = strstr(name, "Weight") != NULL;
    if (strstr(name, "Last")) /* planesLast.c tests it */
      continue;
    const bool all =
        !strcmp(name, "gemm") || !strcmp(name, "linear") || !strcmp(name, "packedProducts");
    const bool often =
        !strncmp(name, "direct", 6) || !strncmp(name, "lines", 5) || !strcmp(name, "gemm");
    const bool packs = THNN_(simd).panels.packs || strcmp(name, "packedProducts");
    for (int part = 0; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++)
      if (packs && (all || weight == (part == THNN_CONVOLUTION_BACKWARD_WEIGHT)))
        CHECK(met[part][row] > (often ? geometries / 20 : 0));
  }
  for (int part = THNN_CONVOLUTION_FORWARD; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++)
    CHECK(metWinograd[part][true] > 0 && metWinograd[part][false] > 0);
  CHECK(metUnkept > 0);
  CHECK(metKept > 0);
}
