#include "fourierCases.h"

#include <math.h>
#include <stdlib.h>

#include "../check.h"
#include "parts.h"
#include "tileNorms.h"
#include "work/caches.h"

enum { MOST_ERROR = 16 };

static const THNNConvolutionPart PARTS[] = {
    THNN_CONVOLUTION_FORWARD, THNN_CONVOLUTION_BACKWARD_DATA, THNN_CONVOLUTION_BACKWARD_WEIGHT};

static const char *rowFor(THNNConvolutionPart part)
{
  return part == THNN_CONVOLUTION_BACKWARD_WEIGHT ? "fourierWeight" : "fourier";
}

/* A layer without a depth, whose images have `pad` zeros around them. */
static THNNConvolution layerWith(int64_t rows, int64_t columns, int64_t pad, int64_t height,
                                 int64_t width)
{
  THNNConvolution g = evenLayer(1, 2, 5, 7, height, width);
  g.kernel[1] = rows;
  g.kernel[2] = columns;
  for (int i = 1; i < 3; i++) {
    g.pad[i] = pad;
    g.output[i] = g.input[i] + 2 * pad - g.kernel[i] + 1;
  }
  return g;
}

/* A layer whose taps are in a row, as the engine has those of one dimension. */
static THNNConvolution lineLayer(int64_t batch, int64_t taps, int64_t imagePlanes,
                                 int64_t mapPlanes, int64_t height, int64_t width)
{
  THNNConvolution g = layerWith(1, taps, 0, height, width);
  g.batch = batch;
  g.inputPlanes = imagePlanes;
  g.outputPlanes = mapPlanes;
  g.pad[2] = taps / 2;
  g.output[2] = width + 2 * g.pad[2] - taps + 1;
  return g;
}

/* A layer with strides, whose images have `pad` zeros around them, of which a map position may see no
 * more than these at the end. */
static THNNConvolution stridedLayer(THNNConvolution g, int64_t rowStride, int64_t columnStride)
{
  g.stride[1] = rowStride;
  g.stride[2] = columnStride;
  for (int i = 1; i < 3; i++)
    g.output[i] = (g.output[i] - 1) / g.stride[i] + 1;
  return g;
}

/* Every number of taps that leaves a tile results, with last tiles of one result and of all; what
 * lies outside of the image, on both sides of it, or is not seen; and vectors of planes that are
 * full, or have one. */
static void testTiles(THNNState *state)
{
  const int64_t lanes = THNN_(simd).products.lanes;
  const THNNConvolution layers[] = {layerWith(14, 14, 0, 16, 17),
                                    layerWith(14, 1, 0, 30, 7),
                                    layerWith(1, 14, 6, 3, 40),
                                    layerWith(9, 8, 4, 16, 16),
                                    layerWith(8, 9, 7, 2, 3),
                                    layerWith(5, 5, 2, 12, 13),
                                    layerWith(5, 5, 2, 24, 25),
                                    layerWith(5, 3, -2, 20, 21),
                                    layerWith(2, 7, 9, 5, 6),
                                    layerWith(1, 1, 0, 16, 17),
                                    evenLayer(7, 1, 1, 1, 11, 12),
                                    evenLayer(5, 3, lanes, 2 * lanes, 13, 14),
                                    evenLayer(5, 1, lanes - 1, 2 * lanes + 1, 9, 8),
                                    evenLayer(5, 1, 35, 67, 9, 9),
                                    lineLayer(1, 9, lanes + 1, 2 * lanes, 1, 50),
                                    lineLayer(3, 3, 3, 5, 7, 15),
                                    lineLayer(2, 14, 20, 3 * lanes, 1, 37),
                                    stridedLayer(layerWith(7, 7, 3, 60, 65), 2, 2),
                                    stridedLayer(layerWith(28, 5, 2, 61, 12), 2, 1),
                                    stridedLayer(layerWith(3, 28, -1, 9, 70), 1, 2),
                                    stridedLayer(layerWith(11, 11, 2, 150, 37), 4, 4),
                                    stridedLayer(layerWith(5, 9, 8, 4, 5), 3, 2),
                                    stridedLayer(layerWith(3, 3, 1, 50, 49), 3, 3),
                                    stridedLayer(layerWith(2, 4, 0, 33, 64), 2, 4),
                                    stridedLayer(lineLayer(2, 7, lanes + 1, 5, 3, 77), 1, 2),
                                    stridedLayer(lineLayer(1, 10, 3, lanes, 1, 230), 1, 5),
                                    stridedLayer(evenLayer(5, 2, lanes, lanes + 3, 30, 31), 2, 2)};
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    for (int part = 0; part < 3; part++) {
      THNNConvolutionPlan plan;
      THNN_State_setConvolutionRow(state, rowFor(PARTS[part]));
      THNN_(engine_prepare)(&plan, state, &layers[i], PARTS[part]);
      THNN_State_setConvolutionRow(state, NULL);
      CHECK(isRow(&plan, rowFor(PARTS[part])));
    }
    testGeometry(&layers[i], state);
  }
}

/* With room for some of the weights only: groups of panels, the last of which can be smaller, and
 * panels of one vector. */
static void testGroups(THNNState *state)
{
  const int64_t lanes = THNN_(simd).products.lanes;
  const THNNConvolution g = evenLayer(5, 2, 20, 4 * lanes + 3, 19, 22);
  const int64_t vector = 382 * 20 * lanes * (int64_t)sizeof(real); /* of filters */
  size_t shared = 0;
  int sizes = 0;
  for (int vectors = 2; vectors <= 10; vectors++) {
    THNNConvolutionPlan plan;
    THNN_State_setWorkspaceLimit(state, (size_t)(vectors * vector));
    THNN_State_setConvolutionRow(state, "fourier");
    THNN_(engine_prepare)(&plan, state, &g, THNN_CONVOLUTION_FORWARD);
    THNN_State_setConvolutionRow(state, NULL);
    if (!isRow(&plan, "fourier") || plan.chosen.sharedBytes == shared)
      continue;
    shared = plan.chosen.sharedBytes;
    sizes++;
    CHECK(testGeometryBy("fourier", &g, state) > 0);
  }
  CHECK(sizes >= 3);
  THNN_State_setWorkspaceLimit(state, 8 << 20);
}

/* Whether the algorithm is for a layer whose kernel has so many taps along rows and columns. */
static bool appliesTo(THNNConvolution g, int64_t rows, int64_t columns, THNNState *state)
{
  g.kernel[1] = rows;
  g.kernel[2] = columns;
  for (int i = 0; i < 3; i++)
    g.output[i] =
        (g.input[i] + 2 * g.pad[i] - (g.kernel[i] - 1) * g.dilation[i] - 1) / g.stride[i] + 1;
  int count = 0;
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_FFT_TILING);
  for (int part = 0; part < 3; part++) {
    THNNConvolutionPlan plan;
    THNN_(engine_prepare)(&plan, state, &g, PARTS[part]);
    count += isRow(&plan, rowFor(PARTS[part]));
    CHECK(isRow(&plan, rowFor(PARTS[part])) ==
          (THNN_(engine_algorithm)(&plan) == THNN_CONVOLUTION_FFT_TILING));
  }
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
  CHECK(count == 0 || count == 3);
  return count == 3;
}

/* A state that asks for it gets it where it applies: also for one plane, and also for taps that other
 * algorithms are faster for. */
static void testWhereItApplies(THNNState *state)
{
  const THNNConvolution layer = evenLayer(1, 1, 1, 2, 40, 40);
  CHECK(appliesTo(layer, 1, 1, state) && appliesTo(layer, 3, 3, state));
  CHECK(appliesTo(layer, 14, 14, state) && appliesTo(layer, 14, 2, state));
  CHECK(!appliesTo(layer, 15, 15, state) && !appliesTo(layer, 5, 17, state));
  for (int i = 1; i < 3; i++) {
    THNNConvolution strided = layer, dilated = layer;
    strided.stride[i] = 2;
    dilated.dilation[i] = 2;
    CHECK(appliesTo(strided, 2, 2, state) && !appliesTo(strided, 1, 1, state));
    CHECK(appliesTo(strided, 14, 14, state) && !appliesTo(strided, 15, 15, state));
    CHECK(!appliesTo(dilated, 5, 5, state));
  }
  THNNConvolution deep = layer, deepTaps = layer;
  deep.input[0] = 2;
  deepTaps.input[0] = deepTaps.kernel[0] = 2;
  CHECK(!appliesTo(deep, 5, 5, state) && !appliesTo(deepTaps, 5, 5, state));
}

/* Neither scratch nor kept weights grow with the batch, nor kept weights beyond a share of the
 * last-level cache. */
static void testMemory(THNNState *state)
{
  const int64_t most = THNN_mostKeptBytes(false);
  THNN_State_setThreads(state, 2);
  for (int64_t planes = 8; planes <= 512; planes *= 4)
    for (int part = 0; part < 3; part++) {
      THNNConvolution g = evenLayer(5, 1000, planes, planes, 30, 40);
      THNNConvolutionPlan plan, large;
      THNN_State_setConvolutionRow(state, rowFor(PARTS[part]));
      THNN_(engine_prepareKept)(&plan, state, &g, PARTS[part]);
      g.batch = 100000;
      THNN_(engine_prepareKept)(&large, state, &g, PARTS[part]);
      THNN_State_setConvolutionRow(state, NULL);
      CHECK(rowOf(&plan) == rowOf(&large) && plan.scratchBytes == large.scratchBytes);
      CHECK(plan.chosen.keptBytes == large.chosen.keptBytes);
      CHECK((int64_t)plan.chosen.keptBytes <= most);
      CHECK(planes > 8 || isRow(&plan, rowFor(PARTS[part])));
      CHECK(planes > 8 || (plan.chosen.keptBytes > 0) == (part < 2));
    }
}

/* ---- Elements that are not finite, or large --------------------------------------------------- */

typedef struct Operand {
  real *image, *map, *weight;
} Operand;

static Operand randomOperands(const THNNConvolution *g)
{
  return (Operand){newRandom(imageSize(g)), newRandom(mapSize(g)), newRandom(weightSize(g))};
}

static void freeOperands(Operand of)
{
  free(of.image);
  free(of.map);
  free(of.weight);
}

static Computation computationOf(const THNNConvolution *g, THNNConvolutionPart part, Operand of)
{
  return (Computation){.part = part,
                       .image = of.image,
                       .map = of.map,
                       .weight = of.weight,
                       .results = part == THNN_CONVOLUTION_FORWARD         ? mapSize(g)
                                  : part == THNN_CONVOLUTION_BACKWARD_DATA ? imageSize(g)
                                                                           : weightSize(g)};
}

/* An operand of a part, which is what another part results in, and its elements; there are two. */
static real *operandOf(const THNNConvolution *g, THNNConvolutionPart part, int number, Operand of,
                       int64_t *elements)
{
  const THNNConvolutionPart resultOf = PARTS[((int)part + 1 + number) % 3];
  *elements = computationOf(g, resultOf, of).results;
  return resultOf == THNN_CONVOLUTION_FORWARD         ? of.map
         : resultOf == THNN_CONVOLUTION_BACKWARD_DATA ? of.image
                                                      : of.weight;
}

/* Computes by the row, which gives up, and again by the row that is planned beside it: their bits have
 * to be the same. Returns the results. */
static real *computeOtherwise(const THNNConvolution *g, const Computation *of, THNNState *state)
{
  THNNConvolutionPlan plan, other;
  THNN_State_setConvolutionRow(state, rowFor(of->part));
  real *found = compute(g, of, state, &plan);
  CHECK(isRow(&plan, rowFor(of->part)));
  Computation alone = *of;
  alone.keeps = false;
  THNN_State_setConvolutionRow(state, plan.otherwise.algorithm->name);
  real *wanted = compute(g, &alone, state, &other);
  THNN_State_setConvolutionRow(state, NULL);
  CHECK(rowOf(&other) != rowOf(&plan));
  CHECK(!memcmp(found, wanted, (size_t)of->results * sizeof(real)));
  free(wanted);
  return found;
}

/* The plane of a result of map or image. */
static int64_t planeOf(const THNNConvolution *g, THNNConvolutionPart part, int64_t result)
{
  return part == THNN_CONVOLUTION_FORWARD ? result / product(g->output) % g->outputPlanes
                                          : result / product(g->input) % g->inputPlanes;
}

/* Elements of one operand that are infinite or NaN reach the results that see them, and no others, as
 * another algorithm computes all; also with kept weights. An infinite weight may also meet the zeros
 * around an image, which makes results of the filter's plane NaN. */
static void testNotFiniteIn(THNNConvolution g, int64_t place, THNNState *state)
{
  const double values[] = {INFINITY, -INFINITY, NAN};
  for (int number = 0; number < 36; number++) {
    const THNNConvolutionPart part = PARTS[number / 12];
    const bool weights = part != THNN_CONVOLUTION_BACKWARD_WEIGHT;
    const Operand operands = randomOperands(&g);
    int64_t elements;
    real *given = operandOf(&g, part, number / 6 % 2, operands, &elements);
    given[place] = (real)values[number / 2 % 3];
    const int64_t filter = place / product(g.kernel);
    const int64_t plane =
        part == THNN_CONVOLUTION_FORWARD ? filter / g.inputPlanes : filter % g.inputPlanes;
    Computation of = computationOf(&g, part, operands);
    of.keeps = weights && number % 2;
    double *wanted = calloc((size_t)of.results, sizeof(double));
    double *size = calloc((size_t)of.results, sizeof(double));
    addProducts(&g, part, of.image, of.map, of.weight, wanted, size);
    real *found = computeOtherwise(&g, &of, state);
    int64_t finite = 0;
    bool right = true;
    for (int64_t i = 0; i < of.results; i++) {
      const bool meetsZeros = given == operands.weight && planeOf(&g, part, i) == plane;
      right = right && (isSum(found[i], wanted[i]) || (meetsZeros && !isfinite(found[i])));
      finite += isfinite(found[i]) != 0;
    }
    CHECK(right && finite > 0 && finite < of.results);
    freeOperands(operands);
    free(wanted);
    free(size);
    free(found);
  }
}

static void testNotFinite(THNNState *state)
{
  testNotFiniteIn(evenLayer(5, 2, 5, 7, 23, 26), 377, state);
  testNotFiniteIn(lineLayer(2, 5, 5, 7, 3, 60), 88, state);
  testNotFiniteIn(stridedLayer(evenLayer(5, 1, 5, 7, 31, 32), 2, 2), 377, state);
}

/* Results are finite, within the limit of errors, where elements are so large that what is summed up
 * on the way may overflow: all elements of one operand, or a single one. */
static void testLargeElements(THNNState *state)
{
  const double huge = -(double)THNN_LOWEST / 32768; /* a sum has fewer terms */
  const THNNConvolution g = evenLayer(5, 2, 5, 7, 23, 26);
  for (int number = 0; number < 12; number++) {
    const THNNConvolutionPart part = PARTS[number / 4];
    const Operand operands = randomOperands(&g);
    const Computation of = computationOf(&g, part, operands);
    int64_t elements;
    real *large = operandOf(&g, part, number / 2 % 2, operands, &elements);
    for (int64_t i = 0; i < elements; i++)
      large[i] *= (real)(number % 2 || i == 377 ? huge : 1);
    double *wanted = calloc((size_t)of.results, sizeof(double));
    double *size = calloc((size_t)of.results, sizeof(double));
    double *norms = calloc((size_t)of.results, sizeof(double));
    addProducts(&g, part, of.image, of.map, of.weight, wanted, size);
    addTileNorms(&g, &of, norms);
    THNNConvolutionPlan plan;
    THNN_State_setConvolutionRow(state, rowFor(part));
    real *found = compute(&g, &of, state, &plan);
    THNN_State_setConvolutionRow(state, NULL);
    CHECK(largestError(found, wanted, norms, of.results) < MOST_ERROR);
    freeOperands(operands);
    free(wanted);
    free(size);
    free(norms);
    free(found);
  }
}

/* Elements whose products with weights, or gradients, are of ordinary size, but which overflow when
 * transformed: as if they were infinite. */
static void testOverflow(THNNState *state)
{
  const double most = -(double)THNN_LOWEST;
  const THNNConvolution g = evenLayer(5, 2, 5, 7, 23, 26);
  for (int part = 0; part < 3; part++) {
    const Operand operands = randomOperands(&g);
    const Computation of = computationOf(&g, PARTS[part], operands);
    real *large = part == 1 ? operands.map : operands.image;
    real *small = part == 2 ? operands.map : operands.weight;
    const int64_t smaller = part == 2 ? mapSize(&g) : weightSize(&g);
    for (int i = 0; i < 40; i++)
      large[370 + i] = (real)(most * (i % 2 ? 0.75 : -0.75));
    for (int64_t i = 0; i < smaller; i++)
      small[i] *= (real)(64 / most); /* not subnormal */
    double *wanted = calloc((size_t)of.results, sizeof(double));
    double *size = calloc((size_t)of.results, sizeof(double));
    addProducts(&g, PARTS[part], of.image, of.map, of.weight, wanted, size);
    real *found = computeOtherwise(&g, &of, state);
    bool right = true;
    for (int64_t i = 0; i < of.results; i++)
      right = right && isSum(found[i], wanted[i]);
    CHECK(right);
    freeOperands(operands);
    free(wanted);
    free(size);
    free(found);
  }
}

void testFourier(THNNState *state)
{
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
  testTiles(state);
  testGroups(state);
  testWhereItApplies(state);
  testMemory(state);
  testNotFinite(state);
  testLargeElements(state);
  testOverflow(state);
}
