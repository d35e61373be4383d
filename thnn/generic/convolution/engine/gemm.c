/* Convolution by matrix products, the reference algorithm.
 *
 * The column matrix of a sample has a row per (image plane, tap) and a column per map position:
 *   forward         map          = weight * columns
 *   weight          weight grad += map gradient * columns^T
 * Transposed, the map is what would be unfolded, and a column belongs to an image position:
 *   forward         columns      = weight^T * image, folded into the map
 * The matrix exists only as tiles that stay in cache, one per thread; one call of gemm multiplies a
 * tile. A 1x1 convolution without padding and stride uses the image itself as its columns.
 *
 * TH's gemm is column-major, so a row-major matrix appears there as its transpose with the same
 * leading dimension: columns are positions x rows, the weight is rows x outputPlanes, a map is
 * positions x outputPlanes. */
#include "generic/convolution/engine/algorithm.h"
#include "generic/shared/matrix.h"
#include "geometry/inside.h"

#include <math.h>

/* A tile shares the second-level cache with the panels that gemm packs. */
static const int64_t TILE_BYTES = 512 << 10;
/* With fewer positions or rows than these, gemm's own packing and edges cost too much. */
static const int64_t WORTHWHILE_POSITIONS = 192;
static const int64_t WORTHWHILE_ROWS = 64;
/* Tiles are cut at multiples of this, so that gemm's vectors are whole. */
static const int64_t POSITION_UNIT = 16;
/* Columns are folded by lines of taps where lines and strides are as long as this, and a position has
 * as many rows: that was measured to take seven to nine tenths of the time, and with shorter ones up
 * to half as long again. */
static const int64_t WORTHWHILE_LINE = 16, WORTHWHILE_LINE_ROWS = 32;
/* Pieces of the product of a tile that threads share. With more of them, packing the other operand
 * again for each was measured to take longer than it saves. */
enum { SHARED_PIECES = 2 };

/* What the columns are cut into. */
typedef struct GemmPlan {
  int64_t rows, positions;         /* size of the whole matrix */
  int64_t blockRows;               /* rows that one thread works on at a time */
  int64_t tileRows, tilePositions; /* size of a tile, which is unfolded at a time */
  bool together;                   /* there is one block, of rows, whose tiles threads share */
  bool lines; /* a tile has the rows of a position side by side, and is folded by lines of taps */
} GemmPlan;

/* What all threads share. */
typedef struct GemmWork {
  const AlgorithmPlan *plan;
  THNNConvolution columns; /* the ordinary convolution, whose image is unfolded */
  bool unfolds;
  GemmPlan tiles;
  const Operands *of;
} GemmWork;

static GemmWork workFor(const AlgorithmPlan *plan)
{
  const THNNConvolution *g = &plan->geometry;
  return (GemmWork){.plan = plan,
                    .columns = g->transposed ? THNN_convolutionTransposed(g) : *g,
                    .unfolds = !THNN_convolutionIsPointwise(g)};
}

/* ---- Planning -------------------------------------------------------------------------------- */

/* Whether whole lines of taps are folded. */
static bool foldsLines(const GemmWork *work)
{
  const THNNConvolution *g = &work->columns;
  return work->plan->part == THNN_CONVOLUTION_BACKWARD_DATA && work->unfolds &&
         g->dilation[2] == 1 && minimum(g->kernel[2], g->stride[2]) >= WORTHWHILE_LINE &&
         work->tiles.rows >= WORTHWHILE_LINE_ROWS && !THNN_convolutionIsExtreme(g);
}

/* How many of `wanted` columns or rows of `length` elements fit into `bytes`; at least 1. */
static int64_t fitting(int64_t wanted, int64_t length, int64_t bytes)
{
  return maximum(minimum(wanted, bytes / ((int64_t)sizeof(real) * length)), 1);
}

/* Positions of a tile: as many as the cache holds, but enough for gemm to be fast. */
static int64_t choosePositions(const GemmPlan *tiles, int64_t limitBytes)
{
  const int64_t cached = fitting(tiles->positions, tiles->tileRows, TILE_BYTES);
  const int64_t allowed = fitting(tiles->positions, tiles->tileRows, limitBytes);
  const int64_t wanted = minimum(maximum(cached, WORTHWHILE_POSITIONS), allowed);
  return evenBlock(tiles->positions, wanted, POSITION_UNIT);
}

/* Most positions of a block, so that there are enough blocks for several threads. */
static int64_t sharedPositions(const THNNConvolution *geometry, int64_t positions)
{
  const int64_t share = divideUp(positions * geometry->batch, ENOUGH_BLOCKS);
  return evenBlock(positions, maximum(share, WORTHWHILE_POSITIONS), POSITION_UNIT);
}

/* Most rows of a block, a multiple of `unit`, so that there are enough blocks for several threads,
 * counting the `others` blocks (samples) that each block of rows is computed for. */
static int64_t sharedRows(int64_t rows, int64_t unit, int64_t others)
{
  const int64_t share = divideUp(rows, divideUp(ENOUGH_BLOCKS, maximum(others, 1)));
  return minimum(roundUp(maximum(share, WORTHWHILE_ROWS), unit), rows);
}

static int64_t chooseBlockRows(const GemmWork *work)
{
  const THNNConvolution *columns = &work->columns;
  switch (work->plan->part) {
  case THNN_CONVOLUTION_FORWARD:
    return work->tiles.rows;
  case THNN_CONVOLUTION_BACKWARD_DATA:
    /* All rows of a plane: they are folded into the same image elements. */
    return sharedRows(work->tiles.rows, THNN_convolutionTaps(columns), columns->batch);
  default:
    return sharedRows(work->tiles.rows, 1, 1);
  }
}

/* Counts what gemm takes beside its products in a pointwise convolution: packing operands, and
 * fetching results, which have few products each. `image` and `map` are elements of a sample. */
static void countPointwise(THNNConvolutionPart part, double image, double map, double *counts)
{
  const double operand = part == THNN_CONVOLUTION_FORWARD         ? image
                         : part == THNN_CONVOLUTION_BACKWARD_DATA ? map
                                                                  : image + map;
  const double result = part == THNN_CONVOLUTION_FORWARD         ? map
                        : part == THNN_CONVOLUTION_BACKWARD_DATA ? image
                                                                 : 0;
  counts[GEMM_PACKED_BYTE] = operand * sizeof(real);
  counts[GEMM_FAR_OPERAND] = operand * sizeof(real) > FAR_OPERAND_BYTES ? operand : 0;
  counts[GEMM_FAR_BYTE] = result * sizeof(real) > FAR_OPERAND_BYTES ? result * sizeof(real) : 0;
}

/* Counts unfolding or folding, which is cheaper for long lines and for tiles that stay in cache. */
static void countUnfolding(const GemmWork *work, double image, double columns, double *counts)
{
  static const int costs[][3] = {
      [THNN_CONVOLUTION_FORWARD] = {GEMM_FORWARD_BYTE, GEMM_FORWARD_SPILLED, GEMM_FORWARD_LINE},
      [THNN_CONVOLUTION_BACKWARD_DATA] = {GEMM_DATA_BYTE, GEMM_DATA_SPILLED, GEMM_DATA_LINE},
      [THNN_CONVOLUTION_BACKWARD_WEIGHT] = {GEMM_GRADIENT_BYTE, GEMM_GRADIENT_SPILLED,
                                            GEMM_GRADIENT_LINE}};
  const THNNConvolution *g = &work->columns;
  const THNNConvolutionPart part = work->plan->part;
  const double positions = (double)THNN_convolutionMapPositions(g);
  const double tile = columns / fmax(positions, 1) * fmin(positions, WORTHWHILE_POSITIONS);
  counts[costs[part][0]] = columns * sizeof(real);
  counts[costs[part][1]] = tile * sizeof(real) > TILE_BYTES ? columns : 0;
  const bool lines = work->tiles.lines, strided = g->stride[2] > 1 && !lines;
  counts[costs[part][2]] = columns / (double)(lines ? g->kernel[2] : g->output[2]);
  if (part != THNN_CONVOLUTION_BACKWARD_DATA)
    return;
  counts[strided ? GEMM_STRIDED_IMAGE : GEMM_FOLDED] = image;
  counts[GEMM_STRIDED_COLUMN] = strided ? columns : 0;
}

/* Planes of the map whose products count. BLAS multiplies tiles of at least this many columns, which
 * weight gradients of fewer planes leave idle: with one plane they take about four times as long as
 * its products would. */
static int64_t planesCounted(const AlgorithmPlan *plan, const THNNConvolution *g)
{
#ifdef THNN_REPRODUCIBLE
  (void)plan;
  return g->outputPlanes;
#else
  enum { TILE_COLUMNS = 4 };
  return plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT ? maximum(g->outputPlanes, TILE_COLUMNS)
                                                        : g->outputPlanes;
#endif
}

/* Counts products, unfolding, and what gemm packs for each tile, in `blocks` blocks. */
static void setGemmCost(AlgorithmPlan *plan, const GemmWork *work, int64_t blocks)
{
  static const int results[] = {[THNN_CONVOLUTION_FORWARD] = GEMM_FORWARD_RESULT,
                                [THNN_CONVOLUTION_BACKWARD_DATA] = GEMM_DATA_RESULT,
                                [THNN_CONVOLUTION_BACKWARD_WEIGHT] = GEMM_GRADIENT_RESULT};
  const double *costs = costsInUse()->gemm;
  const THNNConvolution *g = &work->columns;
  const THNNConvolutionPart part = plan->part;
  const double positions = (double)THNN_convolutionMapPositions(g);
  const double columns = positions * g->inputPlanes * THNN_convolutionTaps(g);
  const double map = positions * g->outputPlanes;
  const double image = (double)THNN_convolutionImagePositions(g) * g->inputPlanes;
  double counts[GEMM_COSTS] = {
      [GEMM_PRODUCT] = columns * planesCounted(plan, g) / (double)vectorLanes(),
      [GEMM_WEIGHT] = THNN_convolutionWeights(g),
      [GEMM_GRADIENT_CALL] = part == THNN_CONVOLUTION_BACKWARD_WEIGHT,
  };
  counts[results[part]] = part == THNN_CONVOLUTION_BACKWARD_DATA ? image : map;
  if (work->unfolds)
    countUnfolding(work, image, columns, counts);
  else
    countPointwise(part, columns, map, counts);
  const double idle = 1 + costs[GEMM_FEW_BLOCKS] / (double)maximum(blocks, 1);
  for (int i = 0; i < GEMM_COSTS; i++)
    counts[i] *= (double)g->batch * idle;
  setCost(plan, GEMM_COSTS, costs, counts);
}

/* What a thread has to itself. */
typedef struct GemmAreas {
  real *tile;
  void *packing; /* where products pack their operands */
} GemmAreas;

static GemmAreas layOut(const GemmWork *work, Scratch *scratch)
{
  const GemmPlan *tiles = &work->tiles;
  const int64_t planes = work->columns.outputPlanes;
  const int64_t rows = tiles->tileRows, positions = tiles->tilePositions;
  const THNNConvolutionPart part = work->plan->part;
  const int64_t m = part == THNN_CONVOLUTION_BACKWARD_WEIGHT ? rows : positions;
  const int64_t n = part == THNN_CONVOLUTION_BACKWARD_DATA ? rows : planes;
  const int64_t k = part == THNN_CONVOLUTION_FORWARD         ? rows
                    : part == THNN_CONVOLUTION_BACKWARD_DATA ? planes
                                                             : positions;
  GemmAreas areas;
  areas.tile = THNN_take(scratch, work->unfolds ? rows * positions : 0, sizeof(real));
  const size_t packing = tiles->lines ? THNN_(matrix_aloneBytes)(work->plan->state, n, m, k)
                                      : THNN_(matrix_aloneBytes)(work->plan->state, m, n, k);
  areas.packing = THNN_take(scratch, (int64_t)packing, 1);
  return areas;
}

/* The number of samples that have blocks of their own; a block of the weight gradient goes over all
 * samples. */
static int64_t samplesOf(const AlgorithmPlan *plan)
{
  return plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT ? 1 : plan->geometry.batch;
}

/* The number of blocks of a sample, or of the weight gradient: of positions forward, otherwise of
 * rows. */
static int64_t blocksOf(const GemmWork *work)
{
  const GemmPlan *tiles = &work->tiles;
  return work->plan->part == THNN_CONVOLUTION_FORWARD
             ? divideUp(tiles->positions, tiles->tilePositions)
             : divideUp(tiles->rows, tiles->blockRows);
}

bool THNN_(gemm_planConvolution)(AlgorithmPlan *plan)
{
  GemmWork work = workFor(plan);
  const THNNConvolution *columns = &work.columns;
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(plan->state);
  GemmPlan *tiles = &work.tiles;
  tiles->rows = columns->inputPlanes * THNN_convolutionTaps(columns);
  tiles->positions = THNN_convolutionMapPositions(columns);
  tiles->lines = foldsLines(&work);
  tiles->blockRows = chooseBlockRows(&work);
  tiles->tileRows =
      work.unfolds ? fitting(tiles->blockRows, POSITION_UNIT, limitBytes) : tiles->blockRows;
  tiles->tilePositions = work.unfolds ? choosePositions(tiles, limitBytes) : tiles->positions;

  if (plan->part == THNN_CONVOLUTION_FORWARD)
    tiles->tilePositions =
        minimum(tiles->tilePositions, sharedPositions(columns, tiles->positions));
  const int64_t blocks = blocksOf(&work) * samplesOf(plan);
  tiles->together = blocks == 1 && work.unfolds && plan->part == THNN_CONVOLUTION_BACKWARD_DATA;
  setGemmCost(plan, &work, blocks);
  plan->threads = THNN_blasThreads(plan->state, tiles->together ? SHARED_PIECES : blocks,
                                   OPERATIONS_OF_CYCLE * plan->cost);
  Scratch thread = {0};
  layOut(&work, &thread);
  plan->threadBytes = thread.used;
  plan->adds = true;
  KEEP_OWN(plan, work.tiles);
  return true;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* The rectangle of the column matrix that starts at (row, position): one tile, or what is left of
 * the block and of the positions. For a pointwise convolution it is part of the image itself. */
static Columns tileAt(const GemmWork *work, int64_t row, int64_t rowEnd, int64_t position,
                      real *image, real *scratch)
{
  const GemmPlan *tiles = &work->tiles;
  Columns tile = {.firstRow = row,
                  .rows = minimum(tiles->tileRows, rowEnd - row),
                  .firstPosition = position,
                  .positions = minimum(tiles->tilePositions, tiles->positions - position)};
  tile.data = work->unfolds ? scratch : image + row * tiles->positions + position;
  tile.stride = !work->unfolds ? tiles->positions : tiles->lines ? tile.rows : tile.positions;
  return tile;
}

/* Fills each of the planes from `first` on with its bias, or with zeros; unless they are added to. */
static void startFromBias(const Operands *of, int64_t first, int64_t planes, int64_t count,
                          int64_t stride, real *y)
{
  for (int64_t plane = 0; plane < planes && !of->finish.adds; plane++)
    THNN_(simd).pointwise.fill(count, of->bias ? of->bias[first + plane] : 0, y + plane * stride);
}

/* Computes the map of one sample at the tile's positions; `map` points to the first of them. */
static void forwardBlock(const GemmWork *work, const real *image, int64_t position, real *map,
                         GemmAreas areas)
{
  const GemmPlan *tiles = &work->tiles;
  const int64_t planes = work->columns.outputPlanes;
  const int64_t count = minimum(tiles->tilePositions, tiles->positions - position);
  startFromBias(work->of, 0, planes, count, tiles->positions, map);
  for (int64_t row = 0; row < tiles->rows; row += tiles->tileRows) {
    const Columns tile = tileAt(work, row, tiles->rows, position, (real *)image, areas.tile);
    if (work->unfolds)
      THNN_(unfold_toColumns)(&work->columns, image, &tile);
    const Matrix a = {tile.data, tile.stride, false};
    const Matrix b = {work->of->weight + row, tiles->rows, false};
    THNN_(matrix_multiplyAlone)(work->plan->state, tile.positions, planes, tile.rows, 1, a, b, 1,
                                map, tiles->positions, areas.packing);
  }
}

/* Multiplies rows [first, end) of a tile that is folded. */
static void multiplyTile(const GemmWork *work, const real *image, const Columns *tile,
                         int64_t first, int64_t end, void *packing)
{
  const THNNState *state = work->plan->state;
  const int64_t planes = work->columns.outputPlanes;
  const real *weight = work->of->weight + tile->firstRow + first;
  const Matrix x = {image + tile->firstPosition, work->tiles.positions, work->tiles.lines};
  const Matrix w = {weight, work->tiles.rows, !work->tiles.lines};
  if (work->tiles.lines)
    THNN_(matrix_multiplyAlone)(state, end - first, tile->positions, planes, 1, w, x, 0,
                                tile->data + first, tile->stride, packing);
  else
    THNN_(matrix_multiplyAlone)(state, tile->positions, end - first, planes, 1, x, w,
                                work->unfolds ? 0 : 1, tile->data + first * tile->stride,
                                tile->stride, packing);
}

static void foldTile(const GemmWork *work, const THNNConvolution *geometry, const Columns *tile,
                     real *map)
{
  if (work->tiles.lines)
    THNN_(unfold_linesToImage)(geometry, tile, map);
  else
    THNN_(unfold_toImage)(geometry, tile, map);
}

/* Computes the map of one sample of a transposed convolution, in the planes that a block of rows
 * belongs to. */
static void foldBlock(const GemmWork *work, const real *image, int64_t firstRow, real *map,
                      GemmAreas areas)
{
  const THNNConvolution *columns = &work->columns;
  const GemmPlan *tiles = &work->tiles;
  const Operands *of = work->of;
  const int64_t taps = THNN_convolutionTaps(columns), firstPlane = firstRow / taps;
  const int64_t rowEnd = minimum(firstRow + tiles->blockRows, tiles->rows);
  const int64_t positions = THNN_convolutionImagePositions(columns);
  startFromBias(of, firstPlane, rowEnd / taps - firstPlane, positions, positions,
                map + firstPlane * positions);
  for (int64_t position = 0; position < tiles->positions; position += tiles->tilePositions)
    for (int64_t row = firstRow; row < rowEnd; row += tiles->tileRows) {
      const Columns tile = tileAt(work, row, rowEnd, position, map, areas.tile);
      multiplyTile(work, image, &tile, 0, tile.rows, areas.packing);
      if (work->unfolds)
        foldTile(work, columns, &tile, map);
    }
}

/* Adds the weight gradient of a block of rows, sample after sample. */
static void weightBlock(const GemmWork *work, int64_t firstRow, GemmAreas areas)
{
  const THNNConvolution *columns = &work->columns;
  const GemmPlan *tiles = &work->tiles;
  const Operands *of = work->of;
  const int64_t imageStep = THNN_convolutionImageSample(columns);
  const int64_t mapStep = THNN_convolutionMapSample(columns);
  const int64_t rowEnd = minimum(firstRow + tiles->blockRows, tiles->rows);
  for (int64_t sample = 0; sample < columns->batch; sample++) {
    const real *image = of->image + sample * imageStep, *gradMap = of->gradMap + sample * mapStep;
    for (int64_t position = 0; position < tiles->positions; position += tiles->tilePositions)
      for (int64_t row = firstRow; row < rowEnd; row += tiles->tileRows) {
        const Columns tile = tileAt(work, row, rowEnd, position, (real *)image, areas.tile);
        if (work->unfolds)
          THNN_(unfold_toColumns)(columns, image, &tile);
        const Matrix a = {tile.data, tile.stride, true};
        const Matrix b = {gradMap + position, tiles->positions, false};
        THNN_(matrix_multiplyAlone)(work->plan->state, tile.rows, columns->outputPlanes,
                                    tile.positions, (real)of->scale, a, b, 1, of->gradWeight + row,
                                    tiles->rows, areas.packing);
      }
  }
}

/* ---- Tiles that threads share ---------------------------------------------------------------- */

/* The outermost dimension in which image or map have more than one element. */
static int outermost(const THNNConvolution *geometry)
{
  int d = 0;
  while (d < 2 && geometry->input[d] == 1 && geometry->output[d] == 1)
    d++;
  return d;
}

/* A band of an image: part of its outermost dimension, with the map positions that see it. */
typedef struct Band {
  THNNConvolution geometry;
  int64_t elements, positions; /* those of a plane that come before the band's */
} Band;

static Band bandAt(const THNNConvolution *whole, int64_t index, int64_t bands)
{
  const int d = outermost(whole);
  const int64_t begin = whole->input[d] * index / bands;
  const int64_t end = whole->input[d] * (index + 1) / bands;
  const int64_t pad = whole->pad[d], stride = whole->stride[d];
  const int64_t reach = THNN_extent(whole->kernel[d], whole->dilation[d]) - 1;
  const int64_t first = clamp(ceilDivide(begin + pad - reach, stride), 0, whole->output[d]);
  const int64_t last = clamp(ceilDivide(end + pad, stride), first, whole->output[d]);
  Band band = {.geometry = *whole, .elements = begin, .positions = first};
  band.geometry.input[d] = end - begin;
  band.geometry.output[d] = last - first;
  band.geometry.pad[d] = pad + begin - first * stride;
  for (int inner = d + 1; inner < 3; inner++) {
    band.elements *= whole->input[inner];
    band.positions *= whole->output[inner];
  }
  return band;
}

/* Adds to the planes of a band what a tile holds for it. */
static void foldToBand(const GemmWork *work, const Band *band, const Columns *tile, real *map)
{
  const THNNConvolution *whole = &work->columns;
  const int64_t taps = THNN_convolutionTaps(whole), plane = THNN_convolutionImagePositions(whole);
  const int64_t first = maximum(tile->firstPosition - band->positions, 0);
  const int64_t end = minimum(tile->firstPosition + tile->positions - band->positions,
                              THNN_convolutionMapPositions(&band->geometry));
  for (int64_t row = 0, count; row < tile->rows && first < end; row += count) {
    const int64_t tap = (tile->firstRow + row) % taps;
    const int64_t place = (tile->firstRow + row) / taps * plane + band->elements;
    count = minimum(tile->rows - row, taps - tap);
    const int64_t position = first + band->positions - tile->firstPosition;
    const Columns part = {.firstRow = tap,
                          .rows = count,
                          .firstPosition = first,
                          .positions = end - first,
                          .data = tile->data + (work->tiles.lines ? position * tile->stride + row
                                                                  : row * tile->stride + position),
                          .stride = tile->stride};
    foldTile(work, &band->geometry, &part, map + place);
  }
}

/* Computes the map of the only sample of a transposed convolution. All threads of the parallel
 * region call this, with one tile and room of their own for packing: they share the rows of a tile,
 * and then the bands that it is folded to. No result depends on the bands. */
static void foldTogether(const GemmWork *work, GemmAreas areas)
{
  const THNNConvolution *columns = &work->columns;
  const GemmPlan *tiles = &work->tiles;
  const Operands *of = work->of;
  const int64_t plane = THNN_convolutionImagePositions(columns);
  const int64_t bands = minimum(columns->input[outermost(columns)], work->plan->threads);
  /* Threads wait for each other after the products, before any of them adds to the map. */
#pragma omp for schedule(static) nowait
  for (int64_t i = 0; i < columns->inputPlanes; i++)
    startFromBias(of, i, 1, plane, plane, of->map + i * plane);
  for (int64_t position = 0; position < tiles->positions; position += tiles->tilePositions)
    for (int64_t row = 0; row < tiles->rows; row += tiles->tileRows) {
      const Columns tile = tileAt(work, row, tiles->rows, position, NULL, areas.tile);
#pragma omp for schedule(static)
      for (int64_t piece = 0; piece < SHARED_PIECES; piece++) {
        const int64_t first = tile.rows * piece / SHARED_PIECES;
        const int64_t end = tile.rows * (piece + 1) / SHARED_PIECES;
        if (first < end)
          multiplyTile(work, of->image, &tile, first, end, areas.packing);
      }
#pragma omp for schedule(static)
      for (int64_t i = 0; i < bands; i++) {
        const Band band = bandAt(columns, i, bands);
        foldToBand(work, &band, &tile, of->map);
      }
    }
}

static void runTogether(const GemmWork *work, void *scratch)
{
  const int threads = work->plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Scratch first = scratchOf(work->plan, scratch, 0), own = threadScratch(work->plan, scratch);
    GemmAreas areas = layOut(work, &own);
    areas.tile = layOut(work, &first).tile;
    foldTogether(work, areas);
  }
}

/* ---- The passes ------------------------------------------------------------------------------ */

/* Computes one block of the pass: of positions of a sample, of rows of a sample, or of rows. */
static void runBlock(const GemmWork *work, int64_t block, GemmAreas areas)
{
  const THNNConvolution *g = &work->plan->geometry;
  const GemmPlan *tiles = &work->tiles;
  if (work->plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT) {
    weightBlock(work, block * tiles->blockRows, areas);
    return;
  }
  const int64_t perSample = blocksOf(work), sample = block / perSample;
  const real *image = work->of->image + sample * THNN_convolutionImageSample(g);
  real *map = work->of->map + sample * THNN_convolutionMapSample(g);
  if (g->transposed) {
    foldBlock(work, image, block % perSample * tiles->blockRows, map, areas);
  } else {
    const int64_t position = block % perSample * tiles->tilePositions;
    forwardBlock(work, image, position, map + position, areas);
  }
}

/* Threads compute blocks of the pass, each with scratch of its own. */
static void runBlocks(const GemmWork *work, void *scratch)
{
  const int64_t blocks = samplesOf(work->plan) * blocksOf(work);
  const int threads = work->plan->threads;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t block = 0; block < blocks; block++) {
    Scratch own = threadScratch(work->plan, scratch);
    runBlock(work, block, layOut(work, &own));
  }
}

bool THNN_(gemm_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  GemmWork work = workFor(plan);
  OWN_OF(plan, work.tiles);
  work.of = of;
  THNN_blasBegin();
  if (work.tiles.together)
    runTogether(&work, scratch);
  else
    runBlocks(&work, scratch);
  THNN_blasEnd();
  if (of->gradBias)
    THNN_(engine_addMapSums)(plan, of);
  return true;
}
