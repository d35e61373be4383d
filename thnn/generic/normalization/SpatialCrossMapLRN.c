/* Local response normalisation across channels.
 *   input, output, scale, gradOutput, gradInput   [batch x] channels x height x width
 * With a window of `size` channels around each, (size - 1) / 2 of them (rounded down) before it:
 *   scale = k + alpha / size * sum over the window of input^2
 *   output = input * scale^-beta
 *   gradInput = gradOutput * scale^-beta - 2 alpha beta / size * input *
 *               sum over the channels whose window holds this one of gradOutput * output / scale
 *
 * Both passes work on tiles of positions: a channel has a row of terms, windows add up rows. */

#include "generic/normalization/checks.h"
#include "generic/template.h"
#include "geometry/planes.h"

enum {
  TILE_BYTES = 1 << 18, /* limit on the terms of all channels: second-level cache */
  SHORTEST_TILE = 64,
  COST = 30 /* cost of an element, in copied elements */
};

#ifdef THNN_ONCE
THNNPlanes THNN_SpatialCrossMapLRN_shapeCheck(const char *function, THNNShape input,
                                              THNNShape gradOutput, THNNShape scale,
                                              THNNShape output, THNNScalar size)
{
  THNN_checkDimensions(function, input, 3, 4, "[batch x] channels x height x width");
  THNN_elements(function, input);
  THNN_checkPositive(function, size);
  if (gradOutput.nDimension != THNN_NOT_PRESENT) {
    THNN_checkSameElements(function, gradOutput, input);
    THNN_checkSameElements(function, scale, input);
    THNN_checkSameElements(function, output, input);
  }
  const int64_t *sizes = input.size + (input.nDimension - 3);
  return (THNNPlanes){input.nDimension == 4 ? input.size[0] : 1, sizes[0], sizes[1] * sizes[2]};
}
#endif

/* How the work is cut. A thread's scratch holds pointers to the rows of terms, one more row, and
 * the rows of terms. */
typedef struct NormalisingPartition {
  THNNPlanes sizes;
  int64_t before, after; /* channels of a window on either side of its own */
  int64_t length, tiles; /* positions of a tile, tiles of a sample */
  int threads;
  size_t pointerBytes, threadBytes;
} NormalisingPartition;

static size_t aligned(size_t bytes)
{
  return (bytes + 63) / 64 * 64;
}

static NormalisingPartition partitionFor(const THNNState *state, THNNPlanes sizes, int size)
{
  NormalisingPartition partition = {
      .sizes = sizes, .before = (size - 1) / 2, .after = size - 1 - (size - 1) / 2};
  const int64_t fitting = TILE_BYTES / (int64_t)sizeof(real) / sizes.planes;
  partition.length = fitting < SHORTEST_TILE ? SHORTEST_TILE : fitting;
  if (partition.length > sizes.positions)
    partition.length = sizes.positions;
  partition.tiles = (sizes.positions + partition.length - 1) / partition.length;
  const double elements = (double)sizes.batch * (double)sizes.planes * (double)sizes.positions;
  partition.threads = THNN_threads(state, sizes.batch * partition.tiles, elements * COST);
  partition.pointerBytes = aligned((size_t)sizes.planes * sizeof(real *));
  partition.threadBytes = partition.pointerBytes +
                          aligned((size_t)((sizes.planes + 1) * partition.length) * sizeof(real));
  return partition;
}

/* One tile: the index of its first element in the tensor, its positions, and the calling thread's
 * scratch. */
typedef struct Tile {
  int64_t at, length;
  real **terms; /* one row per channel */
  real *row;
} Tile;

static Tile tileOf(const NormalisingPartition *partition, int64_t index, void *scratch)
{
  const int64_t sample = index / partition->tiles,
                position = index % partition->tiles * partition->length;
  const int64_t left = partition->sizes.positions - position, channels = partition->sizes.planes;
  Tile tile;
  tile.at = sample * channels * partition->sizes.positions + position;
  tile.length = left < partition->length ? left : partition->length;
  char *mine = (char *)scratch + (size_t)THNN_threadIndex() * partition->threadBytes;
  tile.terms = (real **)mine;
  tile.row = (real *)(mine + partition->pointerBytes);
  for (int64_t c = 0; c < channels; c++)
    tile.terms[c] = tile.row + (c + 1) * partition->length;
  return tile;
}

/* sum = the sum of the terms of channels [first, last], without those that do not exist. */
static void addTerms(const NormalisingPartition *partition, const Tile *tile, int64_t first,
                     int64_t last, real *sum)
{
  if (first < 0)
    first = 0;
  if (last > partition->sizes.planes - 1)
    last = partition->sizes.planes - 1;
  THNN_(simd).pooling.sumOfRows(tile->length, last - first + 1,
                                (const real *const *)tile->terms + first, sum);
}

/* y = x * scale^-beta; `row` is scratch. The usual exponent takes two square roots, which are
 * faster than a power. */
static void divideByPower(int64_t n, const real *scale, accreal beta, const real *x, real *row,
                          real *y)
{
  if (beta == 0.75) {
    THNN_(simd).activation.sqrt(n, scale, NULL, row);
    THNN_(simd).activation.sqrt(n, row, NULL, y);
    THNN_(simd).activation.product(n, row, y, NULL, row);
    THNN_(simd).pooling.divide(n, 1, row, x, y);
  } else {
    const real exponent = (real)-beta;
    THNN_(simd).elementary.power(n, scale, &exponent, y);
    THNN_(simd).activation.product(n, x, y, NULL, y);
  }
}

void THNN_(SpatialCrossMapLRN_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THTensor *scale, int size, accreal alpha, accreal beta,
                                            accreal k)
{
  const char *function = "SpatialCrossMapLRN_updateOutput";
  const THNNPlanes sizes =
      THNN_SpatialCrossMapLRN_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                                         THNN_NO_SHAPE, THNN_NO_SHAPE, THNN_SCALAR(size, 5));
  const NormalisingPartition partition = partitionFor(state, sizes, size);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOutLike(&plan, output, 3, input);
  THNNBuffer *divisors = THNN_planOutLike(&plan, scale, 4, input);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)partition.threads * partition.threadBytes);
  THNN_planAcquire(&plan);

#pragma omp parallel for num_threads(partition.threads) schedule(static)
  for (int64_t i = 0; i < sizes.batch * partition.tiles; i++) {
    const Tile tile = tileOf(&partition, i, scratch->data);
    const real *x = (const real *)in->data + tile.at;
    real *y = (real *)out->data + tile.at, *s = (real *)divisors->data + tile.at;
    for (int64_t c = 0; c < sizes.planes; c++)
      THNN_(simd).activation.square(tile.length, x + c * sizes.positions, NULL, tile.terms[c]);
    for (int64_t c = 0; c < sizes.planes; c++) {
      const int64_t at = c * sizes.positions;
      addTerms(&partition, &tile, c - partition.before, c + partition.after, s + at);
      THNN_(simd).pooling.scale(tile.length, (real)(alpha / size), s + at, s + at);
      THNN_(simd).pointwise.addScalar(tile.length, s + at, (real)k, s + at);
      divideByPower(tile.length, s + at, beta, x + at, tile.row, y + at);
    }
  }
  THNN_planRelease(&plan);
}

void THNN_(SpatialCrossMapLRN_updateGradInput)(THNNState *state, THTensor *input,
                                               THTensor *gradOutput, THTensor *gradInput,
                                               THTensor *scale, THTensor *output, int size,
                                               accreal alpha, accreal beta, accreal k)
{
  const char *function = "SpatialCrossMapLRN_updateGradInput";
  const THNNPlanes sizes = THNN_SpatialCrossMapLRN_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(scale, 5),
      THNN_SHAPE(output, 6), THNN_SCALAR(size, 7));
  (void)k;
  const NormalisingPartition partition = partitionFor(state, sizes, size);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *divisors = THNN_planIn(&plan, scale, 5);
  THNNBuffer *out = THNN_planIn(&plan, output, 6);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)partition.threads * partition.threadBytes);
  THNN_planAcquire(&plan);

#pragma omp parallel for num_threads(partition.threads) schedule(static)
  for (int64_t i = 0; i < sizes.batch * partition.tiles; i++) {
    const Tile tile = tileOf(&partition, i, scratch->data);
    const real *x = (const real *)in->data + tile.at, *y = (const real *)out->data + tile.at;
    const real *g = (const real *)from->data + tile.at, *s = (const real *)divisors->data + tile.at;
    real *gradient = (real *)to->data + tile.at;
    for (int64_t c = 0; c < sizes.planes; c++) {
      const int64_t at = c * sizes.positions;
      THNN_(simd).activation.product(tile.length, g + at, y + at, NULL, tile.terms[c]);
      THNN_(simd).pooling.divide(tile.length, 1, s + at, tile.terms[c], tile.terms[c]);
    }
    for (int64_t c = 0; c < sizes.planes; c++) {
      const int64_t at = c * sizes.positions;
      divideByPower(tile.length, s + at, beta, g + at, tile.row, gradient + at);
      addTerms(&partition, &tile, c - partition.after, c + partition.before, tile.row);
      THNN_(simd).activation.product(tile.length, x + at, tile.row, NULL, tile.row);
      THNN_(simd).pointwise.axpy(tile.length, (real)(-2 * alpha * beta / size), tile.row,
                                 gradient + at);
    }
  }
  THNN_planRelease(&plan);
}
