#include <stdio.h>

#include "generic/convolution/planewise/connected.h"

#include "generic/convolution/checks.h"
#include "generic/convolution/planeSums.h"
#include "generic/convolution/planewise/depthwise.h"
#include "generic/convolution/planewise/planesInLanes.h"
#include "generic/convolution/planewise/planeTiles.h"
#include "generic/convolution/planewise/slidingSums.h"
#include "geometry/convolutionCheck.h"
#include "work/scratch.h"

/* ---- Connections ---------------------------------------------------------------------------- */

/* The connections and their table, or NULL: dense, with a row of `columns` elements per
 * connection. */
typedef struct Joins {
  const THNNPlaneJoins *shape;
  const real *table;
  int64_t columns;
} Joins;

/* One side of the geometry: the planes that connections can name, those of the tensor, and their
 * size. */
typedef struct Side {
  int64_t named, planes;
  int64_t height, width;
} Side;

static Side sideOf(const THNNPlaneJoins *joins, bool image)
{
  const THNNConvolution *g = &joins->geometry;
  if (image)
    return (Side){joins->imagePlanes, g->inputPlanes, g->input[1], g->input[2]};
  return (Side){joins->mapPlanes, g->outputPlanes, g->output[1], g->output[2]};
}

/* The plane that the table has for connection `number`, counted from 0, or -1 if there is no such
 * plane. */
static int64_t tablePlane(const Joins *joins, int64_t number, bool image)
{
  /* The first column has the module's input planes: the map's in a transposed convolution. */
  const bool second = image == joins->shape->transposed;
  const double entry = joins->table[number * joins->columns + second];
  const int64_t planes = image ? joins->shape->imagePlanes : joins->shape->mapPlanes;
  return entry >= 1 && entry < (double)(planes + 1) ? (int64_t)entry - 1 : -1;
}

static int64_t planeOf(const Joins *joins, int64_t number, bool image)
{
  return joins->table ? tablePlane(joins, number, image)
                      : THNN_joinedPlane(joins->shape, number, image);
}

/* The connections that can join a plane: `count` of them from `first`, `step` apart. */
typedef struct Candidates {
  int64_t first, step, count;
} Candidates;

static Candidates candidatesOf(const Joins *joins, int64_t plane, bool image)
{
  const THNNPlaneJoins *shape = joins->shape;
  if (joins->table)
    return (Candidates){0, 1, shape->connections};
  if (image)
    return (Candidates){plane, shape->imagePlanes, shape->multiplier};
  const int64_t first = plane % shape->multiplier * shape->imagePlanes + plane / shape->multiplier;
  return (Candidates){first, 1, 1};
}

/* The index of a plane's bias. In a depth-wise convolution, biases have the order of the
 * weights. */
static int64_t biasIndex(const THNNPlaneJoins *joins, int64_t plane)
{
  if (!joins->multiplier)
    return plane;
  return plane % joins->multiplier * joins->imagePlanes + plane / joins->multiplier;
}

/* The table of a call, between the acquisition and the release of its plan; empty if the call has
 * none. */
static JoinTable tableIn(const THNNBuffer *entries, const THTensor *connTable)
{
  if (!connTable)
    return (JoinTable){NULL, 0};
  return (JoinTable){entries->data, connTable->size[1]};
}

static void checkColumn(const char *function, const THTensor *table, int position, int column,
                        int64_t planes)
{
  const real *data = table->storage->data + table->storageOffset + column * table->stride[1];
  for (int64_t i = 0; i < table->size[0]; i++) {
    const double entry = data[i * table->stride[0]];
    if (entry >= 1 && entry < (double)(planes + 1))
      continue;
    char expected[96], found[32];
    snprintf(expected, sizeof expected, "values from 1 to %lld (planes of the %s) in column %d",
             (long long)planes, column ? "output" : "input", column + 1);
    snprintf(found, sizeof found, "%g", entry);
    THNN_reject(function, "connTable", position, expected, found);
  }
}

/* Rejects a table that names planes which do not exist on one side of the geometry. */
static void checkTable(const char *function, const THNNPlaneJoins *joins, const THTensor *table,
                       int position, bool image)
{
  if (table)
    checkColumn(function, table, position, image == joins->transposed,
                image ? joins->imagePlanes : joins->mapPlanes);
}

/* ---- Forward, and backward to the image ------------------------------------------------------ */

/* A pass that computes all planes of one side. */
typedef struct Gather {
  Joins joins;
  bool toImage;
  Layout layout;
  int64_t residues[2]; /* residue classes of result rows and columns, a pass for each */
  int64_t bands;       /* rows of tiles per pass */
  int64_t mostTaps;    /* the most taps of a residue class */
  int threads;
  size_t threadBytes;
} Gather;

/* What a thread has for a tile: its source, its sums (two areas if there are two classes of
 * columns), and the shifts and factors of the taps. */
typedef struct GatherAreas {
  real *source, *sums, *factors;
  int64_t *shifts;
} GatherAreas;

static GatherAreas layOutGather(const Gather *gather, Scratch *scratch)
{
  const int64_t sumTiles = gather->residues[WIDTH] == 2 ? 2 : 1;
  GatherAreas areas;
  areas.source = THNN_take(scratch, gather->layout.sourceElements, sizeof(real));
  areas.sums = THNN_take(scratch, sumTiles * gather->layout.sumElements, sizeof(real));
  areas.shifts = THNN_take(scratch, gather->mostTaps, sizeof(int64_t));
  areas.factors = THNN_take(scratch, gather->mostTaps, sizeof(real));
  return areas;
}

static Axis gatherAxis(const Gather *gather, int axis, int64_t residue)
{
  const THNNConvolution *g = &gather->joins.shape->geometry;
  return gather->toImage ? backwardAxis(g, axis, residue) : forwardAxis(g, axis);
}

enum { AT_A_TIME = 8 }; /* numbers that vector loops compute, about, for THNN_threads */

static Gather prepareGather(const THNNState *state, const THNNPlaneJoins *joins, bool toImage)
{
  const THNNConvolution *g = &joins->geometry;
  Gather gather = {.joins = {.shape = joins}, .toImage = toImage};
  int64_t results[2], taps[2], spans[2], stride[2];
  for (int axis = 0; axis < 2; axis++) {
    const int d = axis + 1;
    gather.residues[axis] = toImage ? minimum(g->stride[d], g->input[d]) : 1;
    results[axis] = toImage ? divideUp(g->input[d], g->stride[d]) : g->output[d];
    taps[axis] = toImage ? divideUp(g->kernel[d], g->stride[d]) : g->kernel[d];
    spans[axis] = THNN_extent(taps[axis], g->dilation[d]);
    stride[axis] = toImage ? 1 : g->stride[d];
  }
  gather.layout = THNN_(planeTiles_layOut)(results, spans, stride);
  gather.bands = divideUp(results[HEIGHT], gather.layout.rows);

  gather.mostTaps = taps[HEIGHT] * taps[WIDTH];
  Scratch needed = {0};
  layOutGather(&gather, &needed);
  gather.threadBytes = needed.used;
  const int64_t planes = g->batch * sideOf(joins, toImage).planes;
  gather.threads = THNN_threads(state, planes * gather.residues[HEIGHT] * gather.bands,
                                THNN_operationsOf(joins) / AT_A_TIME);
  return gather;
}

/* Whether rows are summed one by one. Rows of narrow tiles fill vectors only if a tile is summed as
 * one long row. */
static bool isWide(const Gather *gather)
{
  return 2 * gather->layout.columns > vectorLanes();
}

/* A result plane, and what is needed for each of its tiles. */
typedef struct Target {
  int64_t sample, plane;
  const real *source, *weight;
  real start;
  real *result; /* the plane */
  GatherAreas areas;
} Target;

/* sums = start + what the connections of the plane contribute to a tile. Rows of sums are `pitch`
 * elements apart. */
static void sumTile(const Gather *gather, const Target *target, const Axis *y, const Axis *x,
                    const Tile *tile, real *sums, int64_t pitch)
{
  const Layout *layout = &gather->layout;
  const THNNConvolution *g = &gather->joins.shape->geometry;
  const Side from = sideOf(gather->joins.shape, !gather->toImage);
  const Side to = sideOf(gather->joins.shape, gather->toImage);
  const Candidates candidates = candidatesOf(&gather->joins, target->plane, gather->toImage);
  real *source = target->areas.source, *factors = target->areas.factors;
  int64_t *shifts = target->areas.shifts;
  const int64_t length = (tile->rows - 1) * layout->pitch + tile->columns;
  const bool joined = target->plane < to.named && y->taps && x->taps;
  const bool one = joined && candidates.count == 1 && !gather->joins.table && isWide(gather);
  if (joined)
    THNN_(planeTiles_listShifts)(layout, y, x, shifts);
  if (!one)
    THNN_(simd).pointwise.fill(length, target->start, sums);
  for (int64_t i = 0; joined && i < candidates.count; i++) {
    const int64_t number = candidates.first + i * candidates.step;
    if (planeOf(&gather->joins, number, gather->toImage) != target->plane)
      continue;
    const int64_t other = planeOf(&gather->joins, number, !gather->toImage);
    const int64_t sourcePlane = target->sample * from.planes + other;
    THNN_(planeTiles_load)(layout, y, x, tile,
                           target->source + sourcePlane * from.height * from.width, source);
    THNN_(planeTiles_listFactors)(y, x, g->kernel[2],
                                  target->weight + number * g->kernel[1] * g->kernel[2], factors);
    if (!one) {
      THNN_(simd).shifts.add(length, y->taps * x->taps, shifts, factors, source, sums);
      continue;
    }
    const ShiftedSums rows = {.rows = tile->rows,
                              .n = tile->columns,
                              .taps = y->taps * x->taps,
                              .offsets = shifts,
                              .factors = factors,
                              .start = target->start,
                              .x = source,
                              .xStride = layout->pitch,
                              .y = sums,
                              .yStride = pitch};
    THNN_(simd).shifts.sumRows(&rows);
  }
}

/* Whether a tile's sums are written to the result plane directly: its columns are contiguous there,
 * and the plane has a single connection, so that nothing is added to the sums. */
static bool isDirect(const Gather *gather, const Target *target)
{
  const Side to = sideOf(gather->joins.shape, gather->toImage);
  return isWide(gather) && !gather->joins.shape->adds && !gather->joins.table &&
         target->plane < to.named && gather->residues[HEIGHT] == 1 &&
         gather->residues[WIDTH] == 1 && gather->joins.shape->geometry.kernel[1] > 0 &&
         candidatesOf(&gather->joins, target->plane, gather->toImage).count == 1;
}

/* Computes one row of tiles of a result plane, for one residue class of rows. */
static void gatherBand(const Gather *gather, const Target *target, int64_t residue, int64_t band)
{
  const Layout *layout = &gather->layout;
  const int64_t width = sideOf(gather->joins.shape, gather->toImage).width;
  const Axis y = gatherAxis(gather, HEIGHT, residue);
  const int64_t row = band * layout->rows, residues = gather->residues[WIDTH];
  real *sums = target->areas.sums, *second = sums + layout->sumElements;
  const bool direct = isDirect(gather, target), adds = gather->joins.shape->adds;
  const int64_t columns = gatherAxis(gather, WIDTH, 0).results; /* no class has more */
  for (int64_t column = 0; row < y.results && column < columns; column += layout->columns)
    for (int64_t xResidue = 0; xResidue < residues; xResidue++) {
      const Axis x = gatherAxis(gather, WIDTH, xResidue);
      const Tile tile = tileAt(layout, &y, &x, row, column);
      if (tile.columns <= 0 && (adds || residues != 2 || xResidue != 1))
        continue;
      if (adds) {
        sumTile(gather, target, &y, &x, &tile, sums, layout->pitch);
        THNN_(planeTiles_add)(layout, &y, &x, &tile, width, sums, target->result);
      } else if (direct) {
        sumTile(gather, target, &y, &x, &tile, placeOf(&y, &x, &tile, width, target->result),
                width);
      } else if (residues == 2) {
        if (tile.columns > 0)
          sumTile(gather, target, &y, &x, &tile, xResidue ? second : sums, layout->pitch);
        if (xResidue == 0)
          continue;
        const Axis even = gatherAxis(gather, WIDTH, 0);
        const Tile both = tileAt(layout, &y, &even, row, column);
        THNN_(planeTiles_storePair)(layout, &y, &even, &both, maximum(tile.columns, 0), width, sums,
                                    second, target->result);
      } else {
        sumTile(gather, target, &y, &x, &tile, sums, layout->pitch);
        THNN_(planeTiles_store)(layout, &y, &x, &tile, width, sums, target->result);
      }
    }
}

/* result = start + what the connections contribute, or += that; `start` has a value per plane, or is
 * NULL. */
static void gatherAll(const Gather *gather, const real *source, const real *weight,
                      const real *start, real *result, void *scratch)
{
  const THNNPlaneJoins *joins = gather->joins.shape;
  const Side to = sideOf(joins, gather->toImage);
  const int64_t bands = gather->residues[HEIGHT] * gather->bands;
#pragma omp parallel for num_threads(gather->threads) schedule(static)
  for (int64_t i = 0; i < joins->geometry.batch * to.planes * bands; i++) {
    const int64_t plane = i / bands % to.planes, band = i % bands;
    Scratch mine = THNN_scratchOf(scratch, gather->threadBytes, THNN_threadIndex());
    const Target target = {.sample = i / bands / to.planes,
                           .plane = plane,
                           .source = source,
                           .weight = weight,
                           .start =
                               start ? start[gather->toImage ? plane : biasIndex(joins, plane)] : 0,
                           .result = result + i / bands * to.height * to.width,
                           .areas = layOutGather(gather, &mine)};
    gatherBand(gather, &target, band / gather->bands, band % gather->bands);
  }
}

/* ---- Backward to the weights ----------------------------------------------------------------- */

typedef struct Correlate {
  Joins joins;
  Layout layout;
  int64_t pitch; /* elements from row to row of the gradient: whole vectors */
  int threads;
  size_t threadBytes;
} Correlate;

/* What a thread has for a tile: its source, its gradient, and the shifts and sums of the taps. */
typedef struct CorrelateAreas {
  real *source, *gradient;
  int64_t *shifts;
  double *sums;
} CorrelateAreas;

static CorrelateAreas layOutCorrelate(const Correlate *correlate, Scratch *scratch)
{
  const THNNConvolution *g = &correlate->joins.shape->geometry;
  const Layout *layout = &correlate->layout;
  const int64_t taps = g->kernel[1] * g->kernel[2];
  CorrelateAreas areas;
  areas.source = THNN_take(scratch, layout->sourceElements, sizeof(real));
  areas.gradient = THNN_take(scratch, layout->rows * correlate->pitch + SLACK, sizeof(real));
  areas.shifts = THNN_take(scratch, taps, sizeof(int64_t));
  areas.sums = THNN_take(scratch, taps, sizeof(double));
  return areas;
}

static Correlate prepareCorrelate(const THNNState *state, const THNNPlaneJoins *joins)
{
  const THNNConvolution *g = &joins->geometry;
  Correlate correlate = {.joins = {.shape = joins}};
  int64_t spans[2];
  for (int axis = 0; axis < 2; axis++)
    spans[axis] = THNN_extent(g->kernel[axis + 1], g->dilation[axis + 1]);
  correlate.layout = THNN_(planeTiles_layOut)(g->output + 1, spans, g->stride + 1);
  correlate.pitch = divideUp(correlate.layout.columns, SLACK) * SLACK;
  Scratch needed = {0};
  layOutCorrelate(&correlate, &needed);
  correlate.threadBytes = needed.used;
  correlate.threads = THNN_threads(state, joins->connections, THNN_operationsOf(joins) / AT_A_TIME);
  return correlate;
}

/* gradient = a tile of a map plane, its rows padded with zeros to whole vectors. */
static void loadGradient(const Correlate *correlate, const Tile *tile, const real *plane,
                         int64_t width, real *gradient)
{
  const PaddedRows padded = {.rows = tile->rows,
                             .count = tile->columns,
                             .after = correlate->pitch - tile->columns,
                             .x = plane + tile->row * width + tile->column,
                             .xStride = width,
                             .step = 1,
                             .y = gradient,
                             .yStride = correlate->pitch};
  THNN_(simd).shifts.pad(&padded);
}

/* gradKernel += scale * the correlation of the planes that one connection joins. */
static void correlateJoin(const Correlate *correlate, int64_t number, const real *image,
                          const real *map, accreal scale, real *gradKernel,
                          const CorrelateAreas *areas)
{
  const THNNConvolution *g = &correlate->joins.shape->geometry;
  const Layout *layout = &correlate->layout;
  const Side from = sideOf(correlate->joins.shape, true),
             to = sideOf(correlate->joins.shape, false);
  const int64_t imagePlane = planeOf(&correlate->joins, number, true);
  const int64_t mapPlane = planeOf(&correlate->joins, number, false);
  const Axis y = forwardAxis(g, HEIGHT), x = forwardAxis(g, WIDTH);
  const int64_t taps = y.taps * x.taps;
  THNN_(planeTiles_listShifts)(layout, &y, &x, areas->shifts);
  for (int64_t t = 0; t < taps; t++)
    areas->sums[t] = 0;
  for (int64_t n = 0; n < g->batch; n++)
    for (int64_t row = 0; row < y.results; row += layout->rows)
      for (int64_t column = 0; column < x.results; column += layout->columns) {
        const Tile tile = tileAt(layout, &y, &x, row, column);
        THNN_(planeTiles_load)(layout, &y, &x, &tile,
                               image + (n * from.planes + imagePlane) * from.height * from.width,
                               areas->source);
        loadGradient(correlate, &tile, map + (n * to.planes + mapPlane) * to.height * to.width,
                     to.width, areas->gradient);
        const Shifted shifted = {tile.rows,       tile.columns,  areas->source,
                                 areas->gradient, layout->pitch, correlate->pitch};
        THNN_(simd).shifts.dot(&shifted, taps, areas->shifts, areas->sums);
      }
  for (int64_t t = 0; t < taps; t++)
    gradKernel[t] += (real)(scale * areas->sums[t]);
}

/* Adds to the gradients of all kernels. */
static void correlateAll(const Correlate *correlate, const real *image, const real *map,
                         accreal scale, real *gradWeight, void *scratch)
{
  const THNNPlaneJoins *joins = correlate->joins.shape;
  const int64_t taps = joins->geometry.kernel[1] * joins->geometry.kernel[2];
#pragma omp parallel for num_threads(correlate->threads) schedule(static)
  for (int64_t i = 0; i < joins->connections; i++) {
    Scratch mine = THNN_scratchOf(scratch, correlate->threadBytes, THNN_threadIndex());
    const CorrelateAreas areas = layOutCorrelate(correlate, &mine);
    correlateJoin(correlate, i, image, map, scale, gradWeight + i * taps, &areas);
  }
}

/* gradBias += scale * the sums of gradOutput's planes. */
static void sumPlanes(const THNNState *state, const THNNPlaneJoins *joins, const real *gradOutput,
                      accreal scale, real *gradBias)
{
  const Side side = sideOf(joins, joins->transposed);
  const int64_t multiples = joins->multiplier > 0 && !joins->transposed ? joins->multiplier : 1;
  const THNNPlaneSet set = {.batch = joins->geometry.batch,
                            .sample = side.planes * side.height * side.width,
                            .planes = side.named / multiples,
                            .step = multiples,
                            .positions = side.height * side.width};
  for (int64_t m = 0; m < multiples; m++)
    THNN_(planeSums_add)(state, &set, gradOutput + m * set.positions, scale,
                         gradBias + m * set.planes);
}

/* ---- On dense memory ------------------------------------------------------------------------- */

size_t THNN_(connected_scratchBytes)(const THNNState *state, const THNNPlaneJoins *joins,
                                     THNNConvolutionPart part)
{
  if (THNN_(slidingSums_apply)(joins, part))
    return 0;
  const PlanesInLanes depthwise = THNN_(planesInLanes_plan)(state, joins, part);
  if (depthwise.threads)
    return depthwise.scratchBytes;
  if (part == THNN_CONVOLUTION_BACKWARD_WEIGHT) {
    const Correlate correlate = prepareCorrelate(state, joins);
    return correlate.threadBytes * (size_t)correlate.threads;
  }
  const Gather gather = prepareGather(state, joins, part == THNN_CONVOLUTION_BACKWARD_DATA);
  return gather.threadBytes * (size_t)gather.threads;
}

void THNN_(connected_gather)(const THNNState *state, const THNNPlaneJoins *joins,
                             THNNConvolutionPart part, const JoinTable *table, const real *source,
                             const real *weight, const real *bias, real *result, void *scratch)
{
  if (THNN_(slidingSums_apply)(joins, part)) {
    THNN_(slidingSums_gather)(state, joins, part, source, weight, bias, result);
    return;
  }
  const PlanesInLanes depthwise = THNN_(planesInLanes_plan)(state, joins, part);
  if (depthwise.threads) {
    THNN_(planesInLanes_gather)(&depthwise, source, weight, bias, result, scratch);
    return;
  }
  Gather gather = prepareGather(state, joins, part == THNN_CONVOLUTION_BACKWARD_DATA);
  if (table)
    gather.joins.table = table->entries, gather.joins.columns = table->columns;
  gatherAll(&gather, source, weight, bias, result, scratch);
}

/* Adds to the gradients in one of the ways of depth-wise layers, if one applies; to gradBias, unless it
 * is NULL, the sums of the map. */
static bool correlateDepthwise(const THNNState *state, const THNNPlaneJoins *joins,
                               const real *image, const real *map, accreal scale, real *gradWeight,
                               real *gradBias, void *scratch)
{
  if (THNN_(slidingSums_apply)(joins, THNN_CONVOLUTION_BACKWARD_WEIGHT)) {
    THNN_(slidingSums_correlate)(state, joins, image, map, scale, gradWeight, gradBias);
    return true;
  }
  const PlanesInLanes depthwise =
      THNN_(planesInLanes_plan)(state, joins, THNN_CONVOLUTION_BACKWARD_WEIGHT);
  if (depthwise.threads)
    THNN_(planesInLanes_correlate)(&depthwise, image, map, scale, gradWeight, gradBias, scratch);
  return depthwise.threads > 0;
}

void THNN_(connected_correlate)(const THNNState *state, const THNNPlaneJoins *joins,
                                const JoinTable *table, const real *image, const real *map,
                                accreal scale, real *gradWeight, real *gradBias, void *scratch)
{
  if (correlateDepthwise(state, joins, image, map, scale, gradWeight,
                         joins->transposed ? NULL : gradBias, scratch)) {
    if (gradBias && joins->transposed)
      sumPlanes(state, joins, image, scale, gradBias);
    return;
  }
  Correlate correlate = prepareCorrelate(state, joins);
  if (table)
    correlate.joins.table = table->entries, correlate.joins.columns = table->columns;
  correlateAll(&correlate, image, map, scale, gradWeight, scratch);
  if (gradBias)
    sumPlanes(state, joins, joins->transposed ? image : map, scale, gradBias);
}

/* ---- The functions of a module --------------------------------------------------------------- */

void THNN_(connected_updateOutput)(const char *function, THNNState *state,
                                   const THNNPlaneJoins *joins, THTensor *input, THTensor *output,
                                   THTensor *weight, THTensor *bias, THTensor *connTable)
{
  THNN_REPRODUCIBLY(state, connected_updateOutput,
                    (function, state, joins, input, output, weight, bias, connTable))
  checkTable(function, joins, connTable, 6, !joins->transposed);
  const THNNConvolutionPart part =
      joins->transposed ? THNN_CONVOLUTION_BACKWARD_DATA : THNN_CONVOLUTION_FORWARD;
  const bool batched = input->nDimension == joins->nDimension + 2;
  int64_t size[5];
  const int nDimension =
      THNN_convolutionSizes(&joins->geometry, joins->nDimension, joins->transposed, batched, size);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  THNNBuffer *kernels = THNN_planIn(&plan, weight, 4);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 5) : NULL;
  THNNBuffer *entries = connTable ? THNN_planIn(&plan, connTable, 6) : NULL;
  THNNBuffer *scratch = THNN_planScratch(&plan, THNN_(connected_scratchBytes)(state, joins, part));
  THNN_planAcquire(&plan);

  const JoinTable table = tableIn(entries, connTable);
  THNN_(connected_gather)(state, joins, part, connTable ? &table : NULL, in->data, kernels->data,
                          start ? start->data : NULL, out->data, scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(connected_updateGradInput)(const char *function, THNNState *state,
                                      const THNNPlaneJoins *joins, THTensor *input,
                                      THTensor *gradOutput, THTensor *gradInput, THTensor *weight,
                                      THTensor *connTable)
{
  THNN_REPRODUCIBLY(state, connected_updateGradInput,
                    (function, state, joins, input, gradOutput, gradInput, weight, connTable))
  checkTable(function, joins, connTable, 7, joins->transposed);
  const THNNConvolutionPart part =
      joins->transposed ? THNN_CONVOLUTION_FORWARD : THNN_CONVOLUTION_BACKWARD_DATA;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *kernels = THNN_planIn(&plan, weight, 5);
  THNNBuffer *entries = connTable ? THNN_planIn(&plan, connTable, 7) : NULL;
  THNNBuffer *scratch = THNN_planScratch(&plan, THNN_(connected_scratchBytes)(state, joins, part));
  THNN_planAcquire(&plan);

  const JoinTable table = tableIn(entries, connTable);
  THNN_(connected_gather)(state, joins, part, connTable ? &table : NULL, from->data, kernels->data,
                          NULL, to->data, scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(connected_accGradParameters)(const char *function, THNNState *state,
                                        const THNNPlaneJoins *joins, THTensor *input,
                                        THTensor *gradOutput, THTensor *gradWeight,
                                        THTensor *gradBias, THTensor *connTable, accreal scale)
{
  THNN_REPRODUCIBLY(
      state, connected_accGradParameters,
      (function, state, joins, input, gradOutput, gradWeight, gradBias, connTable, scale))
  checkTable(function, joins, connTable, 6, true);
  checkTable(function, joins, connTable, 6, false);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *kernels = THNN_planInOut(&plan, gradWeight, 4);
  THNNBuffer *start = gradBias ? THNN_planInOut(&plan, gradBias, 5) : NULL;
  THNNBuffer *entries = connTable ? THNN_planIn(&plan, connTable, 6) : NULL;
  THNNBuffer *scratch = THNN_planScratch(
      &plan, THNN_(connected_scratchBytes)(state, joins, THNN_CONVOLUTION_BACKWARD_WEIGHT));
  THNN_planAcquire(&plan);

  const JoinTable table = tableIn(entries, connTable);
  const real *image = joins->transposed ? from->data : in->data;
  const real *map = joins->transposed ? in->data : from->data;
  THNN_(connected_correlate)(state, joins, connTable ? &table : NULL, image, map, scale,
                             kernels->data, start ? start->data : NULL, scratch->data);
  THNN_planRelease(&plan);
}
