#include "generic/activation/softmax.h"

#include "generic/activation/checks.h"
#include "geometry/planes.h"

#ifdef THNN_ONCE
static THNNPlanes planesOf(const char *function, THNNShape shape)
{
  THNN_checkDimensions(function, shape, 1, 4, "[batch x] nPlane [x height x width]");
  const int64_t *size = shape.size;
  switch (shape.nDimension) {
  case 1:
    return (THNNPlanes){1, size[0], 1};
  case 2:
    return (THNNPlanes){size[0], size[1], 1};
  case 3:
    return (THNNPlanes){1, size[0], size[1] * size[2]};
  default:
    return (THNNPlanes){size[0], size[1], size[2] * size[3]};
  }
}

THNNPlanes THNN_SoftMax_shapeCheck(const char *function, THNNShape input, THNNShape gradOutput,
                                   THNNShape output)
{
  if (gradOutput.nDimension == THNN_NOT_PRESENT)
    return planesOf(function, input);
  if (!THNN_given(gradOutput))
    THNN_rejectShape(function, gradOutput, "a tensor");
  if (THNN_given(input))
    THNN_checkSizes(function, input, gradOutput.nDimension, gradOutput.size,
                    "the sizes of gradOutput");
  const THNNPlanes planes = planesOf(function, output);
  /* gradOutput may have more elements than output; those beyond are ignored. */
  THNN_checkElements(function, gradOutput, THNN_elements(function, output), "those of output");
  return planes;
}
#endif

/* How the work is divided: into rows if each plane has one position, else into tiles of
 * positions. */
typedef struct Tiles {
  int64_t blocks, rows; /* number of blocks; rows in a block */
  int64_t positions;    /* positions in a tile */
  int64_t perSample;    /* tiles in a sample */
} Tiles;

static Tiles tilesOf(const THNNPlanes *shape)
{
  Tiles tiles = {.rows = 1, .positions = 1, .perSample = 1};
  if (shape->positions == 1) {
    /* With few elements blocks are small, so that threads get nearly equal numbers of rows. */
    const int64_t most = THNN_BLOCK_LENGTH, least = most / 8;
    const int64_t share = shape->batch * shape->planes / 32;
    const int64_t length = share < least ? least : share < most ? share : most;
    if (shape->planes < length)
      tiles.rows = length / shape->planes;
    tiles.blocks = (shape->batch + tiles.rows - 1) / tiles.rows;
  } else {
    /* All planes of a tile fit the second-level cache. */
    const int64_t least = 64, step = 64;
    int64_t positions = 4 * THNN_BLOCK_LENGTH / shape->planes / step * step;
    if (positions > THNN_(simd).softmax.tile)
      positions = THNN_(simd).softmax.tile;
    tiles.positions = positions < least ? least : positions;
    tiles.perSample = (shape->positions + tiles.positions - 1) / tiles.positions;
    tiles.blocks = shape->batch * tiles.perSample;
  }
  return tiles;
}

/* For THNN_threads: an exponential, with what surrounds it, takes as long as eight operations. */
enum { EXPONENTIAL_COST = 8, PRODUCT_COST = 2 };

static int threadsFor(const THNNState *state, const THNNPlanes *shape, const Tiles *tiles, int cost)
{
  return THNN_threads(state, tiles->blocks,
                      cost * (double)(shape->batch * shape->planes * shape->positions));
}

/* The offset of a block's first element; sets *count to its number of rows or positions. */
static int64_t blockAt(const THNNPlanes *shape, const Tiles *tiles, int64_t block, int64_t *count)
{
  if (shape->positions == 1) {
    const int64_t row = block * tiles->rows, left = shape->batch - row;
    *count = left < tiles->rows ? left : tiles->rows;
    return row * shape->planes;
  }
  const int64_t sample = block / tiles->perSample;
  const int64_t position = block % tiles->perSample * tiles->positions;
  const int64_t left = shape->positions - position;
  *count = left < tiles->positions ? left : tiles->positions;
  return sample * shape->planes * shape->positions + position;
}

void THNN_(softmax_forward)(const char *function, THNNState *state, bool logarithm, THTensor *input,
                            THTensor *output)
{
  const THNNPlanes shape =
      THNN_SoftMax_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOutLike(&plan, output, 3, input);
  THNN_planElementwise(out);
  THNN_planAcquire(&plan);

  const real *x = in->data;
  real *y = out->data;
  const Tiles tiles = tilesOf(&shape);
  const int threads = threadsFor(state, &shape, &tiles, EXPONENTIAL_COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < tiles.blocks; i++) {
    int64_t count;
    const int64_t at = blockAt(&shape, &tiles, i, &count);
    if (shape.positions == 1)
      THNN_(simd).softmax.forwardRows(logarithm, count, shape.planes, x + at, y + at);
    else
      THNN_(simd).softmax.forwardTile(logarithm, shape.planes, shape.positions, count, x + at,
                                      y + at);
  }
  THNN_planRelease(&plan);
}

void THNN_(softmax_backward)(const char *function, THNNState *state, bool logarithm,
                             THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                             THTensor *output)
{
  const THNNPlanes shape = THNN_SoftMax_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(output, 5));

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, output);
  THNN_planElementwise(to);
  THNNBuffer *kept = THNN_planIn(&plan, output, 5);
  THNN_planAcquire(&plan);

  const real *g = from->data, *y = kept->data;
  real *gradient = to->data;
  const Tiles tiles = tilesOf(&shape);
  const int cost = logarithm ? EXPONENTIAL_COST : PRODUCT_COST;
  const int threads = threadsFor(state, &shape, &tiles, cost);
  const bool stream = THNN_streamsResult(2, THTensor_(nElement)(output), sizeof(real));
  const RunMap2 run = stream ? THNN_(simd).pointwise.streamMap2 : THNN_(simd).pointwise.runMap2;
  const Put put = stream ? THNN_(simd).pointwise.stream : NULL;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < tiles.blocks; i++) {
    int64_t count;
    const int64_t at = blockAt(&shape, &tiles, i, &count);
    if (shape.positions == 1)
      THNN_(simd).softmax.backwardRows(logarithm, count, shape.planes, y + at, g + at, run,
                                       gradient + at);
    else
      THNN_(simd).softmax.backwardTile(logarithm, shape.planes, shape.positions, count, y + at,
                                       g + at, put, gradient + at);
    if (stream)
      THNN_(simd).pointwise.streamEnd();
  }
  THNN_planRelease(&plan);
}
