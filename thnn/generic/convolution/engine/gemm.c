/* Convolution by matrix products, the reference algorithm.
 *
 * The column matrix of a sample has a row per (input plane, tap) and a column per map position:
 *   forward         map          = weight * columns
 *   backwardData    columns      = weight^T * map gradient, folded into the image gradient
 *   backwardWeight  weight grad += map gradient * columns^T
 * The matrix exists only as tiles that stay in cache, one per thread; one call of gemm multiplies a
 * tile. A 1x1 convolution without padding and stride uses the image itself as its columns.
 *
 * TH's gemm is column-major, so a row-major matrix appears there as its transpose with the same
 * leading dimension: columns are positions x rows, the weight is rows x outputPlanes, a map is
 * positions x outputPlanes. */
#include "generic/template.h"

#include <math.h>

#include "generic/convolution/engine/algorithm.h"

/* A tile shares the second-level cache with the panels that gemm packs. */
static const int64_t TILE_BYTES = 512 << 10;
/* With fewer positions or rows than these, gemm's own packing and edges cost too much. */
static const int64_t WORTHWHILE_POSITIONS = 192;
static const int64_t WORTHWHILE_ROWS = 64;
/* Tiles are cut at multiples of this, so that gemm's vectors are whole. */
static const int64_t POSITION_UNIT = 16;

/* How many of `wanted` columns or rows of `length` elements fit into `bytes`; at least 1. */
static int64_t fitting(int64_t wanted, int64_t length, int64_t bytes)
{
  return maximum(minimum(wanted, bytes / ((int64_t)sizeof(real) * length)), 1);
}

/* Positions of a tile: as many as the cache holds, but enough for gemm to be fast. */
static int64_t choosePositions(const THNNConvolutionTiles *tiles, int64_t limitBytes)
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

static int64_t chooseBlockRows(const THNNConvolutionPlan *plan)
{
  const THNNConvolution *geometry = &plan->geometry;
  switch (plan->part) {
  case THNN_CONVOLUTION_FORWARD:
    return plan->tiles.rows;
  case THNN_CONVOLUTION_BACKWARD_DATA:
    /* All rows of a plane: they are folded into the same image elements. */
    return sharedRows(plan->tiles.rows, THNN_convolutionTaps(geometry), geometry->batch);
  default:
    return sharedRows(plan->tiles.rows, 1, 1);
  }
}

/* The cost of gemm apart from its products in a pointwise convolution: packing operands, and
 * fetching results, which have few products each. `image` and `map` are elements of a sample. */
static double pointwiseCost(const THNNConvolutionPlan *plan, double image, double map)
{
  const double operand = plan->part == THNN_CONVOLUTION_FORWARD         ? image
                         : plan->part == THNN_CONVOLUTION_BACKWARD_DATA ? map
                                                                        : image + map;
  const double result = plan->part == THNN_CONVOLUTION_FORWARD         ? map
                        : plan->part == THNN_CONVOLUTION_BACKWARD_DATA ? image
                                                                       : 0;
  return operand * (0.04 * sizeof(real) + (operand * sizeof(real) > FAR_OPERAND_BYTES)) +
         0.25 * sizeof(real) * result * (result * sizeof(real) > FAR_OPERAND_BYTES);
}

/* The total cost: products; unfolding or folding, which is cheaper for long lines and for tiles
 * that stay in cache; and what gemm packs for each tile. */
static double gemmCost(const THNNConvolutionPlan *plan)
{
  const THNNConvolution *geometry = &plan->geometry;
  const double width = (double)geometry->output[2], lanes = (double)THNN_(simd).products.lanes;
  const double columns = (double)THNN_convolutionMapPositions(geometry) * geometry->inputPlanes *
                         THNN_convolutionTaps(geometry);
  const double map = (double)THNN_convolutionMapPositions(geometry) * geometry->outputPlanes;
  const double image = (double)THNN_convolutionImagePositions(geometry) * geometry->inputPlanes;
  const double tile = columns / fmax((double)THNN_convolutionMapPositions(geometry), 1) *
                      fmin((double)THNN_convolutionMapPositions(geometry), WORTHWHILE_POSITIONS);
  const double spilled = tile * sizeof(real) > TILE_BYTES;
  const bool unfolds = !THNN_convolutionIsPointwise(geometry);
  const double perVector = sizeof(real) == sizeof(float) ? 0.75 : 0.9;
  double unfolding, results;
  switch (plan->part) {
  case THNN_CONVOLUTION_FORWARD:
    unfolding = columns * (0.08 * sizeof(real) + 0.65 * spilled + 40 / width);
    results = 0.2 * map;
    break;
  case THNN_CONVOLUTION_BACKWARD_DATA:
    unfolding = columns * (0.04 * sizeof(real) + 0.4 * spilled + 23 / width) +
                (geometry->stride[2] > 1 ? 0.3 * image + 1.7 * columns : 2.7 * image);
    results = 0.2 * image;
    break;
  default:
    unfolding = columns * (0.07 * sizeof(real) + 0.4 * spilled + 40 / width);
    results = map + 1000; /* the cost of a call, which counts for small samples */
  }
  if (!unfolds)
    unfolding = pointwiseCost(plan, columns, map);
  return geometry->batch * (columns * perVector * geometry->outputPlanes / lanes + unfolding +
                            0.75 * weightElements(geometry) + results);
}

void THNN_(ConvolutionGemm_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  const bool unfolds = !THNN_convolutionIsPointwise(geometry);
  THNNConvolutionTiles *tiles = &plan->tiles;
  plan->algorithm = THNN_CONVOLUTION_GEMM;
  plan->cost = gemmCost(plan);
  if (THNN_convolutionIsLinear(geometry)) {
    THNN_(ConvolutionLinear_prepare)(plan, state);
    return;
  }
  tiles->rows = geometry->inputPlanes * THNN_convolutionTaps(geometry);
  tiles->positions = THNN_convolutionMapPositions(geometry);
  tiles->blockRows = chooseBlockRows(plan);
  tiles->tileRows =
      unfolds ? fitting(tiles->blockRows, POSITION_UNIT, limitBytes) : tiles->blockRows;
  tiles->tilePositions = unfolds ? choosePositions(tiles, limitBytes) : tiles->positions;

  int64_t blocks = divideUp(tiles->rows, tiles->blockRows);
  if (plan->part == THNN_CONVOLUTION_FORWARD) {
    tiles->tilePositions =
        minimum(tiles->tilePositions, sharedPositions(geometry, tiles->positions));
    blocks = divideUp(tiles->positions, tiles->tilePositions);
  }
  if (plan->part != THNN_CONVOLUTION_BACKWARD_WEIGHT)
    blocks *= geometry->batch;
  const size_t tileElements = unfolds ? (size_t)(tiles->tileRows * tiles->tilePositions) : 0;
  plan->cost *= 1 + 0.6 / (double)maximum(blocks, 1); /* few blocks leave threads idle */
  plan->threads = THNN_blasThreads(state, blocks, convolutionOperations(geometry));
  plan->threadBytes = (size_t)roundUp((int64_t)(tileElements * sizeof(real)), 64);
  plan->scratchBytes = plan->threadBytes * (size_t)plan->threads;
}

/* The rectangle of the column matrix that starts at (row, position): one tile, or what is left of
 * the block and of the positions. For a pointwise convolution it is part of the image itself. */
static Columns tileAt(const THNNConvolutionPlan *plan, int64_t row, int64_t rowEnd,
                      int64_t position, real *image, real *scratch)
{
  const THNNConvolutionTiles *tiles = &plan->tiles;
  Columns tile = {.firstRow = row,
                  .rows = minimum(tiles->tileRows, rowEnd - row),
                  .firstPosition = position,
                  .positions = minimum(tiles->tilePositions, tiles->positions - position)};
  if (THNN_convolutionIsPointwise(&plan->geometry)) {
    tile.data = image + row * tiles->positions + position;
    tile.stride = tiles->positions;
  } else {
    tile.data = scratch;
    tile.stride = tile.positions;
  }
  return tile;
}

/* Fills each plane with its bias, or with zeros. */
static void startFromBias(const real *bias, int64_t planes, int64_t count, int64_t stride, real *y)
{
  for (int64_t plane = 0; plane < planes; plane++)
    THNN_(simd).pointwise.fill(count, bias ? bias[plane] : 0, y + plane * stride);
}

/* Computes the map of one sample at the tile's positions; `map` points to the first of them. */
static void forwardBlock(const THNNConvolutionPlan *plan, const real *image, const real *weight,
                         const real *bias, int64_t position, real *map, real *scratch)
{
  const THNNConvolutionTiles *tiles = &plan->tiles;
  const int64_t outputPlanes = plan->geometry.outputPlanes;
  const int64_t count = minimum(tiles->tilePositions, tiles->positions - position);
  const bool unfolds = !THNN_convolutionIsPointwise(&plan->geometry);
  startFromBias(bias, outputPlanes, count, tiles->positions, map);
  for (int64_t row = 0; row < tiles->rows; row += tiles->tileRows) {
    const Columns tile = tileAt(plan, row, tiles->rows, position, (real *)image, scratch);
    if (unfolds)
      THNN_(unfold)(&plan->geometry, image, &tile);
    THBlas_(gemm)('n', 'n', tile.positions, outputPlanes, tile.rows, 1, tile.data, tile.stride,
                  (real *)weight + row, tiles->rows, 1, map, tiles->positions);
  }
}

void THNN_(ConvolutionGemm_forward)(const THNNConvolutionPlan *plan, const real *input,
                                    const real *weight, const real *bias, real *output,
                                    void *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  const THNNConvolutionTiles *tiles = &plan->tiles;
  if (tiles->linear) {
    THNN_(ConvolutionLinear_forward)(plan, input, weight, bias, output, scratch);
    return;
  }
  const int64_t imageSize = geometry->inputPlanes * THNN_convolutionImagePositions(geometry);
  const int64_t mapSize = geometry->outputPlanes * tiles->positions;
  const int64_t perSample = divideUp(tiles->positions, tiles->tilePositions);
  THNN_blasBegin();
#pragma omp parallel for num_threads(plan->threads) schedule(static) if (plan->threads > 1)
  for (int64_t block = 0; block < geometry->batch * perSample; block++) {
    const int64_t sample = block / perSample;
    const int64_t position = block % perSample * tiles->tilePositions;
    forwardBlock(plan, input + sample * imageSize, weight, bias, position,
                 output + sample * mapSize + position, threadScratch(plan, scratch));
  }
  THNN_blasEnd();
}

/* Computes the image gradient of one sample in the planes that a block of rows belongs to. */
static void backwardDataBlock(const THNNConvolutionPlan *plan, const real *gradMap,
                              const real *weight, const real *bias, int64_t firstRow,
                              real *gradImage, real *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  const THNNConvolutionTiles *tiles = &plan->tiles;
  const int64_t taps = THNN_convolutionTaps(geometry), firstPlane = firstRow / taps;
  const int64_t rowEnd = minimum(firstRow + tiles->blockRows, tiles->rows);
  const int64_t imagePositions = THNN_convolutionImagePositions(geometry);
  const bool folds = !THNN_convolutionIsPointwise(geometry);
  startFromBias(bias ? bias + firstPlane : NULL, rowEnd / taps - firstPlane, imagePositions,
                imagePositions, gradImage + firstPlane * imagePositions);
  for (int64_t position = 0; position < tiles->positions; position += tiles->tilePositions)
    for (int64_t row = firstRow; row < rowEnd; row += tiles->tileRows) {
      const Columns tile = tileAt(plan, row, rowEnd, position, gradImage, scratch);
      THBlas_(gemm)('n', 't', tile.positions, tile.rows, geometry->outputPlanes, 1,
                    (real *)gradMap + position, tiles->positions, (real *)weight + row, tiles->rows,
                    folds ? 0 : 1, tile.data, tile.stride);
      if (folds)
        THNN_(fold)(geometry, &tile, gradImage);
    }
}

void THNN_(ConvolutionGemm_backwardData)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                         const real *weight, const real *bias, real *gradInput,
                                         void *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  const THNNConvolutionTiles *tiles = &plan->tiles;
  if (tiles->linear) {
    THNN_(ConvolutionLinear_backwardData)(plan, gradOutput, weight, bias, gradInput, scratch);
    return;
  }
  const int64_t imageSize = geometry->inputPlanes * THNN_convolutionImagePositions(geometry);
  const int64_t mapSize = geometry->outputPlanes * tiles->positions;
  const int64_t perSample = divideUp(tiles->rows, tiles->blockRows);
  THNN_blasBegin();
#pragma omp parallel for num_threads(plan->threads) schedule(static) if (plan->threads > 1)
  for (int64_t block = 0; block < geometry->batch * perSample; block++) {
    const int64_t sample = block / perSample;
    backwardDataBlock(plan, gradOutput + sample * mapSize, weight, bias,
                      block % perSample * tiles->blockRows, gradInput + sample * imageSize,
                      threadScratch(plan, scratch));
  }
  THNN_blasEnd();
}

/* Adds the weight gradient of a block of rows, sample after sample. */
static void backwardWeightBlock(const THNNConvolutionPlan *plan, const real *input,
                                const real *gradOutput, real scale, int64_t firstRow,
                                real *gradWeight, real *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  const THNNConvolutionTiles *tiles = &plan->tiles;
  const int64_t imageSize = geometry->inputPlanes * THNN_convolutionImagePositions(geometry);
  const int64_t mapSize = geometry->outputPlanes * tiles->positions;
  const int64_t rowEnd = minimum(firstRow + tiles->blockRows, tiles->rows);
  const bool unfolds = !THNN_convolutionIsPointwise(geometry);
  for (int64_t sample = 0; sample < geometry->batch; sample++) {
    const real *image = input + sample * imageSize, *gradMap = gradOutput + sample * mapSize;
    for (int64_t position = 0; position < tiles->positions; position += tiles->tilePositions)
      for (int64_t row = firstRow; row < rowEnd; row += tiles->tileRows) {
        const Columns tile = tileAt(plan, row, rowEnd, position, (real *)image, scratch);
        if (unfolds)
          THNN_(unfold)(geometry, image, &tile);
        THBlas_(gemm)('t', 'n', tile.rows, geometry->outputPlanes, tile.positions, scale, tile.data,
                      tile.stride, (real *)gradMap + position, tiles->positions, 1,
                      gradWeight + row, tiles->rows);
      }
  }
}

void THNN_(ConvolutionGemm_backwardWeight)(const THNNConvolutionPlan *plan, const real *input,
                                           const real *gradOutput, accreal scale, real *gradWeight,
                                           void *scratch)
{
  const THNNConvolutionTiles *tiles = &plan->tiles;
  if (tiles->linear) {
    THNN_(ConvolutionLinear_backwardWeight)(plan, input, gradOutput, scale, gradWeight, scratch);
    return;
  }
  const int64_t blocks = divideUp(tiles->rows, tiles->blockRows);
  THNN_blasBegin();
#pragma omp parallel for num_threads(plan->threads) schedule(static) if (plan->threads > 1)
  for (int64_t block = 0; block < blocks; block++)
    backwardWeightBlock(plan, input, gradOutput, (real)scale, block * tiles->blockRows, gradWeight,
                        threadScratch(plan, scratch));
  THNN_blasEnd();
}
