#include "pooledIndices.h"

#include <stdlib.h>

#include "../THNNPooling.h"

#ifdef THNN_ONCE
bool THNN_areAllWithin(const THNNState *state, int64_t count, const int64_t *values, int64_t first,
                       int64_t last)
{
  const THNNBlocks blocks = THNN_blocks(count);
  const int threads = THNN_threads(state, blocks.count, (double)count);
  bool all = true;
  /* Each thread from its last to its first, so that the first are in its cache when they are used. */
#  pragma omp parallel for num_threads(threads) schedule(static) reduction(&& : all)
  for (int share = 0; share < threads; share++)
    for (int64_t i = blocks.count * (share + 1) / threads; i-- > blocks.count * share / threads;)
      all = all && THNN_(simd).pooling.areWithin(THNN_blockLength(&blocks, i),
                                                 values + i * blocks.length, first, last);
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

/* How many taps from the first on lie inside in all windows along a dimension; 0 with padding. */
static int64_t commonTaps(const THNNConvolution *g, int dimension, int64_t most)
{
  THNNConvolution windows = *g;
  windows.kernel[dimension] = most;
  const THNNTaps first = THNN_tapsInside(&windows, dimension, 0);
  const THNNTaps last = THNN_tapsInside(&windows, dimension, g->output[dimension] - 1);
  return first.begin == 0 ? last.end : 0;
}

/* What is the same for all runs. They differ in where they begin: how far their windows lie behind
 * the first is the same. */
static void keepWindows(const THNNConvolution *g, const THNNIndexRun *run, THNNIndexRoom *room)
{
  THNNTapWindows *windows = &room->windows;
  *windows = (THNNTapWindows){.strideY = g->stride[1], .strideX = g->stride[2], .someCommon = true};
  for (int d = 0; d < 3; d++) {
    windows->dilation[d] = g->dilation[d];
    windows->size[d] = g->input[d];
    const int64_t common = commonTaps(g, d, THNN_COMMON_TAPS);
    windows->someCommon &= common > 0;
    windows->lastCommon += (common - 1) * (1 << d * THNN_TAP_BITS);
  }
  room->keptRow = 0;
  if (!areNear(g))
    return;
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
  windows->down = room->kept[0];
  windows->right = room->kept[1];
  windows->behind = room->kept[2];
}

static const THNNTapWindows *windowsOf(const THNNConvolution *g, const THNNIndexRun *run,
                                       THNNIndexRoom *room)
{
  if (room->keptRow < 0)
    keepWindows(g, run, room);
  THNNTapWindows *windows = &room->windows;
  windows->rows = run->rows;
  windows->columns = run->columns;
  windows->start[0] = run->row.z * g->stride[0] - g->pad[0];
  windows->start[1] = run->row.y * g->stride[1] - g->pad[1];
  windows->start[2] = run->first * g->stride[2] - g->pad[2];
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
  const THNNTapWindows *windows = windowsOf(pooled->context, run, room);
  if (THNN_(simd).pooling.areTaps(windows, run->index[0]))
    return count;
  int64_t i = 0;
  while (i < count && (tapIsInside(windows, run, i) ||
                       (pooled->optional && hasNoElement(pooled->context, run, i))))
    i++;
  return i;
}

void THNN_elementsOfTaps(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                         THNNIndexRoom *room)
{
  const THNNTapWindows *windows = windowsOf(pooled->context, run, room);
  THNN_(simd).pooling.elementsOfTaps(windows, run->index[0], room->element);
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
enum { TURN = 8 };

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
    THNN_fetchNextPage(element + i, TURN * sizeof *element);
    THNN_fetchNextPage(small + i, TURN * sizeof *small);
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

/* What a thread works with. Indices mostly name elements in about their own order, so that a plane
 * is gone through in step with its indices; `step` elements, rounded up, belong to one of them. */
typedef struct Walk {
  const THNNPooledIndices *pooled;
  Move move;
  const int64_t *indices;
  real *small;
  int64_t step;
  bool fetched;       /* the plane is asked for ahead of its indices */
  real *waiting, *to; /* of a plane that waits in a tile, what is still to be streamed */
  int64_t left;
  THNNIndexRoom *room;
} Walk;

static int64_t planeIndices(const THNNPooledIndices *pooled)
{
  return pooled->slices * pooled->rows * pooled->length;
}

static Walk startWalk(const THNNPooledIndices *pooled, Move move, const int64_t *indices,
                      real *small, THNNIndexRoom *room)
{
  const int64_t count = planeIndices(pooled) ? planeIndices(pooled) : 1;
  Walk walk = {.pooled = pooled, .move = move, .indices = indices, .small = small, .room = room};
  walk.step = (pooled->elements + count - 1) / count;
  room->keptRow = -1;
  return walk;
}

/* Writes at least `n` of the elements that wait past the caches, up to the end of a line. */
static void streamSome(Walk *walk, int64_t n)
{
  n = n < walk->left ? n - THNN_beyondLine(walk->to + n, sizeof(real)) : walk->left;
  if (n < 1)
    return;
  THNN_(simd).pointwise.stream(n, walk->waiting, walk->to);
  walk->waiting += n;
  walk->to += n;
  walk->left -= n;
}

/* Moves n values, beginning with number `at`, and what belongs to them: so processor and memory work
 * at the same time. */
static void moveRun(Walk *walk, int64_t at, int64_t n, const int64_t *element, int64_t base,
                    real *large)
{
  const int64_t piece = walk->fetched || walk->left ? 64 : n;
  const int64_t inPlane = walk->fetched ? at % planeIndices(walk->pooled) : 0;
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t count = n - i < piece ? n - i : piece;
    if (walk->fetched)
      THNN_fetchNextPage(large + (inPlane + i) * walk->step,
                         count * walk->step * (int64_t)sizeof(real));
    walk->move(count, element + i, base, walk->small + at + i, large);
    if (walk->left)
      streamSome(walk, count * walk->step + 64 / (int64_t)sizeof(real));
  }
}

/* Of planes that lie side by side in `large`, from number `first` on. Plain indices are used as they
 * are; the others are decoded run by run. */
static void movePart(Walk *walk, int64_t first, int64_t planes, real *large)
{
  const THNNPooledIndices *pooled = walk->pooled;
  if (!pooled->decode) {
    const int64_t count = planeIndices(pooled);
    for (int64_t plane = first; plane < first + planes; plane++)
      moveRun(walk, plane * count, count, walk->indices + plane * count, TH_INDEX_BASE,
              large + (plane - first) * pooled->elements);
    return;
  }
  const int64_t *second = pooled->halves ? walk->indices + THNN_pooledElements(pooled) : NULL;
  for (THNNIndexRun run =
           THNN_firstIndexRun(pooled, first * pooled->slices, planes * pooled->slices);
       run.at < run.end; THNN_nextIndexRun(pooled, &run)) {
    run.index[0] = walk->indices + run.at;
    run.index[1] = second ? second + run.at : NULL;
    pooled->decode(pooled, &run, walk->room);
    moveRun(walk, run.at, THNN_indexCount(&run), walk->room->element, 0,
            large + (run.row.plane - first) * pooled->elements);
  }
}

/* Planes that are written. A plane that fits the second-level cache is put together there where the
 * result leaves the caches anyway, and written while the next one is put together. */
enum { MOST_TILE_BYTES = 256 << 10, TILES = 2 };

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

/* large = 0, then small is moved there, plane by plane in order. Each thread has its tiles, or
 * none. */
static void movePlanes(const THNNPooledIndices *pooled, Move move, const int64_t *indices,
                       real *small, real *large, char *tiles)
{
  const size_t bytes = tileBytes(pooled);
  const THNNBlocks blocks =
      THNN_rowBlocks(pooled->planes, bytes ? THNN_BLOCK_LENGTH : pooled->elements);
#pragma omp parallel num_threads(threadsFor(pooled))
  {
    THNNIndexRoom room;
    Walk walk = startWalk(pooled, move, indices, small, &room);
    char *mine = tiles + (size_t)THNN_threadIndex() * TILES * bytes;
#pragma omp for schedule(static)
    for (int64_t block = 0; block < blocks.count; block++) {
      const int64_t first = block * blocks.length, planes = THNN_blockLength(&blocks, block);
      real *result = large + first * pooled->elements;
      real *to = bytes ? (real *)(mine + (size_t)(block % TILES) * bytes) : result;
      THNN_(simd).pointwise.fill(planes * pooled->elements, 0, to);
      movePart(&walk, first, planes, to);
      if (bytes) {
        streamSome(&walk, walk.left);
        walk.waiting = to;
        walk.to = result;
        walk.left = pooled->elements;
      }
    }
    if (bytes) {
      streamSome(&walk, walk.left);
      THNN_(simd).pointwise.streamEnd();
    }
  }
}

static THNNBuffer *planTiles(THNNPlan *plan, const THNNPooledIndices *pooled)
{
  return THNN_planScratch(plan, (size_t)threadsFor(pooled) * TILES * tileBytes(pooled));
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
    Walk walk = startWalk(pooled, getElements, index->data, to->data, &room);
    walk.fetched = THNN_leavesCaches(pooled->planes * pooled->elements, sizeof(real));
#pragma omp for schedule(static)
    for (int64_t plane = 0; plane < pooled->planes; plane++)
      movePart(&walk, plane, 1, (real *)from->data + plane * pooled->elements);
  }
  THNN_planRelease(&plan);
}
