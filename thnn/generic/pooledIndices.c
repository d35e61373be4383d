#include "pooledIndices.h"

#include <stdlib.h>

#include "../THNNPooling.h"

#ifdef THNN_ONCE
bool THNN_areNumbers(const THNNPooledIndices *pooled, const int64_t *indices)
{
  const int64_t first = pooled->optional ? 0 : TH_INDEX_BASE;
  const THNNBlocks blocks = THNN_blocks(THNN_pooledElements(pooled));
  const int threads = THNN_threads(pooled->state, blocks.count, (double)blocks.elements);
  bool all = true;
#  pragma omp parallel for num_threads(threads) schedule(static) reduction(&& : all)
  for (int64_t i = 0; i < blocks.count; i++)
    all =
        all && THNN_(simd).pooling.areWithin(THNN_blockLength(&blocks, i),
                                             indices + i * blocks.length, first, pooled->elements);
  return all;
}

static bool windowIsOutside(const THNNConvolution *g, const int64_t position[3])
{
  for (int d = 0; d < 3; d++) {
    const THNNTaps taps = THNN_tapsInside(g, d, position[d]);
    if (taps.begin == taps.end)
      return true;
  }
  return false;
}

bool THNN_someWindowIsOutside(const THNNConvolution *g)
{
  for (int d = 0; d < 3; d++)
    for (int64_t position = 0; position < g->output[d]; position++) {
      const THNNTaps taps = THNN_tapsInside(g, d, position);
      if (taps.begin == taps.end)
        return true;
    }
  return false;
}

/* Whether the places of all taps that an index can name, and all elements, are 32-bit numbers. */
static bool areNear(const THNNConvolution *g)
{
  for (int d = 0; d < 3; d++)
    if (g->output[d] > INT32_MAX || g->output[d] * g->stride[d] + llabs(g->pad[d]) +
                                            (1 << THNN_TAP_BITS) * g->dilation[d] + g->input[d] >
                                        INT32_MAX)
      return false;
  return THNN_convolutionImagePositions(g) <= INT32_MAX;
}

/* Runs differ in where they begin: how far their windows lie behind the first is the same. */
static void keepDistances(const THNNConvolution *g, const THNNIndexRun *run, THNNIndexRoom *room)
{
  for (int64_t i = 0, row = 0, column = 0; i < THNN_DECODED; i++) {
    const int64_t down = row * g->stride[1], right = column * g->stride[2];
    room->kept[0][i] = (int32_t)down;
    room->kept[1][i] = (int32_t)right;
    room->kept[2][i] = (int32_t)(down * g->input[2] + right);
    if (++column == run->columns) {
      column = 0;
      row++;
    }
  }
  room->keptRow = 0;
}

static THNNTapWindows windowsOf(const THNNConvolution *g, const THNNIndexRun *run,
                                THNNIndexRoom *room)
{
  THNNTapWindows windows = {
      .rows = run->rows, .columns = run->columns, .strideY = g->stride[1], .strideX = g->stride[2]};
  const int64_t position[] = {run->row.z, run->row.y, run->first};
  for (int d = 0; d < 3; d++) {
    windows.start[d] = position[d] * g->stride[d] - g->pad[d];
    windows.dilation[d] = g->dilation[d];
    windows.size[d] = g->input[d];
  }
  if (!areNear(g))
    return windows;
  if (room->keptRow < 0)
    keepDistances(g, run, room);
  windows.down = room->kept[0];
  windows.right = room->kept[1];
  windows.behind = room->kept[2];
  return windows;
}

/* Index i of a run: whether it names an element, and whether its window has any. */
static bool tapIsInside(const THNNTapWindows *windows, const THNNIndexRun *run, int64_t i)
{
  THNNTapWindows window = *windows;
  window.rows = window.columns = 1;
  window.start[1] += i / run->columns * windows->strideY;
  window.start[2] += i % run->columns * windows->strideX;
  return THNN_(simd).pooling.areTaps(&window, run->index[0] + i);
}

static bool hasNoElement(const THNNConvolution *g, const THNNIndexRun *run, int64_t i)
{
  const int64_t position[] = {run->row.z, run->row.y + i / run->columns,
                              run->first + i % run->columns};
  return windowIsOutside(g, position);
}

int64_t THNN_checkTaps(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                       THNNIndexRoom *room)
{
  const int64_t count = run->rows * run->columns;
  const THNNTapWindows windows = windowsOf(pooled->context, run, room);
  if (THNN_(simd).pooling.areTaps(&windows, run->index[0]))
    return count;
  int64_t i = 0;
  while (i < count && (tapIsInside(&windows, run, i) ||
                       (pooled->optional && hasNoElement(pooled->context, run, i))))
    i++;
  return i;
}

void THNN_elementsOfTaps(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                         THNNIndexRoom *room)
{
  const THNNTapWindows windows = windowsOf(pooled->context, run, room);
  THNN_(simd).pooling.elementsOfTaps(&windows, run->index[0], room->element);
  if (!pooled->optional)
    return;
  for (int64_t i = 0; i < run->rows * run->columns; i++)
    if (hasNoElement(pooled->context, run, i))
      room->element[i] = THNN_NO_ELEMENT;
}
#endif

/* `small` has the indices' shape, `large` the planes that they name elements of. */

/* What is done with the values of n indices; elements are counted from `base`. */
typedef void (*Move)(int64_t n, const int64_t *element, int64_t base, real *small, real *large);

/* Indices and values come from memory one after the other, but in too many places at a time for the
 * processor to foresee all. */
enum { TURN = 8, AHEAD = 2048 / sizeof(real) };

static inline void fetchTurn(const int64_t *element, const real *small)
{
  __builtin_prefetch(element + AHEAD / 2);
  __builtin_prefetch(small + AHEAD);
}

static inline void addOne(int64_t element, real value, real *large)
{
  if (element >= 0)
    large[element] += value;
}

static inline void addFrom(int64_t base, int64_t n, const int64_t *element, const real *small,
                           real *large)
{
  int64_t i = 0;
  for (; i + TURN <= n; i += TURN) {
    fetchTurn(element + i, small + i);
#pragma GCC unroll 8
    for (int64_t j = i; j < i + TURN; j++)
      addOne(element[j] - base, small[j], large);
  }
  for (; i < n; i++)
    addOne(element[i] - base, small[i], large);
}

static void addToElements(int64_t n, const int64_t *element, int64_t base, real *small, real *large)
{
  if (base == TH_INDEX_BASE)
    addFrom(TH_INDEX_BASE, n, element, small, large);
  else
    addFrom(0, n, element, small, large);
}

static void setElements(int64_t n, const int64_t *element, int64_t base, real *small, real *large)
{
  for (int64_t i = 0; i < n; i++)
    large[element[i] - base] = small[i];
}

static void getElements(int64_t n, const int64_t *element, int64_t base, real *small, real *large)
{
  for (int64_t i = 0; i < n; i++)
    small[i] = large[element[i] - base];
}

/* Plain indices are used as they are; the others are decoded run by run. */
static void movePlane(const THNNPooledIndices *pooled, Move move, const int64_t *indices,
                      int64_t plane, real *small, real *large, THNNIndexRoom *room)
{
  const int64_t count = pooled->slices * pooled->rows * pooled->length;
  if (!pooled->decode) {
    move(count, indices + plane * count, TH_INDEX_BASE, small + plane * count, large);
    return;
  }
  const int64_t *second = pooled->halves ? indices + THNN_pooledElements(pooled) : NULL;
  for (THNNIndexRun run = THNN_firstIndexRun(pooled, plane * pooled->slices);
       run.row.plane == plane; THNN_nextIndexRun(pooled, &run)) {
    run.index[0] = indices + run.at;
    run.index[1] = second ? second + run.at : NULL;
    pooled->decode(pooled, &run, room);
    move(run.rows * run.columns, room->element, 0, small + run.at, large);
  }
}

/* Planes that are written. A plane that fits the second-level cache is put together there where the
 * result leaves the caches anyway. */
enum { MOST_TILE_BYTES = 256 << 10 };

static size_t tileBytes(const THNNPooledIndices *pooled)
{
  const size_t bytes = (size_t)pooled->elements * sizeof(real);
  const bool pays = THNN_leavesCaches(pooled->planes * pooled->elements, sizeof(real));
  return pays && bytes <= MOST_TILE_BYTES ? (bytes + 63) / 64 * 64 : 0;
}

/* Counted in operations, an index that is moved takes two, or three where it is decoded, and an
 * element that is filled a quarter. */
static int threadsFor(const THNNPooledIndices *pooled)
{
  const double indices = (double)THNN_pooledElements(pooled) * (pooled->decode ? 3 : 2);
  const double elements = (double)pooled->planes * (double)pooled->elements;
  return THNN_threads(pooled->state, pooled->planes, indices + elements / 4);
}

/* large = 0, then small is moved there, plane by plane in order. Each thread has a tile, or none. */
static void movePlanes(const THNNPooledIndices *pooled, Move move, const int64_t *indices,
                       real *small, real *large, char *tiles)
{
  const size_t bytes = tileBytes(pooled);
  const THNNBlocks blocks =
      THNN_rowBlocks(pooled->planes, bytes ? THNN_BLOCK_LENGTH : pooled->elements);
#pragma omp parallel num_threads(threadsFor(pooled))
  {
    THNNIndexRoom room;
    room.keptRow = -1;
    real *tile = bytes ? (real *)(tiles + (size_t)THNN_threadIndex() * bytes) : NULL;
#pragma omp for schedule(static)
    for (int64_t block = 0; block < blocks.count; block++) {
      const int64_t first = block * blocks.length, planes = THNN_blockLength(&blocks, block);
      real *result = large + first * pooled->elements, *to = tile ? tile : result;
      THNN_(simd).pointwise.fill(planes * pooled->elements, 0, to);
      for (int64_t i = 0; i < planes; i++)
        movePlane(pooled, move, indices, first + i, small, to + i * pooled->elements, &room);
      if (tile)
        THNN_(simd).pointwise.stream(pooled->elements, tile, result);
    }
    if (tile)
      THNN_(simd).pointwise.streamEnd();
  }
}

static THNNBuffer *planTiles(THNNPlan *plan, const THNNPooledIndices *pooled)
{
  return THNN_planScratch(plan, (size_t)threadsFor(pooled) * tileBytes(pooled));
}

void THNN_(pooledUpdateGradInput)(const THNNPooledIndices *pooled, THTensor *input,
                                  THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices,
                                  int indicesPosition)
{
  THNNPlan plan;
  THNN_planStart(&plan, pooled->function, pooled->state);
  THNN_checkPooledIndices(pooled, indices, indicesPosition);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *index = THNN_planIn(&plan, indices, indicesPosition);
  const THNNBuffer *tiles = planTiles(&plan, pooled);
  THNN_planAcquire(&plan);
  movePlanes(pooled, addToElements, index->data, from->data, to->data, tiles->data);
  THNN_planRelease(&plan);
}

void THNN_(unpoolUpdateOutput)(const THNNPooledIndices *pooled, THTensor *input, THTensor *output,
                               int nDimension, const int64_t *size, THIndexTensor *indices)
{
  THNNPlan plan;
  THNN_planStart(&plan, pooled->function, pooled->state);
  THNN_checkPooledIndices(pooled, indices, 4);
  const THNNBuffer *from = THNN_planIn(&plan, input, 2);
  const THNNBuffer *to = THNN_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *index = THNN_planIn(&plan, indices, 4);
  const THNNBuffer *tiles = planTiles(&plan, pooled);
  THNN_planAcquire(&plan);
  movePlanes(pooled, setElements, index->data, from->data, to->data, tiles->data);
  THNN_planRelease(&plan);
}

void THNN_(unpoolUpdateGradInput)(const THNNPooledIndices *pooled, THTensor *input,
                                  THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices)
{
  THNNPlan plan;
  THNN_planStart(&plan, pooled->function, pooled->state);
  THNN_checkPooledIndices(pooled, indices, 5);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *index = THNN_planIn(&plan, indices, 5);
  THNN_planAcquire(&plan);
#pragma omp parallel num_threads(threadsFor(pooled))
  {
    THNNIndexRoom room;
    room.keptRow = -1;
#pragma omp for schedule(static)
    for (int64_t plane = 0; plane < pooled->planes; plane++)
      movePlane(pooled, getElements, index->data, plane, to->data,
                (real *)from->data + plane * pooled->elements, &room);
  }
  THNN_planRelease(&plan);
}
