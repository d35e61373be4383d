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

/* Whether results have so many percent of the lanes of their vectors. */
static bool fills(int64_t columns, int64_t lanes, int64_t percent)
{
  return 100 * columns >= percent * divideUp(columns, lanes) * lanes;
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
  const bool dilated = g->dilation[1] > 1 || g->dilation[2] > 1;
  return joins->connections >= ENOUGH_TASKS && g->kernel[1] <= loops->mostDotSide &&
         positions >= g->dilation[1] * loops->leastDotted && g->batch * positions >= ENOUGH_TERMS &&
         (!dilated || fills(g->output[2], loops->lanes, loops->leastDilatedFull));
#endif
}

/* Whether results are summed up plane by plane. For a few rows of few samples, strips take longer to
 * begin than to sum up: one sample of 7x7 takes 1.2 to 1.3 times as long as with planes in lanes, two
 * samples as long, one of 14x14 0.7 to 0.9. A dilated kernel has strips for every nth row. */
static bool gathers(const THNNPlaneJoins *joins, THNNConvolutionPart part, const SimdSliding *loops)
{
  enum { ENOUGH_RESULTS = 128 };
  const THNNConvolution *g = &joins->geometry;
  const int64_t columns = columnsOf(g, part), step = g->dilation[1],
                rows = THNN_toImage(part) ? g->input[1] : g->output[1];
  const int64_t together = minimum(g->batch, loops->planes);
  const int64_t least = step > 1 ? loops->leastDilated : ENOUGH_RESULTS;
  return together * rows * columns >= step * least &&
         fills(columns, loops->lanes, loops->leastFull);
}

/* The largest stride of a pass. */
static int64_t mostStride(const THNNConvolution *g, THNNConvolutionPart part,
                          const SimdSliding *loops)
{
  if (THNN_toImage(part))
    return 2;
  return g->kernel[1] <= (part == THNN_CONVOLUTION_FORWARD ? loops->mostStridedSide : 3) ? 2 : 1;
}

/* Whether a pass has each element of a map spread to several of an image, next to each other, which meet
 * different taps. */
static bool spreads(const THNNConvolution *g, THNNConvolutionPart part)
{
  return THNN_toImage(part) && g->stride[1] == 2;
}

static const SimdSpreading *spreadingLoopsFor(const THNNConvolution *g)
{
  const bool narrow = g->input[2] <= 2 * THNN_(simd).narrowSpreading.lanes;
  return narrow ? &THNN_(simd).narrowSpreading : &THNN_(simd).spreading;
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
    if (g->stride[i] > most || g->stride[i] != g->stride[1] ||
        (g->dilation[i] > 1 && g->stride[i] > 1) || g->output[i] < 1)
      return false;
  if (spreads(g, part))
    return fills(g->input[2], 2 * spreadingLoopsFor(g)->lanes, loops->leastFull);
  return part == THNN_CONVOLUTION_BACKWARD_WEIGHT ? correlates(joins, loops)
                                                  : gathers(joins, part, loops);
}

static int threadsFor(const THNNState *state, const THNNPlaneJoins *joins, int64_t tasks)
{
  return THNN_threads(state, tasks, THNN_operationsOf(joins) / (double)vectorLanes());
}

/* Every nth row of results, for a dilation of n: they see every nth line of the source. */
typedef struct EveryNth {
  int64_t rows;
  int64_t line, lines; /* the first line, if there are any */
  int64_t above;       /* lines of zeros before it */
} EveryNth;

/* From row `row` on. */
static EveryNth everyNth(const THNNConvolution *g, int64_t row, int64_t rows, int64_t height,
                         int64_t above)
{
  const int64_t step = g->dilation[1], begin = row - above;
  EveryNth some = {.rows = divideUp(rows - row, step)};
  some.above = begin < 0 ? divideUp(-begin, step) : 0;
  some.line = begin + some.above * step;
  if (some.line < height)
    some.lines = divideUp(height - some.line, step);
  else
    some.line = 0;
  return some;
}

/* ---- From a source to results ---------------------------------------------------------------- */

/* The planes of a pass: what all connections have in common. */
static SlidingSums planesOf(const THNNConvolution *g, THNNConvolutionPart part)
{
  const bool toImage = THNN_toImage(part);
  const int64_t side = g->kernel[1];
  const int64_t above = (side - 1) * g->dilation[1], left = (side - 1) * g->dilation[2];
  const int64_t *from = toImage ? g->output : g->input;
  const int64_t *to = toImage ? g->input : g->output;
  return (SlidingSums){.side = side,
                       .stride = g->stride[1],
                       .tapStep = g->dilation[2],
                       .height = from[1],
                       .width = from[2],
                       .rows = to[1],
                       .columns = to[2],
                       .xLine = g->dilation[1] * from[2],
                       .yRow = g->dilation[1] * to[2],
                       .above = toImage ? above - g->pad[1] : g->pad[1],
                       .left = toImage ? left - g->pad[2] : g->pad[2],
                       .xPlane = (toImage ? g->outputPlanes : g->inputPlanes) * from[1] * from[2],
                       .yPlane = (toImage ? g->inputPlanes : g->outputPlanes) * to[1] * to[2]};
}

/* Sums up all rows of the results of `planes`; the rest is in `sums`. */
static void sumRows(const THNNConvolution *g, const SimdSliding *loops, const SlidingSums *planes,
                    SlidingSums *sums)
{
  const real *x = sums->x;
  real *y = sums->y;
  for (int64_t row = 0; row < minimum(g->dilation[1], planes->rows); row++) {
    const EveryNth some = everyNth(g, row, planes->rows, planes->height, planes->above);
    sums->x = x + some.line * planes->width;
    sums->y = y + row * planes->columns;
    sums->height = some.lines;
    sums->rows = some.rows;
    sums->above = some.above;
    loops->sum(sums);
  }
}

/* Takes the factors of a connection's taps; an image meets the taps in the reverse order. */
static void takeFactors(const THNNConvolution *g, bool toImage, const real *weight, real *factors)
{
  const int64_t taps = g->kernel[1] * g->kernel[2];
  for (int64_t tap = 0; tap < taps; tap++)
    factors[tap] = weight[toImage ? taps - 1 - tap : tap];
}

/* Sums up the image of a layer with stride 2, plane by plane. */
static void spread(const THNNState *state, const THNNPlaneJoins *joins, const real *source,
                   const real *weight, const real *bias, real *result)
{
  const THNNConvolution *g = &joins->geometry;
  const int64_t taps = g->kernel[1] * g->kernel[2], connections = joins->connections;
  const SpreadSums plane = {.side = g->kernel[1],
                            .height = g->output[1],
                            .width = g->output[2],
                            .rows = g->input[1],
                            .columns = g->input[2],
                            .above = g->pad[1],
                            .left = g->pad[2]};
  const int64_t seen = plane.height * plane.width, results = plane.rows * plane.columns;
  const SimdSpreading *loops = spreadingLoopsFor(g);
  const int threads = threadsFor(state, joins, connections * g->batch);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < connections * g->batch; i++) {
    const int64_t connection = i % connections, sample = i / connections;
    const int64_t from = sample * g->outputPlanes + THNN_joinedPlane(joins, connection, false),
                  to = sample * g->inputPlanes + THNN_joinedPlane(joins, connection, true);
    real factors[LARGE_SIDE * LARGE_SIDE];
    takeFactors(g, true, weight + connection * taps, factors);
    SpreadSums sums = plane;
    sums.factors = factors;
    sums.start = bias ? bias[connection] : 0;
    sums.x = source + from * seen;
    sums.y = result + to * results;
    loops->sum(&sums);
  }
}

void THNN_(slidingSums_gather)(const THNNState *state, const THNNPlaneJoins *joins,
                               THNNConvolutionPart part, const real *source, const real *weight,
                               const real *bias, real *result)
{
  const THNNConvolution *g = &joins->geometry;
  if (spreads(g, part)) {
    spread(state, joins, source, weight, bias, result);
    return;
  }
  const bool toImage = THNN_toImage(part);
  const int64_t taps = g->kernel[1] * g->kernel[2], connections = joins->connections;
  const SimdSliding *loops = loopsFor(g, part);
  const SlidingSums planes = planesOf(g, part);
  const int64_t seen = planes.height * planes.width, results = planes.rows * planes.columns;
  const int64_t groups = divideUp(g->batch, loops->planes);
  const int threads = threadsFor(state, joins, connections * groups);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < connections * groups; i++) {
    const int64_t connection = i % connections, sample = g->batch * (i / connections) / groups;
    const int64_t next = (i + 1) % connections;
    const int64_t from = THNN_joinedPlane(joins, connection, !toImage) * seen,
                  to = THNN_joinedPlane(joins, connection, toImage) * results;
    real factors[LARGE_SIDE * LARGE_SIDE];
    takeFactors(g, toImage, weight + connection * taps, factors);
    SlidingSums sums = planes;
    sums.factors = factors;
    sums.start = bias ? bias[connection] : 0;
    sums.planes = g->batch * (i / connections + 1) / groups - sample;
    sums.x = source + sample * planes.xPlane + from;
    sums.y = result + sample * planes.yPlane + to;
    if (next > 0) {
      sums.xAhead = THNN_joinedPlane(joins, next, !toImage) * seen - from;
      sums.yAhead = THNN_joinedPlane(joins, next, toImage) * results - to;
    }
    sumRows(g, loops, &planes, &sums);
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

/* Adds the products of rows of two planes, in bands of at most PRODUCTS_PER_SUM terms or one row. */
static void dotBands(SlidingDots *dots, Sums *sums)
{
  const int64_t each = divideUp(dots->columns, sums->loops->lanes); /* terms in a row */
  const int64_t most = maximum(1, PRODUCTS_PER_SUM / each);
  for (int64_t left = dots->rows; left > 0; left -= dots->rows) {
    dots->rows = minimum(left, most);
    if (sums->products + dots->rows * each > PRODUCTS_PER_SUM)
      settle(sums);
    sums->loops->dot(dots);
    sums->products += dots->rows * each;
    dots->map += dots->rows * dots->mapRow;
    dots->above -= dots->stride * dots->rows;
  }
}

/* What all pairs of planes have in common. */
static SlidingDots pairsOf(const THNNConvolution *g)
{
  return (SlidingDots){.side = g->kernel[1],
                       .stride = g->stride[1],
                       .tapStep = g->dilation[2],
                       .height = g->input[1],
                       .width = g->input[2],
                       .rows = g->output[1],
                       .columns = g->output[2],
                       .xLine = g->dilation[1] * g->input[2],
                       .mapRow = g->dilation[1] * g->output[2],
                       .above = g->pad[1],
                       .left = g->pad[2]};
}

/* Adds the products of all rows of `pair`, from x and map on; the rest is in `dots`. */
static void dotPlanes(const THNNConvolution *g, const SlidingDots *pair, const real *x,
                      const real *map, SlidingDots *dots, Sums *sums)
{
  for (int64_t row = 0; row < minimum(g->dilation[1], pair->rows); row++) {
    const EveryNth some = everyNth(g, row, pair->rows, pair->height, pair->above);
    dots->x = x + some.line * pair->width;
    dots->map = map + row * pair->columns;
    dots->height = some.lines;
    dots->rows = some.rows;
    dots->above = some.above;
    dotBands(dots, sums);
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

static void correlateConnection(const THNNPlaneJoins *joins, int64_t connection,
                                const SlidingDots *pair, const real *image, const real *map,
                                Sums *sums)
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
  SlidingDots dots = *pair;
  dots.sums = sums->part;
  for (int64_t sample = 0; sample < g->batch; sample++) {
    const bool last = sample + 1 == g->batch;
    dots.xAhead = last ? 0 : g->inputPlanes * elements;
    dots.mapAhead = last ? 0 : g->outputPlanes * positions;
    dotPlanes(g, pair, image + (sample * g->inputPlanes + first) * elements,
              map + (sample * g->outputPlanes + to) * positions, &dots, sums);
  }
  settle(sums);
}

void THNN_(slidingSums_correlate)(const THNNState *state, const THNNPlaneJoins *joins,
                                  const real *image, const real *map, double scale,
                                  real *gradWeight, real *gradBias)
{
  const int64_t taps = joins->geometry.kernel[1] * joins->geometry.kernel[2];
  const SlidingDots pair = pairsOf(&joins->geometry);
  const int threads = threadsFor(state, joins, joins->connections);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < joins->connections; i++) {
    Sums sums;
    correlateConnection(joins, i, &pair, image, map, &sums);
    for (int64_t tap = 0; tap < taps; tap++)
      gradWeight[i * taps + tap] += (real)(scale * sumOf(&sums, tap));
    if (gradBias)
      gradBias[i] += (real)(scale * sumOf(&sums, taps));
  }
}
