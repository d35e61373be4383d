/* The convolution engine against its definition: unfolding and folding, and every algorithm in all
 * three parts, over random geometries of one to three dimensions. Strides above the kernel,
 * negative and full padding, dilation and outputs one smaller or larger than the formula are among
 * them.
 *
 *     test_convolution_float [geometries]     200 unless given
 *     test_convolution_float time [seconds [least [most [rows]]]]
 *                                             prints timings instead (timings.h); the operations of
 *                                             a layer are 2e5, below which the call dominates, to
 *                                             6e7 unless given
 *
 * Scratch memory is filled with NaN and followed by a guard; results have to be the same, bit for
 * bit, with one to four threads. */
#include <math.h>
#include <stdlib.h>

#include "THNNExtra.h"
#include "generic/template.h"

#include "../check.h"
#include "choices.h"
#include "definition.h"
#include "fourierCases.h"
#include "parts.h"
#include "planesLast.h"
#include "timings.h"
#include "transforms.h"
#include "work/caches.h"

/* ---- Unfolding ------------------------------------------------------------------------------- */

static void testUnfolding(const THNNConvolution *g)
{
  const int64_t positions = product(g->output), imagePositions = product(g->input);
  const int64_t rows = g->inputPlanes * product(g->kernel);
  real *image = newRandom(g->inputPlanes * imagePositions);
  real *columns = newArray(rows * positions), *folded = newArray(g->inputPlanes * imagePositions);
  double *sums = calloc((size_t)(g->inputPlanes * imagePositions), sizeof(double));
  THNN_(vol2col)(image, g->inputPlanes, g->input[0], g->input[1], g->input[2], g->output[0],
                 g->output[1], g->output[2], g->kernel[0], g->kernel[1], g->kernel[2], g->pad[0],
                 g->pad[1], g->pad[2], g->stride[0], g->stride[1], g->stride[2], g->dilation[0],
                 g->dilation[1], g->dilation[2], columns);
  bool same = true;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t position = 0; position < positions; position++) {
      const int64_t seen = seenIndex(g, position, row % product(g->kernel));
      const int64_t from = row / product(g->kernel) * imagePositions + seen;
      const real wanted = seen < 0 ? 0 : image[from];
      same = same && columns[row * positions + position] == wanted;
      if (seen >= 0)
        sums[from] += wanted;
    }
  THNN_(col2vol)(columns, g->inputPlanes, g->input[0], g->input[1], g->input[2], g->output[0],
                 g->output[1], g->output[2], g->kernel[0], g->kernel[1], g->kernel[2], g->pad[0],
                 g->pad[1], g->pad[2], g->stride[0], g->stride[1], g->stride[2], g->dilation[0],
                 g->dilation[1], g->dilation[2], folded);
  for (int64_t i = 0; i < g->inputPlanes * imagePositions; i++)
    same = same && fabs(folded[i] - sums[i]) <= 100 * EPSILON * (1 + fabs(sums[i]));
  CHECK(same);
  if (!same)
    printGeometry(g, "unfolding");
  free(image);
  free(columns);
  free(folded);
  free(sums);
}

/* ---- Special cases --------------------------------------------------------------------------- */

static const THNNConvolution PADDED = {.batch = 2,
                                       .inputPlanes = 3,
                                       .outputPlanes = 5,
                                       .input = {1, 9, 20},
                                       .output = {1, 9, 20},
                                       .kernel = {1, 3, 3},
                                       .stride = {1, 1, 1},
                                       .dilation = {1, 1, 1},
                                       .pad = {0, 1, 1}};

/* Infinite weights of one map plane reach that plane only: no other shares a sum with them. */
static void testInfiniteWeights(THNNState *state)
{
  const THNNConvolution *g = &PADDED;
  real *image = newRandom(imageSize(g)), *weight = newRandom(weightSize(g));
  const int64_t perPlane = weightSize(g) / g->outputPlanes, positions = product(g->output);
  for (int64_t i = 0; i < perPlane; i++)
    weight[perPlane + i] = INFINITY;
  const Computation of = {
      THNN_CONVOLUTION_FORWARD, image, NULL, weight, NULL, 1, mapSize(g), false, {0}};
  THNNConvolutionPlan plan;
  real *map = compute(g, &of, state, &plan);
  bool finite = true;
  for (int64_t i = 0; i < mapSize(g); i++)
    finite = finite && (i / positions % g->outputPlanes == 1 || isfinite(map[i]));
  CHECK(finite);
  free(image);
  free(weight);
  free(map);
}

/* A NaN in the image reaches the map positions that see it, and all of them. */
static void testNaNInImage(THNNState *state)
{
  const THNNConvolution *g = &PADDED;
  real *image = newRandom(imageSize(g)), *weight = newRandom(weightSize(g));
  const int64_t positions = product(g->output), where = 4 * g->input[2] + 19;
  image[where] = NAN;
  const Computation of = {
      THNN_CONVOLUTION_FORWARD, image, NULL, weight, NULL, 1, mapSize(g), false, {0}};
  THNNConvolutionPlan plan;
  real *map = compute(g, &of, state, &plan);
  bool right = true;
  for (int64_t i = 0; i < mapSize(g); i++) {
    bool sees = false;
    for (int64_t tap = 0; tap < product(g->kernel); tap++)
      sees = sees || (i < g->outputPlanes * positions && seenIndex(g, i % positions, tap) == where);
    right = right && sees == isnan(map[i]);
  }
  CHECK(right);
  free(image);
  free(weight);
  free(map);
}

/* gradWeight += scale * …, gradBias += scale * … */
static void testScale(THNNState *state)
{
  const THNNConvolution *g = &PADDED;
  real *image = newRandom(imageSize(g)), *map = newRandom(mapSize(g));
  const Computation of = {
      THNN_CONVOLUTION_BACKWARD_WEIGHT, image, map, NULL, NULL, 1, weightSize(g), false, {0}};
  THNNConvolutionPlan plan;
  real *once = compute(g, &of, state, &plan), *again = newRandom(weightSize(g));
  real *before = newArray(weightSize(g));
  memcpy(before, again, (size_t)weightSize(g) * sizeof(real));
  void *scratch = aligned_alloc(64, (plan.scratchBytes + 64) / 64 * 64);
  real bias[5] = {1, 1, 1, 1, 1}, imageBias[3] = {0, 0, 0};
  THNN_(engine_backwardWeight)(&plan, image, map, -0.5, again, bias, scratch);
  bool right = true;
  for (int64_t i = 0; i < weightSize(g); i++)
    right = right && fabs(again[i] - (before[i] - 0.5 * once[i])) < 1000 * EPSILON;
  CHECK(right);

  double sum = 0, imageSum = 0;
  for (int64_t i = 0; i < product(g->output); i++)
    for (int64_t n = 0; n < g->batch; n++) {
      sum += map[(n * g->outputPlanes + 4) * product(g->output) + i];
      imageSum += image[(n * g->inputPlanes + 2) * product(g->input) + i];
    }
  THNN_(engine_backwardTransposedBias)(&plan, image, 2, imageBias);
  CHECK(fabs(bias[4] - (1 - 0.5 * sum)) < 1000 * EPSILON);
  CHECK(fabs(imageBias[2] - 2 * imageSum) < 1000 * EPSILON);
  free(image);
  free(map);
  free(once);
  free(again);
  free(before);
  free(scratch);
}

static THNNConvolution pointwise(int64_t batch, int64_t imagePlanes, int64_t mapPlanes,
                                 int64_t height, int64_t width)
{
  return evenLayer(1, batch, imagePlanes, mapPlanes, height, width);
}

/* A layer whose only map position sees the whole image. */
static THNNConvolution linearLayer(int64_t batch, int64_t imagePlanes, int64_t mapPlanes,
                                   int64_t size)
{
  THNNConvolution g = evenLayer(size, batch, imagePlanes, mapPlanes, size, size);
  for (int i = 1; i < 3; i++) {
    g.output[i] = 1;
    g.pad[i] = 0;
  }
  return g;
}

/* What adds its results cannot begin again: infinite elements reach the results that see them, and
 * no others. */
static void testInfiniteAdded(THNNState *state)
{
  const char *rows[] = {"winograd", "winograd4", "winograd25", "winograd42"};
  const int64_t kernels[] = {3, 3, 5, 2};
  for (int i = 0; i < 12; i++) {
    const int row = i / 3, stride = 1 + i % 3 / 2;
    const bool back = i % 3 == 1;
    const THNNConvolutionPart part =
        back ? THNN_CONVOLUTION_BACKWARD_DATA : THNN_CONVOLUTION_FORWARD;
    THNNConvolution g = evenLayer(stride * kernels[row], 2, 5, 7, 13, 22);
    if (stride == 1) {
      g.kernel[0] = g.input[0] = g.output[0] = 3;
      g.pad[0] = 1;
    }
    for (int d = 1; d < 3; d++) {
      g.stride[d] = stride;
      g.output[d] = (g.input[d] + 2 * g.pad[d] - g.kernel[d]) / stride + 1;
    }
    real *image = newRandom(imageSize(&g)), *map = newRandom(mapSize(&g));
    real *weight = newRandom(weightSize(&g));
    for (int j = 1; j < 4; j++)
      (back ? map : image)[j * 377] = j % 2 ? INFINITY : -INFINITY;
    Computation of = {.part = part,
                      .image = image,
                      .map = map,
                      .weight = weight,
                      .results = back ? imageSize(&g) : mapSize(&g)};
    real *start = newRandom(of.results);
    double *wanted = calloc((size_t)of.results, sizeof(double));
    double *size = calloc((size_t)of.results, sizeof(double));
    addProducts(&g, part, image, map, weight, wanted, size);
    of.finish = (Finish){.addend = start, .adds = true};
    THNN_State_setConvolutionRow(state, rows[row]);
    THNNConvolutionPlan plan;
    real *found = compute(&g, &of, state, &plan);
    THNN_State_setConvolutionRow(state, NULL);
    CHECK(isRow(&plan, rows[row]) && THNN_(engine_adds)(&plan));
    int finite = 0;
    bool right = true;
    for (int64_t j = 0; j < of.results; j++) {
      right = right && isSum(found[j], wanted[j] + (double)start[j]);
      finite += isfinite(found[j]) != 0;
    }
    CHECK(right && finite > 0 && finite < of.results);
    free(image);
    free(map);
    free(weight);
    free(start);
    free(wanted);
    free(size);
    free(found);
  }
}

/* One sample of one image plane. */
static const THNNConvolution ALONE = {.batch = 1,
                                      .inputPlanes = 1,
                                      .outputPlanes = 40,
                                      .input = {1, 1, 16001},
                                      .output = {1, 1, 100},
                                      .kernel = {1, 1, 400},
                                      .stride = {1, 1, 160},
                                      .dilation = {1, 1, 1},
                                      .pad = {0, 0, 120}};

/* Where gemm has one block, two threads share its products; and where `lines` has one band, they
 * share its planes, unless that would leave one of them idle. */
static void testSharedTiles(THNNState *state)
{
  THNNConvolutionPlan plan;
  THNN_State_setThreads(state, 2);
  THNN_State_setConvolutionRow(state, "gemm");
  THNN_(engine_prepare)(&plan, state, &ALONE, THNN_CONVOLUTION_BACKWARD_DATA);
  CHECK(isRow(&plan, "gemm") && plan.chosen.threads == 2);
  THNN_State_setConvolutionRow(state, "lines");
  THNN_(engine_prepare)(&plan, state, &ALONE, THNN_CONVOLUTION_FORWARD);
  CHECK(isRow(&plan, "lines") && plan.chosen.threads == 2);
  THNNConvolution three = ALONE;
  three.batch = 3;
  THNN_State_setThreads(state, 4);
  THNN_(engine_prepare)(&plan, state, &three, THNN_CONVOLUTION_FORWARD);
  CHECK(isRow(&plan, "lines") && plan.chosen.threads == 3);
  THNN_State_setConvolutionRow(state, NULL);
}

/* Convolutions that are larger than the random ones: with source planes in several blocks, with
 * more groups of taps than are kept from box to box, with chains of taps that are cut into parts,
 * with one sample and one or two image planes, with wide kernels and strides, with one tap and many planes or positions; and linear
 * layers. */
static void testLarge(THNNState *state)
{
  const THNNConvolution large[] = {evenLayer(5, 1, 256, 1, 24, 40),
                                   {.batch = 3,
                                    .inputPlanes = 2,
                                    .outputPlanes = 20,
                                    .input = {5, 5, 6},
                                    .output = {5, 5, 6},
                                    .kernel = {5, 5, 5},
                                    .stride = {1, 1, 1},
                                    .dilation = {1, 1, 1},
                                    .pad = {2, 2, 2}},
                                   {.batch = 2,
                                    .inputPlanes = 5,
                                    .outputPlanes = 7,
                                    .input = {1, 20, 30},
                                    .output = {1, 20, 15},
                                    .kernel = {1, 7, 8},
                                    .stride = {1, 1, 2},
                                    .dilation = {1, 1, 1},
                                    .pad = {0, 3, 3}},
                                   ALONE,
                                   {.batch = 2,
                                    .inputPlanes = 3,
                                    .outputPlanes = 6,
                                    .input = {1, 50, 70},
                                    .output = {1, 4, 4},
                                    .kernel = {1, 18, 19},
                                    .stride = {1, 17, 18},
                                    .dilation = {1, 1, 1},
                                    .pad = {0, 9, 7}},
                                   {.batch = 1,
                                    .inputPlanes = 2,
                                    .outputPlanes = 5,
                                    .input = {4, 9, 60},
                                    .output = {4, 5, 4},
                                    .kernel = {2, 3, 20},
                                    .stride = {1, 2, 16},
                                    .dilation = {2, 2, 1},
                                    .pad = {1, 2, 4}},
                                   {.batch = 1,
                                    .inputPlanes = 1,
                                    .outputPlanes = 70,
                                    .input = {1, 50, 60},
                                    .output = {2, 25, 30},
                                    .kernel = {2, 2, 3},
                                    .stride = {1, 2, 2},
                                    .dilation = {1, 1, 1},
                                    .pad = {1, 0, 1}},
                                   {.batch = 1,
                                    .inputPlanes = 2,
                                    .outputPlanes = 60,
                                    .input = {1, 70, 50},
                                    .output = {1, 35, 26},
                                    .kernel = {1, 5, 4},
                                    .stride = {1, 2, 2},
                                    .dilation = {1, 1, 2},
                                    .pad = {0, 2, 3}},
                                   pointwise(2, 96, 96, 13, 15),
                                   {.batch = 2,
                                    .inputPlanes = 70,
                                    .outputPlanes = 90,
                                    .input = {1, 13, 15},
                                    .output = {1, 7, 5},
                                    .kernel = {1, 1, 1},
                                    .stride = {1, 2, 3},
                                    .dilation = {1, 1, 1}},
                                   pointwise(2, 300, 40, 11, 13),
                                   pointwise(2, 40, 300, 11, 13),
                                   pointwise(1, 20, 40, 30, 41),
                                   pointwise(30, 70, 64, 1, 3),
                                   linearLayer(5, 4, 33, 3),
                                   linearLayer(40, 20, 7, 6)};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++)
    testGeometry(&large[i], state);
}

/* Winograd's algorithm with room for some of the tiles and weights only: blocks form several
 * groups, the last of which are smaller, and the weights are cut into panels along both planes. */
static void testGroups(THNNState *state)
{
  THNNConvolution g = layerOf(2, 150, 115, 14, 17);
  THNN_State_setWorkspaceLimit(state, sizeof(real) << 18);
  CHECK(testGeometryBy("winograd", &g, state) == 3);
  g = layerOf(1, 50, 65, 12, 15); /* with taps in depth */
  g.kernel[0] = 3;
  g.pad[0] = g.dilation[0] = 2;
  g.input[0] = g.output[0] = 3;
  CHECK(testGeometryBy("winograd", &g, state) == 3);
  g = layerOf(1, 130, 150, 9, 10); /* with dilation */
  g.pad[1] = g.dilation[1] = 2;
  g.pad[2] = g.dilation[2] = 3;
  int parts = 0; /* that the largest room is enough for */
  for (int elements = 1 << 17; elements <= 1 << 19; elements *= 2) {
    THNN_State_setWorkspaceLimit(state, sizeof(real) * (size_t)elements);
    parts = testGeometryBy("winograd", &g, state);
  }
  CHECK(parts == 3);
  THNN_State_setWorkspaceLimit(state, 8 << 20);
  g = layerOf(1, 9, 17, 5, 145); /* long lines */
  testGeometry(&g, state);
  g = layerOf(2, 9, 17, 40, 145); /* so many tiles that there are shares, and pieces of rows */
  CHECK(testGeometryBy("winograd", &g, state) == 3);
  g.pad[2] = g.dilation[2] = 7; /* the pieces then cut groups of tiles */
  CHECK(testGeometryBy("winograd", &g, state) == 3);
  for (int64_t size = 8; size <= 32; size *= 2) {
    /* A block for each of two threads, of whole rows: which size has them depends on the vectors. */
    g = layerOf(1, 16, 32, size, size);
    CHECK(testGeometryBy("winograd", &g, state) == 3);
  }
}

/* Taps of 2x2, which hardly any random geometry has at stride 1. */
static void testFewTaps(THNNState *state)
{
  THNNConvolution g = layerOf(2, 24, 36, 19, 22);
  for (int i = 1; i < 3; i++) {
    g.kernel[i] = 2;
    g.output[i] = g.input[i] + 2 * g.pad[i] - 1;
  }
  testGeometry(&g, state);
}

/* With a stride of 2: with room for some weights only, which are then transformed anew for each
 * group, or for each phase. Odd and even padding have phases that see the same elements, or not. */
static void testStrides(THNNState *state)
{
  for (int64_t taps = 3; taps <= 6; taps++) {
    THNNConvolution g = taps == 4 ? layerOf(2, 40, 70, 23, 26) : layerOf(1, 40, 37, 13, 18);
    for (int i = 1; i < 3; i++) {
      g.kernel[i] = i == 1 && taps == 6 ? 5 : taps;
      g.stride[i] = 2;
      g.pad[i] = taps < 5 ? i : 2;
      g.output[i] = (g.input[i] + 2 * g.pad[i] - g.kernel[i]) / 2 + 1;
    }
    int parts = 0; /* that the largest room is enough for */
    for (int elements = 1 << 16; elements <= 1 << 21; elements *= taps == 4 ? 2 : 8) {
      THNN_State_setWorkspaceLimit(state, sizeof(real) * (size_t)elements);
      parts = testGeometryBy("winograd", &g, state);
    }
    CHECK(parts == 3);
  }
  THNN_State_setWorkspaceLimit(state, 8 << 20);
}

/* Transformed weights are kept as long as they take no more than a share of the last-level
 * cache. */
static void testKeptWeights(THNNState *state)
{
  const int64_t most = THNN_mostKeptBytes(false);
  CHECK(most >= 1 << 20);
  const char *rows[] = {"winograd", "winograd4"};
  for (int i = 0; i < 2; i++)
    for (int64_t planes = 16; planes <= 1024; planes *= 2) {
      const THNNConvolution g = layerOf(1, planes, planes, 14, 14);
      const int64_t numbers = i == 0 ? 16 : 36;
      const int64_t elements = numbers * planes * planes, more = numbers * 64;
      THNNConvolutionPlan plan;
      THNN_State_setConvolutionRow(state, rows[i]);
      THNN_(engine_prepareKept)(&plan, state, &g, THNN_CONVOLUTION_FORWARD);
      const int64_t kept = (int64_t)plan.chosen.keptBytes;
      CHECK(isRow(&plan, rows[i]) && kept <= most);
      CHECK(kept > 0 || (elements + more) * (int64_t)sizeof(real) > most);
    }
  THNN_State_setConvolutionRow(state, NULL);
}

/* A state that asks for Winograd's algorithm leaves the choice for other convolutions to the costs:
 * for a map whose only position sees the whole image, they do not choose the direct algorithm. */
static void testWinogradOtherwise(THNNState *state)
{
  THNNConvolution g = layerOf(4, 16, 16, 5, 5);
  for (int i = 1; i < 3; i++) {
    g.kernel[i] = 5;
    g.pad[i] = 0;
    g.output[i] = 1;
  }
  THNNConvolutionPlan asked, automatic;
  for (int part = THNN_CONVOLUTION_FORWARD; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++) {
    THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_WINOGRAD);
    THNN_(engine_prepare)(&asked, state, &g, (THNNConvolutionPart)part);
    THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
    THNN_(engine_prepare)(&automatic, state, &g, (THNNConvolutionPart)part);
    CHECK(isRow(&asked, "linear") && isRow(&automatic, "linear"));
  }
}

/* The choice does not depend on the number of threads, or else bits would differ. */
static void testChoiceForThreads(THNNState *state)
{
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
  for (int i = 0; i < 300; i++) {
    const int part = (int)randomBetween(THNN_CONVOLUTION_FORWARD, THNN_CONVOLUTION_BACKWARD_WEIGHT);
    const THNNConvolution g =
        layerOf(randomBetween(1, 9), randomBetween(1, 300), randomBetween(1, 300),
                randomBetween(3, 60), randomBetween(3, 60));
    THNNConvolutionPlan one, many;
    THNN_State_setThreads(state, 1);
    THNN_(engine_prepare)(&one, state, &g, (THNNConvolutionPart)part);
    THNN_State_setThreads(state, 2 + i % 10);
    THNN_(engine_prepare)(&many, state, &g, (THNNConvolutionPart)part);
    CHECK(one.chosen.cost == many.chosen.cost && one.otherwise.cost == many.otherwise.cost);
    CHECK(rowOf(&one) == rowOf(&many));
  }
}

/* The direct algorithm applies to every ordinary geometry, and its scratch stays bounded for any
 * batch, also where it puts samples, or the elements that a stride sees, side by side. */
static void testPlans(THNNState *state)
{
  THNNConvolution geometries[] = {PADDED,
                                  {.inputPlanes = 512,
                                   .outputPlanes = 700,
                                   .input = {1, 7, 7},
                                   .output = {1, 7, 7},
                                   .kernel = {1, 1, 1},
                                   .stride = {1, 1, 1},
                                   .dilation = {1, 1, 1}},
                                  {.inputPlanes = 256,
                                   .outputPlanes = 512,
                                   .input = {1, 13, 14},
                                   .output = {1, 7, 7},
                                   .kernel = {1, 1, 1},
                                   .stride = {1, 2, 2},
                                   .dilation = {1, 1, 1}}};
  THNNConvolutionPlan plan, large;
  THNN_State_setThreads(state, 1);
  for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
    for (int part = THNN_CONVOLUTION_FORWARD; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++) {
      THNNConvolution *g = &geometries[i];
      THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_DIRECT);
      g->batch = 1000;
      THNN_(engine_prepare)(&plan, state, g, (THNNConvolutionPart)part);
      g->batch = 100000;
      THNN_(engine_prepare)(&large, state, g, (THNNConvolutionPart)part);
      CHECK(!isRow(&plan, "gemm"));
      CHECK(large.scratchBytes <= (size_t)8 << 20);
      THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_GEMM);
      THNN_(engine_prepare)(&plan, state, g, (THNNConvolutionPart)part);
      CHECK(isRow(&plan, "gemm"));
    }
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
}

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], "time"))
    return printTimings(argc > 2 ? atof(argv[2]) : 60, argc > 3 ? atof(argv[3]) : 2e5,
                        argc > 4 ? atof(argv[4]) : 6e7, argc > 5 ? argv[5] : "", argc > 6);
  const int geometries = argc > 1 ? atoi(argv[1]) : 200;
  const size_t limits[] = {64 << 10, 200000, 8 << 20};
  catchErrors();
  makeTransforms();
  THNNState *state = THNN_State_new();
  testPlans(state);
  testInfiniteAdded(state);
  testSharedTiles(state);
  testLarge(state);
  testGroups(state);
  testFewTaps(state);
  testStrides(state);
  testShortVectors(state);
  testNarrowTiles();
  testFewTerms(state);
  testKeptWeights(state);
  testWinogradPlans(state);
  testWinogradOtherwise(state);
  testChoiceForThreads(state);
  testStridedChoice(state);
  testStridesByTransforms(state);
  testTilesOfFewTerms(state);
  testFewFilters(state);
  testRoomForSums(state);
  testPhases(state);
  testPlanesLast(state);
  testFourier(state);
  for (int algorithm = THNN_CONVOLUTION_AUTO; algorithm <= THNN_CONVOLUTION_FFT_TILING;
       algorithm++) {
    THNN_State_setConvolutionAlgorithm(state, (THNNConvolutionAlgorithm)algorithm);
    testInfiniteWeights(state);
    testNaNInImage(state);
    testScale(state);
  }
  startRandom(geometries); /* the same geometries, whatever was tested before */
  for (int i = 0; i < geometries; i++) {
    const THNNConvolution g = randomGeometry();
    if (operations(&g) > 4e6)
      continue;
    THNN_State_setWorkspaceLimit(state, limits[randomBetween(0, 2)]);
    THNN_State_setReproducible(state, i % 4 == 3 && THNN_simdReproduces());
    testUnfolding(&g);
    testGeometry(&g, state);
  }
  checkMet(geometries);
  THNN_State_free(state);
  return checkResult();
}
