#include "planesLast.h"

#include <math.h>
#include <stdlib.h>

#include "../check.h"
#include "parts.h"
#include "transforms.h"

enum { MOST_THREADS = 4, MOST_ERROR = 16 };

/* Samples of `planes` planes in the other order: planes last, or with `back` planes first again. */
static real *reordered(const real *x, int64_t batch, int64_t planes, int64_t positions, bool back)
{
  real *y = newArray(batch * planes * positions);
  for (int64_t n = 0; n < batch; n++)
    for (int64_t plane = 0; plane < planes; plane++)
      for (int64_t i = 0; i < positions; i++) {
        const int64_t first = (n * planes + plane) * positions + i;
        const int64_t last = (n * positions + i) * planes + plane;
        y[back ? first : last] = x[back ? last : first];
      }
  return y;
}

/* The map that an image gives, both with their planes first; the engine has them in the order of the
 * geometry. */
static real *mapOf(const THNNConvolution *g, const Computation *of, THNNState *state,
                   THNNConvolutionPlan *plan)
{
  Computation given = *of;
  real *image = reordered(of->image, g->batch, g->inputPlanes, product(g->input), false);
  real *addend = NULL;
  if (g->imageLast)
    given.image = image;
  if (g->mapLast && of->finish.addend) {
    addend = reordered(of->finish.addend, g->batch, g->outputPlanes, product(g->output), false);
    given.finish.addend = addend;
  }
  real *map = compute(g, &given, state, plan);
  if (g->mapLast) {
    real *first = reordered(map, g->batch, g->outputPlanes, product(g->output), true);
    free(map);
    map = first;
  }
  free(image);
  free(addend);
  return map;
}

/* Compares a layer with its definition, for any number of threads. Returns the name of the row that
 * computed it. */
static const char *testLayer(const THNNConvolution *g, bool keeps, THNNState *state)
{
  const int64_t results = mapSize(g);
  real *image = newRandom(imageSize(g)), *weight = newRandom(weightSize(g));
  real *bias = newRandom(g->outputPlanes), *addend = newRandom(results);
  double *wanted = calloc((size_t)results, sizeof(double));
  double *size = calloc((size_t)results, sizeof(double));
  const bool adds = randomBetween(0, 1), rectifies = randomBetween(0, 1);
  const Computation of = {.part = THNN_CONVOLUTION_FORWARD,
                          .image = image,
                          .weight = weight,
                          .bias = bias,
                          .planes = g->outputPlanes,
                          .results = results,
                          .keeps = keeps,
                          .finish = {.addend = adds ? addend : NULL, .rectifies = rectifies}};
  THNNConvolution plain = *g;
  plain.imageLast = plain.mapLast = false;
  addProducts(&plain, of.part, image, NULL, weight, wanted, size);
  if (areFor(&transforms[1], &plain)) /* F(4x4, 3x3) sums up more */
    addTransformedSizes(&transforms[1], &plain, &of, size);
  for (int64_t i = 0; i < results; i++) {
    const double more = (adds ? addend[i] : 0) + bias[i / product(g->output) % g->outputPlanes];
    wanted[i] = rectifies ? fmax(wanted[i] + more, 0) : wanted[i] + more;
    size[i] += fabs(more) + 1;
  }
  THNNConvolutionPlan plan;
  THNN_State_setThreads(state, 1);
  real *first = mapOf(g, &of, state, &plan);
  const bool right = largestError(first, wanted, size, results) < MOST_ERROR;
  CHECK(right);
  if (!right)
    printGeometry(g, "wrong with the planes last");
  for (int threads = 2; threads <= MOST_THREADS; threads++) {
    THNN_State_setThreads(state, threads);
    real *other = mapOf(g, &of, state, &plan);
    CHECK(!memcmp(first, other, (size_t)results * sizeof(real)));
    free(other);
  }
  free(image);
  free(weight);
  free(bias);
  free(addend);
  free(wanted);
  free(size);
  free(first);
  return plan.chosen.algorithm->name;
}

/* An infinite element: results that see it are not finite, the others are as without it. */
static void testInfinite(const THNNConvolution *g, THNNState *state)
{
  real *image = newRandom(imageSize(g)), *weight = newRandom(weightSize(g));
  const Computation of = {.part = THNN_CONVOLUTION_FORWARD,
                          .image = image,
                          .weight = weight,
                          .planes = g->outputPlanes,
                          .results = mapSize(g),
                          .keeps = true};
  const int64_t positions = product(g->output), where = positions / 2;
  image[where] = INFINITY;
  THNNConvolutionPlan plan;
  real *map = mapOf(g, &of, state, &plan);
  CHECK(isRow(&plan, "winograd4Last"));
  for (int64_t i = 0; i < g->outputPlanes * positions; i++) {
    bool sees = false;
    for (int64_t tap = 0; tap < product(g->kernel); tap++)
      sees = sees || seenIndex(g, i % positions, tap) == where;
    CHECK(sees != (bool)isfinite(map[i]));
  }
  free(image);
  free(weight);
  free(map);
}

/* Tiles inside, at the edges and cut off; blocks of several rows of tiles; panels of one vector and
 * of several. The limit on memory leaves room for them. */
static void testTiles(THNNState *state)
{
  const int64_t sizes[][5] = {{1, 16, 16, 32, 32}, {2, 32, 48, 9, 6},  {3, 64, 16, 4, 13},
                              {1, 16, 80, 1, 3},   {1, 128, 32, 7, 7}, {1, 32, 64, 21, 50}};
  THNN_State_setWorkspaceLimit(state, (size_t)8 << 20);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int64_t pad = 0; pad <= 2; pad++) {
      const int64_t *of = sizes[i];
      const THNNConvolution g = {.batch = of[0],
                                 .inputPlanes = of[1],
                                 .outputPlanes = of[2],
                                 .input = {1, of[3] + 2 - pad, of[4] + 2},
                                 .output = {1, of[3] + pad, of[4] + 2 * pad},
                                 .kernel = {1, 3, 3},
                                 .stride = {1, 1, 1},
                                 .dilation = {1, 1, 1},
                                 .pad = {0, pad, pad},
                                 .imageLast = true,
                                 .mapLast = true};
      THNN_State_setConvolutionRow(state, "winograd4Last");
      CHECK(!strcmp(testLayer(&g, true, state), "winograd4Last"));
      if (pad == 1)
        testInfinite(&g, state);
      THNN_State_setConvolutionRow(state, "direct");
      CHECK(!strcmp(testLayer(&g, true, state), "direct"));
    }
  THNN_State_setConvolutionRow(state, NULL);
}

void testPlanesLast(THNNState *state)
{
  int orders[4] = {0};
  testTiles(state);
  for (int i = 0; i < 400; i++) {
    THNNConvolution g = randomGeometry();
    THNNConvolutionPlan plan;
    g.imageLast = i % 2;
    g.mapLast = i / 2 % 2;
    if (operations(&g) > 1e6 || !(g.imageLast || g.mapLast))
      continue;
    THNN_(engine_prepare)(&plan, state, &g, THNN_CONVOLUTION_FORWARD);
    if (!THNN_(engine_applies)(&plan))
      continue;
    testLayer(&g, randomBetween(0, 1), state);
    orders[i % 4]++;
  }
  CHECK(orders[1] > 10 && orders[2] > 10 && orders[3] > 10);
  /* A layer whose only result sees the whole image has no algorithm for this order. */
  THNNConvolutionPlan plan;
  const THNNConvolution linear = {.batch = 2,
                                  .inputPlanes = 4,
                                  .outputPlanes = 3,
                                  .input = {1, 5, 5},
                                  .output = {1, 1, 1},
                                  .kernel = {1, 5, 5},
                                  .stride = {1, 1, 1},
                                  .dilation = {1, 1, 1},
                                  .imageLast = true};
  THNN_(engine_prepare)(&plan, state, &linear, THNN_CONVOLUTION_FORWARD);
  CHECK(!THNN_(engine_applies)(&plan));
}
