#include "generic/convolution/planewise/slidingSums.h"

#include "generic/convolution/planewise/depthwise.h"
#include "work/sizes.h"

enum {
  LARGE_SIDE = 5,
  MOST_LANES = 64 / sizeof(real),
  MOST_SUMS = (LARGE_SIDE * LARGE_SIDE + 1) * MOST_LANES
};

static bool isSmallSquare(const THNNConvolution *g)
{
  return g->kernel[1] == g->kernel[2] && (g->kernel[1] == 3 || g->kernel[1] == LARGE_SIDE);
}

static int64_t columnsOf(const THNNConvolution *g, THNNConvolutionPart part)
{
  return THNN_toImage(part) ? g->input[2] : g->output[2];
}

static const SimdSliding *loopsFor(const THNNConvolution *g, THNNConvolutionPart part)
{
  const bool narrow = columnsOf(g, part) <= THNN_(simd).narrowSliding.lanes;
  return narrow ? &THNN_(simd).narrowSliding : &THNN_(simd).sliding;
}

/* Whether weight gradients are summed up plane by plane: reproducible calls have the sums of planes in
 * lanes on every processor, and few planes leave threads without work. */
static bool correlates(const THNNPlaneJoins *joins, const SimdSliding *loops)
{
#if defined(THNN_REPRODUCIBLE)
  (void)joins, (void)loops;
  return false;
#else
  /* Fewer terms are added in the time that it takes to begin and end the sums: 196 took 1.37 times as
   * long as with planes in lanes, 1568 0.75. */
  enum { ENOUGH_TERMS = 1000 };
  const THNNConvolution *g = &joins->geometry;
  const int64_t positions = g->output[1] * g->output[2];
  return joins->connections >= ENOUGH_TASKS && g->kernel[1] <= loops->mostDotSide &&
         positions >= loops->leastDotted && g->batch * positions >= ENOUGH_TERMS;
#endif
}

/* Whether results are summed up plane by plane. For a few rows of few samples, strips take longer to
 * begin than to sum up: one sample of 7x7 takes 1.2 to 1.3 times as long as with planes in lanes, two
 * samples as long, one of 14x14 0.7 to 0.9. */
static bool gathers(const THNNPlaneJoins *joins, THNNConvolutionPart part, const SimdSliding *loops)
{
  enum { ENOUGH_RESULTS = 128 };
  const THNNConvolution *g = &joins->geometry;
  const int64_t columns = columnsOf(g, part),
                rows = THNN_toImage(part) ? g->input[1] : g->output[1];
  const int64_t together = minimum(g->batch, loops->planes);
  const int64_t lanes = divideUp(columns, loops->lanes) * loops->lanes;
  return together * rows * columns >= ENOUGH_RESULTS && 100 * columns >= loops->leastFull * lanes;
}

/* The largest stride of a pass. With 2, neighbours in the gradient of an image meet different taps, which
 * is left to planes in lanes. */
static int64_t mostStride(const THNNConvolution *g, THNNConvolutionPart part,
                          const SimdSliding *loops)
{
  if (part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
    return g->kernel[1] == 3 ? 2 : 1;
  return !THNN_toImage(part) && g->kernel[1] <= loops->mostStridedSide ? 2 : 1;
}

bool THNN_(slidingSums_apply)(const THNNPlaneJoins *joins, THNNConvolutionPart part)
{
  const THNNConvolution *g = &joins->geometry;
  const SimdSliding *loops = loopsFor(g, part);
  /* One result plane has one connection, to which nothing is added. */
  const bool alone = THNN_toImage(part) ? joins->multiplier == 1 : joins->multiplier >= 1;
  if (!loops->applies || !alone || joins->adds || !isSmallSquare(g) || g->batch < 1)
    return false;
  const int64_t most = mostStride(g, part, loops);
  for (int i = 1; i < 3; i++)
    if (g->stride[i] > most || g->stride[i] != g->stride[1] || g->dilation[i] != 1 ||
        g->output[i] < 1)
      return false;
  return part == THNN_CONVOLUTION_BACKWARD_WEIGHT ? correlates(joins, loops)
                                                  : gathers(joins, part, loops);
}

static int threadsFor(const THNNState *state, const THNNPlaneJoins *joins, int64_t tasks)
{
  return THNN_threads(state, tasks, THNN_operationsOf(joins) / (double)vectorLanes());
}

/* ---- From a source to results ---------------------------------------------------------------- */

/* The sums of a connection in some samples, from `sample` on. */
static SlidingSums sumsOf(const THNNPlaneJoins *joins, THNNConvolutionPart part, int64_t connection,
                          int64_t sample, const real *source, real *result)
{
  const THNNConvolution *g = &joins->geometry;
  const int64_t side = g->kernel[1], reach = side - 1;
  const int64_t plane = THNN_joinedPlane(joins, connection, true),
                map = THNN_joinedPlane(joins, connection, false);
  const int64_t *from = THNN_toImage(part) ? g->output : g->input;
  const int64_t *to = THNN_toImage(part) ? g->input : g->output;
  SlidingSums sums = {.side = side,
                      .stride = g->stride[1],
                      .height = from[1],
                      .width = from[2],
                      .rows = to[1],
                      .columns = to[2],
                      .above = THNN_toImage(part) ? reach - g->pad[1] : g->pad[1],
                      .left = THNN_toImage(part) ? reach - g->pad[2] : g->pad[2]};
  const int64_t seen = from[1] * from[2], results = to[1] * to[2];
  sums.xPlane = (THNN_toImage(part) ? g->outputPlanes : g->inputPlanes) * seen;
  sums.yPlane = (THNN_toImage(part) ? g->inputPlanes : g->outputPlanes) * results;
  sums.x = source + sample * sums.xPlane + (THNN_toImage(part) ? map : plane) * seen;
  sums.y = result + sample * sums.yPlane + (THNN_toImage(part) ? plane : map) * results;
  return sums;
}

void THNN_(slidingSums_gather)(const THNNState *state, const THNNPlaneJoins *joins,
                               THNNConvolutionPart part, const real *source, const real *weight,
                               const real *bias, real *result)
{
  const THNNConvolution *g = &joins->geometry;
  const int64_t taps = g->kernel[1] * g->kernel[2], connections = joins->connections;
  const SimdSliding *loops = loopsFor(g, part);
  const int64_t groups = divideUp(g->batch, loops->planes);
  const int threads = threadsFor(state, joins, connections * groups);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < connections * groups; i++) {
    const int64_t connection = i % connections, sample = g->batch * (i / connections) / groups;
    const int64_t next = (i + 1) % connections;
    real factors[LARGE_SIDE * LARGE_SIDE];
    for (int64_t tap = 0; tap < taps; tap++) /* the image meets the taps in the reverse order */
      factors[tap] = weight[connection * taps + (THNN_toImage(part) ? taps - 1 - tap : tap)];
    SlidingSums sums = sumsOf(joins, part, connection, sample, source, result);
    sums.factors = factors;
    sums.start = bias ? bias[connection] : 0;
    sums.planes = g->batch * (i / connections + 1) / groups - sample;
    if (next > 0) {
      const SlidingSums then = sumsOf(joins, part, next, sample, source, result);
      sums.xAhead = then.x - sums.x;
      sums.yAhead = then.y - sums.y;
    }
    loops->sum(&sums);
  }
}

/* ---- The weight gradient --------------------------------------------------------------------- */

/* Unfinished sums: a vector for each tap, and one for the map itself. */
typedef struct Sums {
  const SimdSliding *loops;
  int64_t length, products; /* elements; products in each partial sum so far */
  real part[MOST_SUMS];
  double whole[MOST_SUMS];
} Sums;

static void settle(Sums *sums)
{
  THNN_(simd).planes.settle(sums->length, sums->part, sums->whole);
  sums->products = 0;
}

/* Adds the products of two planes, in bands of rows of at most PRODUCTS_PER_SUM terms or one row. */
static void dotPlanes(SlidingDots dots, Sums *sums)
{
  const int64_t each = divideUp(dots.columns, sums->loops->lanes); /* terms in a row */
  const int64_t most = maximum(1, PRODUCTS_PER_SUM / each);
  for (int64_t left = dots.rows; left > 0; left -= dots.rows) {
    dots.rows = minimum(left, most);
    if (sums->products + dots.rows * each > PRODUCTS_PER_SUM)
      settle(sums);
    sums->loops->dot(&dots);
    sums->products += dots.rows * each;
    dots.map += dots.rows * dots.columns;
    dots.above -= dots.stride * dots.rows;
  }
}

/* The sum of one tap's lanes, or of the map's. */
static double sumOf(const Sums *sums, int64_t tap)
{
  const int64_t lanes = sums->loops->lanes;
  double sum = 0;
  for (int64_t lane = 0; lane < lanes; lane++)
    sum += sums->whole[tap * lanes + lane];
  return sum;
}

static void correlateConnection(const THNNPlaneJoins *joins, int64_t connection, const real *image,
                                const real *map, Sums *sums)
{
  const THNNConvolution *g = &joins->geometry;
  const int64_t elements = g->input[1] * g->input[2], positions = g->output[1] * g->output[2];
  const int64_t first = THNN_joinedPlane(joins, connection, true),
                to = THNN_joinedPlane(joins, connection, false);
  sums->loops = loopsFor(g, THNN_CONVOLUTION_BACKWARD_WEIGHT);
  sums->length = (g->kernel[1] * g->kernel[2] + 1) * sums->loops->lanes;
  sums->products = 0;
  for (int64_t i = 0; i < sums->length; i++)
    sums->part[i] = 0, sums->whole[i] = 0;
  for (int64_t sample = 0; sample < g->batch; sample++) {
    const bool last = sample + 1 == g->batch;
    const SlidingDots dots = {.side = g->kernel[1],
                              .stride = g->stride[1],
                              .height = g->input[1],
                              .width = g->input[2],
                              .rows = g->output[1],
                              .columns = g->output[2],
                              .above = g->pad[1],
                              .left = g->pad[2],
                              .x = image + (sample * g->inputPlanes + first) * elements,
                              .map = map + (sample * g->outputPlanes + to) * positions,
                              .xAhead = last ? 0 : g->inputPlanes * elements,
                              .mapAhead = last ? 0 : g->outputPlanes * positions,
                              .sums = sums->part};
    dotPlanes(dots, sums);
  }
  settle(sums);
}

void THNN_(slidingSums_correlate)(const THNNState *state, const THNNPlaneJoins *joins,
                                  const real *image, const real *map, double scale,
                                  real *gradWeight, real *gradBias)
{
  const int64_t taps = joins->geometry.kernel[1] * joins->geometry.kernel[2];
  const int threads = threadsFor(state, joins, joins->connections);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < joins->connections; i++) {
    Sums sums;
    correlateConnection(joins, i, image, map, &sums);
    for (int64_t tap = 0; tap < taps; tap++)
      gradWeight[i * taps + tap] += (real)(scale * sumOf(&sums, tap));
    if (gradBias)
      gradBias[i] += (real)(scale * sumOf(&sums, taps));
  }
}
