#include "choices.h"

#include <string.h>

#include "generic/template.h"

#include "../check.h"
#include "generic/convolution/engine/panels.h"
#include "parts.h"
#include "simd/tuning.h"

static int rowNamed(const char *name)
{
  int row = 0;
  while (strcmp(THNN_(engine_rowName)(row), name) != 0)
    row++;
  return row;
}

/* With one tap and a stride, too, `direct` is taken where it costs least. */
void testStridedChoice(THNNState *state)
{
  int taken = 0;
  for (int64_t planes = 4; planes <= 64; planes *= 2)
    for (int64_t size = 7; size <= 56; size *= 2) {
      const int64_t half = (size + 1) / 2;
      const THNNConvolution g = {.batch = 2,
                                 .inputPlanes = planes,
                                 .outputPlanes = 32,
                                 .input = {1, size, size},
                                 .output = {1, half, half},
                                 .kernel = {1, 1, 1},
                                 .stride = {1, 2, 2},
                                 .dilation = {1, 1, 1}};
      THNNConvolutionPlan chosen, direct;
      THNN_(engine_prepare)(&chosen, state, &g, THNN_CONVOLUTION_FORWARD);
      CHECK(THNN_(engine_prepareRow)(&direct, state, &g, THNN_CONVOLUTION_FORWARD,
                                     rowNamed("direct"), false));
      CHECK(THNN_(engine_cost)(&chosen) <= THNN_(engine_cost)(&direct));
      taken += isRow(&chosen, "direct");
    }
  CHECK(taken > 0);
}

/* Large layers with a stride of 2 and kernels of 3x3 to 6x6 take Winograd's algorithms by themselves,
 * with vectors longer than those of the lowest instruction set, split or not: all passes but gradients
 * of the weight of 3x3, which gain little. */
void testStridesByTransforms(THNNState *state)
{
  enum { SHORT_VECTOR = 16 };
  const bool splits = THNN_tuning.splitsVectors;
  const bool isShort = vectorLanes() * sizeof(real) == SHORT_VECTOR;
  for (int64_t taps = 3; !isShort && taps <= 6; taps++)
    for (int i = 0; i < 6; i++) {
      const THNNConvolution g = {.batch = 8,
                                 .inputPlanes = 128,
                                 .outputPlanes = 128,
                                 .input = {1, 64, 64},
                                 .output = {1, (64 + 4 - taps) / 2 + 1, (64 + 4 - taps) / 2 + 1},
                                 .kernel = {1, taps, taps},
                                 .stride = {1, 2, 2},
                                 .dilation = {1, 1, 1},
                                 .pad = {0, 2, 2}};
      THNNConvolutionPlan plan;
      THNN_tuning.splitsVectors = i % 2 > 0;
      THNN_(engine_prepare)(&plan, state, &g, (THNNConvolutionPart)(i / 2));
      CHECK(isWinograd(&plan) || (taps == 3 && i / 2 == THNN_CONVOLUTION_BACKWARD_WEIGHT));
    }
  THNN_tuning.splitsVectors = splits;
}

/* Tiles of few terms take longer to begin and end than to sum up, which was measured with AVX2: two image
 * planes are expected to take more than a sixteenth of what 64 take. */
void testTilesOfFewTerms(THNNState *state)
{
  if (strcmp(THNN_simdLevelName(), "avx2") != 0 || THNN_tuning.splitsVectors)
    return;
  double costs[2];
  for (int i = 0; i < 2; i++) {
    THNNConvolution g = layerOf(8, i == 0 ? 2 : 64, 64, 56, 56);
    THNNConvolutionPlan plan;
    for (int axis = 1; axis < 3; axis++)
      g.kernel[axis] = 1, g.pad[axis] = 0;
    CHECK(THNN_(engine_prepareRow)(&plan, state, &g, THNN_CONVOLUTION_FORWARD,
                                   rowNamed("packedProducts"), false));
    costs[i] = THNN_(engine_cost)(&plan);
  }
  CHECK(16 * costs[0] > costs[1]);
}

/* With 3x3 taps, too, maps of a few planes take Fourier transforms, though not with so few that these
 * cost more than they save, and not for weights: measured with float where AVX-512 is computed in
 * halves. */
void testFewFilters(THNNState *state)
{
  const int planes[] = {8, 16, 64};
  const bool splits = THNN_tuning.splitsVectors;
  if (sizeof(real) != sizeof(float) || strncmp(THNN_simdLevelName(), "avx", strlen("avx")) != 0)
    return;
  THNN_tuning.splitsVectors = true;
  for (int i = 0; i < 3; i++)
    for (int part = THNN_CONVOLUTION_FORWARD; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++) {
      const THNNConvolution g = layerOf(8, planes[i], planes[i], 28, 28);
      THNNConvolutionPlan plan;
      THNN_(engine_prepare)(&plan, state, &g, (THNNConvolutionPart)part);
      const bool transforms = isRow(&plan, "fourier") || isRow(&plan, "fourierWeight");
      CHECK(transforms == (planes[i] == 16 && part != THNN_CONVOLUTION_BACKWARD_WEIGHT));
    }
  THNN_tuning.splitsVectors = splits;
}

/* What fits a small workspace fits a larger one, where sums of more panels are kept at a time. */
void testRoomForSums(THNNState *state)
{
  const char *rows[] = {"winogradWeight", "winogradWeight4", "winogradWeight25"};
  int fitting = 0;
  for (int i = 0; i < 3; i++)
    for (int64_t size = 14; size <= 112; size *= 2) {
      const int64_t taps = i < 2 ? 3 : 5;
      THNNConvolution g = layerOf(8, 256, 256, size, size);
      THNNConvolutionPlan plan;
      bool fitted = false;
      g.kernel[1] = g.kernel[2] = taps;
      g.pad[1] = g.pad[2] = taps / 2;
      for (size_t quarters = 4; quarters <= 32; quarters++) {
        THNN_State_setWorkspaceLimit(state, quarters << 18);
        const bool fits = THNN_(engine_prepareRow)(
            &plan, state, &g, THNN_CONVOLUTION_BACKWARD_WEIGHT, rowNamed(rows[i]), false);
        CHECK(fits || !fitted);
        fitted = fits;
      }
      fitting += fitted;
    }
  CHECK(fitting > 0);
  THNN_State_setWorkspaceLimit(state, 8 << 20);
}

/* Plans a layer's gradient of the input, with a stride of 2 and images of 28x28. Returns whether it
 * fits. */
static bool planStrided(THNNState *state, int64_t taps, int64_t pad, THNNConvolutionPlan *plan)
{
  THNNConvolution g = layerOf(8, 64, 256, 28, 28);
  for (int i = 1; i < 3; i++) {
    g.kernel[i] = taps;
    g.stride[i] = 2;
    g.pad[i] = pad;
    g.output[i] = (g.input[i] + 2 * pad - taps) / 2 + 1;
  }
  return THNN_(engine_prepareRow)(plan, state, &g, THNN_CONVOLUTION_BACKWARD_DATA,
                                  rowNamed("winograd4"), false);
}

/* Phases that see the same elements, as with 5x5 taps, fit where they have to be computed one after
 * the other, as with 6x6 taps and odd padding. Those of 6x6 and even padding cost less, since elements
 * are transformed once. */
void testPhases(THNNState *state)
{
  THNNConvolutionPlan same, others;
  int fitting = 0;
  for (size_t bytes = 1 << 20; bytes <= 8 << 20; bytes += 1 << 18) {
    THNN_State_setWorkspaceLimit(state, bytes);
    const bool fits = planStrided(state, 6, 1, &others);
    CHECK(!fits || planStrided(state, 5, 2, &same));
    fitting += fits;
  }
  CHECK(fitting > 0);
  THNN_State_setWorkspaceLimit(state, 8 << 20);
  CHECK(planStrided(state, 6, 2, &same) && planStrided(state, 6, 1, &others));
  CHECK(THNN_(engine_cost)(&same) < THNN_(engine_cost)(&others));
}

/* What a row of the table is expected to cost between so many planes. */
static double costOf(const char *name, THNNState *state, THNNConvolutionPart part, int64_t planes)
{
  const THNNConvolution g = {.batch = 4,
                             .inputPlanes = planes,
                             .outputPlanes = planes,
                             .input = {1, 28, 28},
                             .output = {1, 28, 28},
                             .kernel = {1, 3, 3},
                             .stride = {1, 1, 1},
                             .dilation = {1, 1, 1},
                             .pad = {0, 1, 1}};
  THNNConvolutionPlan plan;
  CHECK(THNN_(engine_prepareRow)(&plan, state, &g, part, rowNamed(name), false));
  return THNN_(engine_cost)(&plan);
}

/* Where long vectors are split, half as many planes as one has lanes take short ones, in half the time
 * for each of the other planes, in both passes. */
void testShortVectors(THNNState *state)
{
  const bool splits = THNN_tuning.splitsVectors;
  const int64_t lanes = THNN_(simd).products.lanes;
  THNN_tuning.splitsVectors = true;
  for (int back = 0; lanes * sizeof(real) == 64 && back <= 1; back++) {
    const THNNConvolutionPart part =
        back ? THNN_CONVOLUTION_BACKWARD_WEIGHT : THNN_CONVOLUTION_FORWARD;
    const char *name = back ? "directWeight" : "direct";
    const double whole = costOf(name, state, part, lanes);
    const double half = costOf(name, state, part, lanes / 2);
    CHECK(half > whole / 5 && half < whole / 3);
  }
  THNN_tuning.splitsVectors = splits;
}

/* Half of AVX-512's vectors are in all of its registers: tiles are as large as with whole ones. */
void testNarrowTiles(void)
{
  const SimdProducts *whole = &THNN_(simd).products, *narrow = productsFor(1);
  if (whole->lanes * sizeof(real) < 64)
    return;
  CHECK(2 * narrow->lanes == whole->lanes);
  CHECK(narrow->chains->longestTile[0] == whole->chains->longestTile[0]);
}

/* Of few terms, products of panels wait for their stores, and other algorithms are faster: measured
 * with AVX2 and float where AVX-512 is computed in halves. */
void testFewTerms(THNNState *state)
{
  if (strcmp(THNN_simdLevelName(), "avx2") != 0 || sizeof(real) != sizeof(float))
    return;
  const bool splits = THNN_tuning.splitsVectors;
  THNN_tuning.splitsVectors = true;
  for (int64_t planes = 1; planes <= 64; planes *= 64) {
    const THNNConvolution g = {.batch = 4,
                               .inputPlanes = planes,
                               .outputPlanes = 192,
                               .input = {8, 10, 10},
                               .output = {8, 10, 10},
                               .kernel = {1, 1, 1},
                               .stride = {1, 1, 1},
                               .dilation = {1, 1, 1}};
    THNNConvolutionPlan plan;
    THNN_(engine_prepare)(&plan, state, &g, THNN_CONVOLUTION_FORWARD);
    CHECK(isRow(&plan, "packedProducts") == (planes > 1));
  }
  THNN_tuning.splitsVectors = splits;
}

/* The row that is expected to be the fastest, but for Fourier transforms. */
static const char *fastestSum(const THNNConvolution *g, THNNConvolutionPart part, THNNState *state)
{
  const char *name, *fastest = NULL;
  double least = 0;
  for (int row = 0; (name = THNN_(engine_rowName)(row)); row++) {
    THNNConvolutionPlan plan;
    if (!strncmp(name, "fourier", strlen("fourier")) ||
        !THNN_(engine_prepareRow)(&plan, state, g, part, row, false))
      continue;
    if (!fastest || THNN_(engine_cost)(&plan) < least) {
      fastest = name;
      least = THNN_(engine_cost)(&plan);
    }
  }
  return fastest;
}

/* Winograd's algorithm is expected to be faster than sums of products where it pays: for many planes
 * on large maps, also dilated. */
void testWinogradPlans(THNNState *state)
{
  const char *winograd = "winograd";
  const THNNConvolution few = layerOf(1, 3, 64, 56, 56);
  THNN_State_setThreads(state, 1);
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
  for (int part = THNN_CONVOLUTION_FORWARD; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++) {
    for (int dilation = 1; dilation <= 2; dilation++) {
      THNNConvolution many = layerOf(1, 128, 128, 56, 56);
      for (int i = 1; i < 3; i++)
        many.pad[i] = many.dilation[i] = dilation;
      const char *fastest = fastestSum(&many, (THNNConvolutionPart)part, state);
      CHECK(!strncmp(fastest, winograd, strlen(winograd)));
    }
    THNNConvolutionPlan plan;
    THNN_(engine_prepare)(&plan, state, &few, (THNNConvolutionPart)part);
    CHECK(!isWinograd(&plan));
  }
}
