#include "geometry/indices.h"

#include <stdlib.h>

#include "geometry/pooling.h"
#include "work/sizes.h"

#define THNN_REAL_FLOAT /* the loops over integers are the same for both real types */
#include "simd/vector/template.h"

bool THNN_areAllWithin(const THNNState *state, int64_t count, const int64_t *values, int64_t first,
                       int64_t last)
{
  const THNNBlocks blocks = THNN_blocks(count);
  const int threads = THNN_threads(state, blocks.count, (double)count);
  bool all = true;
  /* Each thread goes backwards, so that its first indices are in its cache when they are used. */
#pragma omp parallel for num_threads(threads) schedule(static) reduction(&& : all)
  for (int share = 0; share < threads; share++)
    for (int64_t i = blocks.count * (share + 1) / threads; i-- > blocks.count * share / threads;)
      all = all && THNN_(simd).indices.areWithin(THNN_blockLength(&blocks, i),
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

bool THNN_tapsAreNear(const THNNConvolution *g)
{
  for (int d = 0; d < 3; d++)
    if (g->output[d] > INT32_MAX || g->output[d] * g->stride[d] + llabs(g->pad[d]) +
                                            (1 << THNN_TAP_BITS) * g->dilation[d] + g->input[d] >
                                        INT32_MAX)
      return false;
  return THNN_convolutionImagePositions(g) <= INT32_MAX;
}

int64_t THNN_elementOfTaps(const THNNPooledIndices *pooled, const int64_t *position, int64_t index,
                           int64_t second)
{
  (void)second;
  const THNNConvolution *g = pooled->context;
  if (pooled->optional && windowIsOutside(g, position))
    return THNN_NO_ELEMENT;
  int64_t element = 0;
  for (int d = 0; d < 3; d++) {
    const int64_t tap = index >> d * THNN_TAP_BITS & ((1 << THNN_TAP_BITS) - 1);
    const int64_t at = position[d] * g->stride[d] - g->pad[d] + tap * g->dilation[d];
    if (at < 0 || at >= g->input[d])
      return THNN_BAD_INDEX;
    element = element * g->input[d] + at;
  }
  return element;
}

/* The least and the greatest tap of a window that see inside the input along a dimension, up to
 * THNN_LAST_TAP, each in the dimension's byte of an index. */
THNNIndexWindow THNN_tapWindow(const THNNPooledIndices *pooled, int dimension, int64_t position)
{
  const THNNConvolution *g = pooled->context;
  const int64_t start = position * g->stride[dimension] - g->pad[dimension];
  const int64_t dilation = g->dilation[dimension], toLast = g->input[dimension] - 1 - start;
  const int64_t least = start < 0 ? (dilation - 1 - start) / dilation : 0;
  const int64_t most = toLast < 0 ? -1 : toLast / dilation;
  const int shift = dimension * THNN_TAP_BITS;
  uint64_t first = (uint64_t)start; /* of a window outside, the product wraps around */
  for (int d = dimension + 1; d < 3; d++)
    first *= (uint64_t)g->input[d];
  THNNIndexWindow window = {.start = (int64_t)first,
                            .limit = {(uint32_t)THNN_LAST_TAP << shift, 0}};
  if (least <= THNN_LAST_TAP && most >= least) {
    window.limit[0] = (uint32_t)least << shift;
    window.limit[1] = (uint32_t)(most < THNN_LAST_TAP ? most : THNN_LAST_TAP) << shift;
  }
  return window;
}

int64_t THNN_pooledElements(const THNNPooledIndices *pooled)
{
  return pooled->planes * pooled->slices * pooled->rows * pooled->length;
}

/* The number of planes that a run takes together, of those that are asked for, where each has few
 * indices. A run costs about as much as listing LISTED_PER_RUN windows: taking more planes together
 * saves runs, but lists more windows, which must not cost more than it saves. For adaptive pooling
 * to planes of 4x4 to 15x15, 64 was measured to be 0 to 3 % faster than 16 and up to 13 % faster
 * than 4. Loops take blocks of BLOCK indices. */
static int64_t planesOfRun(const THNNPooledIndices *pooled, int64_t asked)
{
  enum { LISTED_PER_RUN = 64, BLOCK = 8 };
  const int64_t count = pooled->slices * pooled->rows * pooled->length;
  if (!pooled->near || count > THNN_DECODED)
    return 1;
  /* The numbers of the elements of all the run's planes must fit 32 bits. */
  const int64_t fitting = minimum(THNN_DECODED / count, INT32_MAX / pooled->elements);
  const int64_t most = minimum(fitting, asked);
  int64_t planes = 1;
  while (planes < most && planes * planes * count < LISTED_PER_RUN * pooled->planes)
    planes++;
  int64_t unit = 1;
  while (unit * count % BLOCK != 0)
    unit *= 2;
  return planes < unit ? planes : planes / unit * unit;
}

static void cutRun(const THNNPooledIndices *pooled, THNNIndexRun *run)
{
  const int64_t slice = pooled->rows * pooled->length, plane = pooled->slices * slice;
  const int64_t inPlane = run->at % plane, left = run->end - run->at;
  run->plane = run->at / plane;
  run->slice = run->row = run->column = 0;
  run->rows = 1;
  if (plane <= THNN_DECODED) {
    run->columns = plane * minimum(run->planes, left / plane);
  } else if (slice <= THNN_DECODED) {
    run->columns = slice;
    run->row = inPlane / slice;
    run->rows = minimum(minimum(THNN_DECODED / slice, pooled->slices - run->row), left / slice);
  } else {
    run->slice = inPlane / slice;
    run->row = inPlane % slice / pooled->length;
    run->column = inPlane % pooled->length;
    run->columns = minimum(pooled->length - run->column, THNN_DECODED);
    if (run->columns == pooled->length)
      run->rows = minimum(pooled->rows - run->row, THNN_DECODED / run->columns);
  }
  run->count = run->rows * run->columns;
}

THNNIndexRun THNN_firstIndexRun(const THNNPooledIndices *pooled, int64_t slice, int64_t slices)
{
  const int64_t count = pooled->rows * pooled->length;
  THNNIndexRun run = {.at = slice * count, .end = (slice + slices) * count};
  if (run.at < run.end) {
    run.planes = planesOfRun(pooled, slices / pooled->slices);
    cutRun(pooled, &run);
  }
  return run;
}

void THNN_nextIndexRun(const THNNPooledIndices *pooled, THNNIndexRun *run)
{
  run->at += run->count;
  if (run->at < run->end)
    cutRun(pooled, run);
}

/* ---- Lists of windows ----------------------------------------------------------------------- */

void THNN_clearRoom(THNNIndexRoom *room)
{
  room->columns.first = room->rows.first = -1;
}

static void listWindows(const THNNPooledIndices *pooled, int dimension, int64_t first,
                        int64_t count, THNNWindowList *list)
{
  list->first = first;
  for (int64_t i = 0; i < count; i++) {
    const THNNIndexWindow window = pooled->window(pooled, dimension, first + i);
    list->start[i] = (int32_t)window.start;
    list->limit[0][i] = window.limit[0];
    list->limit[1][i] = window.limit[1];
  }
}

/* Writes copy number `at` of the list's first n windows, with `window` added to each. */
static void copyWindows(int64_t n, int64_t at, THNNIndexWindow window, THNNWindowList *list)
{
  const uint32_t start = (uint32_t)window.start; /* sums for elements outside wrap around */
  int32_t *to = list->start + at * n;
  uint32_t *least = list->limit[0] + at * n, *most = list->limit[1] + at * n;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    to[i] = (int32_t)((uint32_t)list->start[i] + start);
    least[i] = list->limit[0][i] | window.limit[0];
    most[i] = list->limit[1][i] | window.limit[1];
  }
}

/* Copies the first n windows for `count` positions along one more dimension. Copy 0 replaces the
 * original, so it is made last. */
static void repeatWindows(const THNNPooledIndices *pooled, int dimension, int64_t n, int64_t count,
                          THNNWindowList *list)
{
  for (int64_t at = count - 1; at >= 0; at--)
    copyWindows(n, at, pooled->window(pooled, dimension, at), list);
}

static void listColumns(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                        THNNWindowList *list)
{
  const int64_t length = pooled->length, slice = pooled->rows * length;
  const int64_t plane = pooled->slices * slice;
  if (slice > THNN_DECODED) {
    listWindows(pooled, 2, run->column, run->columns, list);
    return;
  }
  listWindows(pooled, 2, 0, length, list);
  repeatWindows(pooled, 1, length, pooled->rows, list);
  if (plane > THNN_DECODED)
    return;
  repeatWindows(pooled, 0, slice, pooled->slices, list);
  for (int64_t at = run->planes - 1; at > 0; at--)
    copyWindows(plane, at, (THNNIndexWindow){.start = at * pooled->elements}, list);
}

/* Lists rows from the run's first one. If slices are short, a row is a whole slice; if planes are
 * short, there is one row, which adds nothing. */
static void listRows(const THNNPooledIndices *pooled, const THNNIndexRun *run, THNNWindowList *list)
{
  const int64_t slice = pooled->rows * pooled->length;
  if (slice > THNN_DECODED)
    listWindows(pooled, 1, run->row, minimum(pooled->rows - run->row, THNN_DECODED), list);
  else if (pooled->slices * slice > THNN_DECODED)
    listWindows(pooled, 0, run->row, minimum(pooled->slices - run->row, THNN_DECODED), list);
  else
    list->first = list->start[0] = list->limit[0][0] = list->limit[1][0] = 0;
}

static THNNIndexWindows windowsOf(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                                  THNNIndexRoom *room)
{
  THNNWindowList *columns = &room->columns, *rows = &room->rows;
  if (columns->first != run->column)
    listColumns(pooled, run, columns);
  if (rows->first < 0 || run->row < rows->first ||
      run->row + run->rows > rows->first + THNN_DECODED)
    listRows(pooled, run, rows);
  const int64_t row = run->row - rows->first;
  THNNIndexWindow slice = {0};
  if (pooled->rows * pooled->length > THNN_DECODED)
    slice = pooled->window(pooled, 0, run->slice);
  THNNIndexWindows windows = {.rows = run->rows,
                              .columns = run->columns,
                              .start = columns->start,
                              .rowStart = rows->start + row,
                              .firstStart = (uint32_t)slice.start};
  for (int i = 0; i < 2; i++) {
    windows.limit[i] = columns->limit[i];
    windows.rowLimit[i] = rows->limit[i] + row;
    windows.firstLimit[i] = slice.limit[i];
  }
  for (int d = 0; d < 3; d++)
    windows.step[d] = (uint32_t)pooled->step[d];
  return windows;
}

/* ---- One index after the other --------------------------------------------------------------- */

typedef struct Position {
  int64_t at[3];
} Position;

static Position positionOf(const THNNPooledIndices *pooled, int64_t number)
{
  const int64_t row = number / pooled->length, slice = row / pooled->rows;
  return (Position){{slice % pooled->slices, row % pooled->rows, number % pooled->length}};
}

static void advance(const THNNPooledIndices *pooled, Position *position)
{
  const int64_t size[3] = {pooled->slices, pooled->rows, pooled->length};
  for (int d = 2; d >= 0; d--) {
    if (++position->at[d] < size[d])
      return;
    position->at[d] = 0;
  }
}

/* The number, within the run, of its first bad index; run->count if there is none. */
static int64_t findBad(const THNNPooledIndices *pooled, const THNNIndexRun *run)
{
  Position position = positionOf(pooled, run->at);
  for (int64_t i = 0; i < run->count; i++, advance(pooled, &position)) {
    const int64_t second = pooled->halves ? run->index[1][i] : 0;
    if (pooled->element(pooled, position.at, run->index[0][i], second) == THNN_BAD_INDEX)
      return i;
  }
  return run->count;
}

static void decodeEach(const THNNPooledIndices *pooled, const THNNIndexRun *run, int64_t *element)
{
  Position position = positionOf(pooled, run->at);
  for (int64_t i = 0; i < run->count; i++, advance(pooled, &position)) {
    const int64_t second = pooled->halves ? run->index[1][i] : 0;
    element[i] = pooled->element(pooled, position.at, run->index[0][i], second);
  }
}

void THNN_decodeIndices(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                        THNNIndexRoom *room)
{
  if (!pooled->near) {
    decodeEach(pooled, run, room->element);
    return;
  }
  const THNNIndexWindows windows = windowsOf(pooled, run, room);
  pooled->decode(&windows, run->index[0], run->index[1], room->nearElement);
}

int64_t THNN_checkIndexRun(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                           THNNIndexRoom *room, int64_t plane, uint16_t *number)
{
  if (pooled->decode) {
    THNNIndexWindows windows = windowsOf(pooled, run, room);
    windows.firstStart += (uint32_t)((run->plane - plane) * pooled->elements);
    const bool inside = pooled->decode(&windows, run->index[0], run->index[1], room->nearElement);
    if (number)
      THNN_(simd).indices.narrowElements(run->count, room->nearElement, number);
    if (inside)
      return run->count;
  }
  return findBad(pooled, run);
}
