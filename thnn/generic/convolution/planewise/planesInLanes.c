#include "generic/convolution/planewise/planesInLanes.h"

#include "generic/convolution/planewise/depthwise.h"
#include "work/scratch.h"

enum {
  BAND_BYTES = 192 << 10, /* limit on a band's source and results, which stay in the second-level
                            * cache */
  LARGEST_BYTES = 1 << 20 /* limit on a band of one unit, and on the factors of a block */
};

/* What threads share. */
typedef struct Shared {
  int64_t *offsets, *factorAt; /* offset of each tap in a band, and of its factors */
  double *sums;                /* weight gradient: sums of each task */
} Shared;

/* A band of a block of planes in one sample; after the blank line, the thread's scratch. */
typedef struct Task {
  int64_t plane, planes;       /* first plane, and their number */
  int64_t sample, unit, units; /* the first unit of the band, and their number */

  real *source, *results;
  real *factors, *start; /* packed weights, and biases */
  real *partial;         /* weight gradient: partial sums */
  real *old;             /* what results are added to */
} Task;

static int64_t tapsOf(const THNNPlaneJoins *joins)
{
  return joins->geometry.kernel[1] * joins->geometry.kernel[2];
}

/* The number of sums of a block of planes: a vector for each tap, and one for the map itself. */
static int64_t sumsOf(const THNNPlaneJoins *joins)
{
  return (tapsOf(joins) + 1) * vectorLanes();
}

static bool toImage(const PlanesInLanes *d)
{
  return THNN_toImage(d->part);
}

static Axis axisOf(const PlanesInLanes *d, int axis, int64_t residue)
{
  const THNNConvolution *g = &d->joins->geometry;
  return toImage(d) ? backwardAxis(g, axis, residue) : forwardAxis(g, axis);
}

/* ---- Planning -------------------------------------------------------------------------------- */

static void measureAxis(PlanesInLanes *d, int axis)
{
  const THNNConvolution *g = &d->joins->geometry;
  d->residues[axis] = toImage(d) ? minimum(g->stride[axis + 1], g->input[axis + 1]) : 1;
  d->sourceStep[axis] = toImage(d) ? 1 : g->stride[axis + 1];
  int64_t high = INT64_MIN;
  d->low[axis] = INT64_MAX;
  for (int64_t residue = 0; residue < d->residues[axis]; residue++) {
    const Axis along = axisOf(d, axis, residue);
    if (along.taps == 0)
      continue;
    d->low[axis] = minimum(d->low[axis], along.start);
    high = maximum(high, along.start + spanOf(&along));
  }
  if (high < d->low[axis]) /* no class has a tap */
    high = d->low[axis] = 0;
  d->extent[axis] = high - d->low[axis];
}

/* Rows of the source that `units` units see. */
static int64_t sourceRows(const PlanesInLanes *d, int64_t units)
{
  return (units - 1) * d->sourceStep[HEIGHT] + d->extent[HEIGHT];
}

/* Rows of results in `units` units. */
static int64_t resultRows(const PlanesInLanes *d, int64_t units)
{
  return toImage(d) ? units * d->joins->geometry.stride[1] : units;
}

static int64_t resultWidth(const PlanesInLanes *d)
{
  const THNNConvolution *g = &d->joins->geometry;
  return toImage(d) ? g->input[2] : g->output[2];
}

/* Bytes of a band, in floating point: with absurd padding they are more than any integer holds. */
static double bandBytes(const PlanesInLanes *d, int64_t units)
{
  const double source = (double)sourceRows(d, units) * (double)d->pitch;
  const double results = (double)resultRows(d, units) * (double)resultWidth(d);
  return (source + results) * (double)vectorLanes() * sizeof(real);
}

static Shared layOutShared(const PlanesInLanes *d, Scratch *scratch)
{
  const int64_t tasks = d->blocks * d->joins->multiplier * d->shares;
  Shared shared = {.offsets = THNN_take(scratch, tapsOf(d->joins), sizeof(int64_t))};
  shared.factorAt = THNN_take(scratch, tapsOf(d->joins), sizeof(int64_t));
  if (d->part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
    shared.sums = THNN_take(scratch, tasks * sumsOf(d->joins), sizeof(double));
  return shared;
}

static void layOutTask(const PlanesInLanes *d, Task *task, Scratch *scratch)
{
  const int64_t multiplier = d->joins->multiplier, lanes = vectorLanes();
  task->source = THNN_take(scratch, sourceRows(d, d->bandUnits) * d->pitch * lanes, sizeof(real));
  task->results =
      THNN_take(scratch, resultRows(d, d->bandUnits) * resultWidth(d) * lanes, sizeof(real));
  task->factors = THNN_take(scratch, multiplier * tapsOf(d->joins) * lanes, sizeof(real));
  task->start = THNN_take(scratch, multiplier * lanes, sizeof(real));
  task->partial = THNN_take(scratch, sumsOf(d->joins), sizeof(real));
  if (d->joins->adds)
    task->old =
        THNN_take(scratch, resultRows(d, d->bandUnits) * resultWidth(d) * lanes, sizeof(real));
}

static void measure(PlanesInLanes *d)
{
  Scratch shared = {0}, thread = {0};
  Task task;
  layOutShared(d, &shared);
  layOutTask(d, &task, &thread);
  d->sharedBytes = shared.used;
  d->threadBytes = thread.used;
  d->scratchBytes = shared.used + thread.used * (size_t)d->threads;
}

/* Whether vectors of planes are faster than vectors of neighbouring positions. The latter waste the
 * lanes past the end of a row, and need the source sorted if the stride is not 1; the former waste
 * the lanes that have no plane. */
static bool isWorthwhile(const PlanesInLanes *d)
{
  const THNNConvolution *g = &d->joins->geometry;
  const int64_t planes = d->joins->imagePlanes, multiplier = d->joins->multiplier;
  if (g->output[1] < 1 || g->output[2] < 1 || g->batch < 1)
    return false;
  if (bandBytes(d, 1) > LARGEST_BYTES ||
      (size_t)(multiplier * tapsOf(d->joins) * vectorLanes()) * sizeof(real) > LARGEST_BYTES)
    return false;
  const int64_t inLanes = divideUp(planes, vectorLanes()) * vectorLanes();
  if (4 * planes >= 3 * inLanes)
    return true;
  return 2 * planes >= inLanes && (g->stride[2] > 1 || g->output[2] <= vectorLanes());
}

PlanesInLanes THNN_(planesInLanes_plan)(const THNNState *state, const THNNPlaneJoins *joins,
                                        THNNConvolutionPart part)
{
  PlanesInLanes d = {.joins = joins, .part = part};
  const THNNConvolution *g = &joins->geometry;
  if (joins->multiplier < 1)
    return d;
  measureAxis(&d, HEIGHT);
  measureAxis(&d, WIDTH);
  const bool image = toImage(&d);
  const int64_t width = image ? g->output[2] : g->input[2];
  const int64_t columns = image ? divideUp(g->input[2], g->stride[2]) : g->output[2];
  d.units = image ? divideUp(g->input[1], g->stride[1]) : g->output[1];
  d.left = maximum(0, -d.low[WIDTH]);
  d.pitch =
      d.left + maximum(width, d.low[WIDTH] + (columns - 1) * d.sourceStep[WIDTH] + d.extent[WIDTH]);
  if (!isWorthwhile(&d))
    return d;
  d.bandUnits = 1;
  while (d.bandUnits < d.units && bandBytes(&d, d.bandUnits + 1) <= BAND_BYTES)
    d.bandUnits++;
  d.blocks = divideUp(joins->imagePlanes, vectorLanes());
  d.shares = minimum(g->batch, divideUp(ENOUGH_TASKS, d.blocks * joins->multiplier));
  const int64_t tasks = part == THNN_CONVOLUTION_BACKWARD_WEIGHT
                            ? d.blocks * joins->multiplier * d.shares
                            : d.blocks * g->batch * divideUp(d.units, d.bandUnits);
  d.threads = THNN_threads(state, tasks, THNN_operationsOf(joins) / (double)vectorLanes());
  measure(&d);
  return d;
}

static Shared sharedOf(const PlanesInLanes *d, void *memory)
{
  Scratch scratch = {.base = memory};
  return layOutShared(d, &scratch);
}

static Task taskOf(const PlanesInLanes *d, int64_t block, void *memory)
{
  const int64_t first = block * vectorLanes();
  Task task = {.plane = first, .planes = minimum(vectorLanes(), d->joins->imagePlanes - first)};
  Scratch scratch = {.base = (char *)memory + d->sharedBytes +
                             (size_t)THNN_threadIndex() * d->threadBytes};
  layOutTask(d, &task, &scratch);
  return task;
}

/* ---- Bands ----------------------------------------------------------------------------------- */

static void clear(int64_t vectors, real *y)
{
  THNN_(simd).pointwise.fill(vectors * vectorLanes(), 0, y);
}

/* Copies what the units of a task see to `source`, with zeros around it. Planes are `stride`
 * elements apart. */
static void loadBand(const PlanesInLanes *d, const Task *task, const real *plane, int64_t stride,
                     int64_t height, int64_t width, real *source)
{
  const int64_t rows = sourceRows(d, task->units);
  const int64_t first = d->low[HEIGHT] + task->unit * d->sourceStep[HEIGHT];
  const int64_t begin = minimum(maximum(-first, 0), rows);
  const int64_t end = maximum(begin, minimum(height - first, rows));
  const int64_t pitch = d->pitch * vectorLanes(), right = d->pitch - d->left - width;
  clear(begin * d->pitch, source);
  clear((rows - end) * d->pitch, source + end * pitch);
  if (begin == end)
    return;
  for (int64_t row = begin; row < end; row++) {
    clear(d->left, source + row * pitch);
    clear(right, source + (row + 1) * pitch - right * vectorLanes());
  }
  const PlaneRows planes = {
      .planes = task->planes, .stride = stride, .rows = end - begin, .n = width, .pitch = pitch};
  THNN_(simd).planes.load(&planes, plane + (first + begin) * width,
                          source + begin * pitch + d->left * vectorLanes());
}

/* Lists the taps of a residue class: their offsets in the source, and those of their factors.
 * Returns their number. */
static int64_t listTaps(const PlanesInLanes *d, const Axis *y, const Axis *x, int64_t *offsets,
                        int64_t *factorAt)
{
  const int64_t row = y->start - d->low[HEIGHT], column = x->start + d->left;
  for (int64_t a = 0; a < y->taps; a++)
    for (int64_t b = 0; b < x->taps; b++) {
      const int64_t kernelRow = y->firstTap + a * y->tapStep;
      const int64_t tap = kernelRow * d->joins->geometry.kernel[2] + x->firstTap + b * x->tapStep;
      *offsets++ = ((row + a * y->apart) * d->pitch + column + b * x->apart) * vectorLanes();
      *factorAt++ = tap * vectorLanes();
    }
  return y->taps * x->taps;
}

static void listAllTaps(const PlanesInLanes *d, const Shared *shared)
{
  int64_t *offsets = shared->offsets, *factorAt = shared->factorAt;
  for (int64_t i = 0; i < d->residues[HEIGHT]; i++)
    for (int64_t j = 0; j < d->residues[WIDTH]; j++) {
      const Axis y = axisOf(d, HEIGHT, i), x = axisOf(d, WIDTH, j);
      const int64_t taps = listTaps(d, &y, &x, offsets, factorAt);
      offsets += taps, factorAt += taps;
    }
}

/* ---- From a source to results ---------------------------------------------------------------- */

typedef struct Gather {
  const PlanesInLanes *depthwise;
  const real *source, *weight, *bias;
  real *result;
  Shared shared;
} Gather;

/* Packs the weights and biases of a block of planes: image planes have `multiplier` map planes each,
 * with weights for each of these, and as many biases as there are planes of the result. */
static void packBlock(const Gather *gather, const Task *task)
{
  const PlanesInLanes *d = gather->depthwise;
  const int64_t taps = tapsOf(d->joins);
  real *factors = task->factors, *start = task->start;
  const int64_t biases = !gather->bias ? 0 : toImage(d) ? 1 : d->joins->multiplier;
  clear(d->joins->multiplier, start);
  for (int64_t m = 0; m < d->joins->multiplier; m++) {
    const int64_t connection = m * d->joins->imagePlanes + task->plane;
    THNN_(simd).products.pack(task->planes, taps, gather->weight + connection * taps, taps,
                              factors + m * taps * vectorLanes(), (int)vectorLanes());
    for (int64_t i = 0; m < biases && i < task->planes; i++)
      start[m * vectorLanes() + i] = gather->bias[connection + i];
  }
}

/* Sums up a band for one multiple. Sums start from `start`, or without it from what the results
 * hold. */
static void sumBand(const Gather *gather, const Task *task, int64_t multiple, const real *start)
{
  const PlanesInLanes *d = gather->depthwise;
  const int64_t width = resultWidth(d), step = toImage(d) ? d->joins->geometry.stride[1] : 1;
  const int64_t *offsets = gather->shared.offsets, *factorAt = gather->shared.factorAt;
  for (int64_t i = 0; i < d->residues[HEIGHT]; i++)
    for (int64_t j = 0; j < d->residues[WIDTH]; j++) {
      const Axis y = axisOf(d, HEIGHT, i), x = axisOf(d, WIDTH, j);
      const PlaneSums sums = {.rows = minimum(task->units, y.results - task->unit),
                              .n = x.results,
                              .taps = y.taps * x.taps,
                              .offsets = offsets,
                              .factorAt = factorAt,
                              .factors =
                                  task->factors + multiple * tapsOf(d->joins) * vectorLanes(),
                              .start = start,
                              .x = task->source,
                              .xRow = d->sourceStep[HEIGHT] * d->pitch * vectorLanes(),
                              .xStep = d->sourceStep[WIDTH] * vectorLanes(),
                              .y = task->results + (y.first * width + x.first) * vectorLanes(),
                              .yRow = step * width * vectorLanes(),
                              .yStep = x.step * vectorLanes()};
      THNN_(simd).planes.sum(&sums);
      offsets += sums.taps, factorAt += sums.taps;
    }
}

/* Writes the results of a band to the planes, or adds them. */
static void storeBand(const PlanesInLanes *d, const Task *task, int64_t height, int64_t stride,
                      real *plane)
{
  const int64_t first = resultRows(d, task->unit), width = resultWidth(d);
  const PlaneRows planes = {.planes = task->planes,
                            .stride = stride,
                            .rows = minimum(resultRows(d, task->units), height - first),
                            .n = width,
                            .pitch = width * vectorLanes()};
  if (d->joins->adds) {
    THNN_(simd).planes.load(&planes, plane + first * width, task->old);
    THNN_(simd).pointwise.axpy(planes.rows * planes.pitch, 1, task->old, task->results);
  }
  THNN_(simd).planes.store(&planes, task->results, plane + first * width);
}

static void gatherBand(const Gather *gather, const Task *task)
{
  const PlanesInLanes *d = gather->depthwise;
  const THNNConvolution *g = &d->joins->geometry;
  const int64_t multiplier = d->joins->multiplier;
  const int64_t image = g->input[1] * g->input[2], map = g->output[1] * g->output[2];
  const int64_t imagePlane = task->sample * g->inputPlanes + task->plane;
  const int64_t mapPlane = task->sample * g->outputPlanes + task->plane * multiplier;
  const real *start = task->start;
  real *source = task->source;
  if (toImage(d)) {
    for (int64_t m = 0; m < multiplier; m++) {
      loadBand(d, task, gather->source + (mapPlane + m) * map, multiplier * map, g->output[1],
               g->output[2], source);
      sumBand(gather, task, m, m == 0 ? start : NULL);
    }
    storeBand(d, task, g->input[1], image, gather->result + imagePlane * image);
    return;
  }
  loadBand(d, task, gather->source + imagePlane * image, image, g->input[1], g->input[2], source);
  for (int64_t m = 0; m < multiplier; m++) {
    sumBand(gather, task, m, start + m * vectorLanes());
    storeBand(d, task, g->output[1], multiplier * map, gather->result + (mapPlane + m) * map);
  }
}

void THNN_(planesInLanes_gather)(const PlanesInLanes *d, const real *source, const real *weight,
                                 const real *bias, real *result, void *scratch)
{
  const Gather gather = {d, source, weight, bias, result, sharedOf(d, scratch)};
  const int64_t batch = d->joins->geometry.batch, bands = divideUp(d->units, d->bandUnits);
  listAllTaps(d, &gather.shared);
#pragma omp parallel num_threads(d->threads)
  {
    int64_t packed = -1; /* the block whose factors are in this thread's scratch */
#pragma omp for schedule(static)
    for (int64_t i = 0; i < d->blocks * batch * bands; i++) {
      const int64_t block = i / (batch * bands), band = i % bands;
      Task task = taskOf(d, block, scratch);
      task.sample = i / bands % batch;
      task.unit = band * d->bandUnits;
      task.units = minimum(d->bandUnits, d->units - task.unit);
      if (block != packed)
        packBlock(&gather, &task);
      packed = block;
      gatherBand(&gather, &task);
    }
  }
}

/* ---- The weight gradient --------------------------------------------------------------------- */

/* Unfinished sums over positions: a vector for each tap, then one of the map itself. */
typedef struct Sums {
  int64_t products; /* products in each partial sum so far */
  real *part;
  double *whole;
} Sums;

/* Adds the correlation of a band that is in scratch, in pieces of about PRODUCTS_PER_SUM terms. */
static void correlateBand(const PlanesInLanes *d, const Task *task, const int64_t *offsets,
                          Sums *sum)
{
  const int64_t width = d->joins->geometry.output[2], taps = tapsOf(d->joins);
  PlaneSums of = {.n = width,
                  .taps = taps,
                  .offsets = offsets,
                  .x = task->source,
                  .xRow = d->sourceStep[HEIGHT] * d->pitch * vectorLanes(),
                  .xStep = d->sourceStep[WIDTH] * vectorLanes(),
                  .y = task->results,
                  .yRow = width * vectorLanes(),
                  .yStep = vectorLanes()};
  for (int64_t left = task->units; left > 0; left -= of.rows) {
    const int64_t room = maximum(1, (PRODUCTS_PER_SUM - sum->products) / width);
    of.rows = minimum(left, room);
    THNN_(simd).planes.dot(&of, sum->part);
    THNN_(simd).products.total(of.rows * width, 1, of.y, sum->part + taps * vectorLanes());
    of.x += of.rows * of.xRow, of.y += of.rows * of.yRow;
    sum->products += of.rows * width;
    if (sum->products + width <= PRODUCTS_PER_SUM)
      continue;
    THNN_(simd).planes.settle(sumsOf(d->joins), sum->part, sum->whole);
    sum->products = 0;
  }
}

/* Adds the correlation of a block's planes in one sample. */
static void correlateSample(const PlanesInLanes *d, Task task, int64_t multiple, const real *image,
                            const real *map, const int64_t *offsets, Sums *sum)
{
  const THNNConvolution *g = &d->joins->geometry;
  const int64_t multiplier = d->joins->multiplier, width = g->output[2];
  const int64_t imageSize = g->input[1] * g->input[2], mapSize = g->output[1] * width;
  const int64_t imagePlane = task.sample * g->inputPlanes + task.plane;
  const int64_t mapPlane = task.sample * g->outputPlanes + task.plane * multiplier + multiple;
  for (task.unit = 0; task.unit < d->units; task.unit += d->bandUnits) {
    task.units = minimum(d->bandUnits, d->units - task.unit);
    loadBand(d, &task, image + imagePlane * imageSize, imageSize, g->input[1], g->input[2],
             task.source);
    const PlaneRows rows = {.planes = task.planes,
                            .stride = multiplier * mapSize,
                            .rows = task.units,
                            .n = width,
                            .pitch = width * vectorLanes()};
    THNN_(simd).planes.load(&rows, map + mapPlane * mapSize + task.unit * width, task.results);
    correlateBand(d, &task, offsets, sum);
  }
}

/* Adds scale * the partial sums of all shares to the gradients of a task's connections. */
static void addShares(const PlanesInLanes *d, const Task *task, int64_t multiple, double scale,
                      const double *sums, real *gradWeight, real *gradBias)
{
  const int64_t taps = tapsOf(d->joins);
  const int64_t connection = multiple * d->joins->imagePlanes + task->plane;
  for (int64_t plane = 0; plane < task->planes; plane++)
    for (int64_t tap = 0; tap <= taps; tap++) {
      double sum = 0;
      for (int64_t share = 0; share < d->shares; share++)
        sum += sums[share * sumsOf(d->joins) + tap * vectorLanes() + plane];
      if (tap < taps)
        gradWeight[(connection + plane) * taps + tap] += (real)(scale * sum);
      else if (gradBias)
        gradBias[connection + plane] += (real)(scale * sum);
    }
}

void THNN_(planesInLanes_correlate)(const PlanesInLanes *d, const real *image, const real *map,
                                    double scale, real *gradWeight, real *gradBias, void *scratch)
{
  const int64_t batch = d->joins->geometry.batch, multiplier = d->joins->multiplier;
  const int64_t length = sumsOf(d->joins);
  const Shared shared = sharedOf(d, scratch);
  double *sums = shared.sums;
  listAllTaps(d, &shared);
#pragma omp parallel num_threads(d->threads)
  {
#pragma omp for schedule(static)
    for (int64_t i = 0; i < d->blocks * multiplier * d->shares; i++) {
      Task task = taskOf(d, i / (multiplier * d->shares), scratch);
      const int64_t share = i % d->shares, end = batch * (share + 1) / d->shares;
      Sums sum = {.part = task.partial, .whole = sums + i * length};
      for (int64_t e = 0; e < length; e++)
        sum.part[e] = 0, sum.whole[e] = 0;
      for (task.sample = batch * share / d->shares; task.sample < end; task.sample++)
        correlateSample(d, task, i / d->shares % multiplier, image, map, shared.offsets, &sum);
      THNN_(simd).planes.settle(length, sum.part, sum.whole);
    }
#pragma omp for schedule(static)
    for (int64_t i = 0; i < d->blocks * multiplier; i++) {
      const Task task = taskOf(d, i / multiplier, scratch);
      addShares(d, &task, i % multiplier, scale, sums + i * d->shares * length, gradWeight,
                gradBias);
    }
  }
}
