#include "geometry/indices.h"

#include <stdio.h>
#include <stdlib.h>

#include "call/check.h"
#include "call/indices.h"
#include "call/plan.h"
#include "call/planTensor.h"
#include "call/strided.h"
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

/* The number of planes that a run takes together, where each has few indices. A run costs about as
 * much as listing LISTED_PER_RUN windows: taking more planes together saves runs, but lists more
 * windows, which must not cost more than it saves. For adaptive pooling of planes of 2x2 to 7x7,
 * 4 was measured to be 0 to 4 % faster than 16. */
static int64_t planesOfRun(const THNNPooledIndices *pooled)
{
  enum { LISTED_PER_RUN = 4 };
  const int64_t count = pooled->slices * pooled->rows * pooled->length;
  if (!pooled->near || count > THNN_DECODED)
    return 1;
  /* The numbers of the elements of all the run's planes must fit 32 bits. */
  const int64_t most = minimum(THNN_DECODED / count, INT32_MAX / pooled->elements);
  int64_t planes = 1;
  while (planes < most && planes * planes * count < LISTED_PER_RUN * pooled->planes)
    planes++;
  return planes;
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
    run.planes = planesOfRun(pooled);
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

/* ---- Checking -------------------------------------------------------------------------------- */

/* The tensor that is checked. */
typedef struct Values {
  const int64_t *data;
  bool dense;
  THNNFolded folded;
} Values;

static Values valuesOf(const THLongTensor *indices)
{
  const THNNView view = THNN_LongTensorOperations.view(indices);
  return (Values){(const int64_t *)view.data, THNN_isDense(&view), THNN_fold(&view)};
}

/* `count` values in row-major order from number `first`; copied to `room` if they are not
 * contiguous. */
static const int64_t *readValues(const Values *values, int64_t first, int64_t count, int64_t *room)
{
  if (values->dense)
    return values->data + first;
  THNN_gatherPart(&values->folded, values->data, sizeof *room, first, count, room);
  return room;
}

/* Checks a run, and decodes it to elements[run->at] and the following ones, unless `elements` is
 * NULL. */
static int64_t checkRun(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                        THNNIndexRoom *room, uint32_t *elements)
{
  if (pooled->decode) {
    THNNIndexWindows windows = windowsOf(pooled, run, room);
    if (elements)
      windows.firstStart += (uint32_t)(run->plane * pooled->elements);
    if (pooled->decode(&windows, run->index[0], run->index[1],
                       elements ? elements + run->at : room->nearElement))
      return run->count;
  }
  return findBad(pooled, run);
}

/* Scratch of a thread that checks. */
typedef struct CheckRoom {
  int64_t copies[2][THNN_DECODED];
  THNNIndexRoom room;
} CheckRoom;

/* The number of the first bad index of some slices, or INT64_MAX. */
static int64_t checkSlices(const THNNPooledIndices *pooled, const Values *values, THNNRange slices,
                           CheckRoom *own, uint32_t *elements)
{
  int64_t (*copies)[THNN_DECODED] = own->copies;
  THNN_clearRoom(&own->room);
  for (THNNIndexRun run = THNN_firstIndexRun(pooled, slices.begin, slices.end - slices.begin);
       run.at < run.end; THNN_nextIndexRun(pooled, &run)) {
    run.index[0] = readValues(values, run.at, run.count, copies[0]);
    if (pooled->halves)
      run.index[1] = readValues(values, THNN_pooledElements(pooled) + run.at, run.count, copies[1]);
    const int64_t bad = checkRun(pooled, &run, &own->room, elements);
    if (bad < run.count)
      return run.at + bad;
  }
  return INT64_MAX;
}

/* Planes with few indices are not divided among threads. */
static int64_t slicesTogether(const THNNPooledIndices *pooled)
{
  const int64_t plane = pooled->slices * pooled->rows * pooled->length;
  return plane <= THNN_DECODED ? pooled->slices : 1;
}

/* The number of the first bad index, or INT64_MAX. There is a room for each thread; the elements are
 * kept, unless NULL. */
static int64_t findFirstBad(const THNNIndexCheck *check, const Values *values, CheckRoom *rooms,
                            uint32_t *elements)
{
  const THNNPooledIndices *pooled = check->pooled;
  const int64_t together = slicesTogether(pooled);
  const int64_t pieces = pooled->planes * pooled->slices / together;
  int64_t first = INT64_MAX;
#pragma omp parallel for num_threads(check->threads) schedule(static) reduction(min : first)
  for (int share = 0; share < check->threads; share++) {
    THNNRange slices = THNN_shareOf(pieces, share, check->threads);
    slices.begin *= together;
    slices.end *= together;
    first = minimum(first, checkSlices(pooled, values, slices, &rooms[share], elements));
  }
  return first;
}

static void reject(const THNNPooledIndices *pooled, const Values *values, int64_t at, int position)
{
  int64_t room;
  char found[96];
  const int64_t value = *readValues(values, at, 1, &room);
  if (pooled->halves) {
    const int64_t second = *readValues(values, THNN_pooledElements(pooled) + at, 1, &room);
    snprintf(found, sizeof found, "%lld and %lld at element %lld of each half", (long long)value,
             (long long)second, (long long)at + 1);
  } else {
    snprintf(found, sizeof found, "%lld at element %lld", (long long)value, (long long)at + 1);
  }
  THNN_reject(pooled->function, "indices", position, pooled->expected, found);
}

static bool checkPlain(const THNNPooledIndices *pooled, THLongTensor *indices, int position)
{
  const Values values = valuesOf(indices);
  const int64_t count = THNN_pooledElements(pooled), first = pooled->optional ? 0 : 1;
  if (values.dense && THNN_areAllWithin(pooled->state, count, values.data, 1, pooled->elements))
    return false;
  THNN_checkIndices(pooled->state, THNN_INDICES(pooled->function, indices, position), count, first,
                    pooled->elements, "elements of an input plane");
  return pooled->optional;
}

/* Whether the numbers of the elements are kept: as many as fit a second-level cache of 2 MB, so
 * that reading them again costs less than reading and decoding indices twice as long. */
static bool keepsElements(const THNNPooledIndices *pooled)
{
  enum { MOST_KEPT = 1 << 19 };
  return pooled->near && THNN_pooledElements(pooled) <= MOST_KEPT &&
         (double)pooled->planes * (double)pooled->elements <= INT32_MAX;
}

/* Checks the indices, with scratch from `plan`, which is acquired, or reserved if elements are kept,
 * and which is given up before an error. */
static void checkIn(THNNPlan *plan, const THNNIndexCheck *check)
{
  const Values values = valuesOf(check->indices);
  uint32_t *elements = check->elements ? check->elements->data : NULL;
  const int64_t bad = findFirstBad(check, &values, check->rooms->data, elements);
  if (bad == INT64_MAX)
    return;
  THNN_planAbandon(plan);
  reject(check->pooled, &values, bad, check->position);
}

THNNIndexCheck THNN_planIndexCheck(THNNPlan *plan, const THNNPooledIndices *pooled,
                                   THLongTensor *indices, int position, bool keep)
{
  THNNIndexCheck check = {.pooled = pooled, .indices = indices, .position = position};
  if (!pooled->element) {
    check.mayMiss = checkPlain(pooled, indices, position);
    return check;
  }
  const int64_t count = THNN_pooledElements(pooled);
  const int64_t pieces = pooled->planes * pooled->slices / slicesTogether(pooled);
  check.mayMiss = !pooled->near;
  check.threads = THNN_threads(pooled->state, pieces, 2 * (double)count);
  const size_t bytes = (size_t)check.threads * sizeof(CheckRoom);
  if (keep && keepsElements(pooled)) {
    check.rooms = THNN_planScratch(plan, bytes);
    check.elements = THNN_planScratch(plan, (size_t)count * sizeof(uint32_t));
    return check;
  }
  THNNPlan own;
  THNN_planStart(&own, pooled->function, pooled->state);
  check.rooms = THNN_planScratch(&own, bytes);
  THNN_planAcquire(&own);
  checkIn(&own, &check);
  THNN_planRelease(&own);
  check.rooms = NULL;
  return check;
}

void THNN_acquireChecked(THNNPlan *plan, const THNNIndexCheck *check)
{
  if (!check->elements) {
    THNN_planAcquire(plan);
    return;
  }
  THNN_planReserve(plan);
  checkIn(plan, check);
  THNN_planBegin(plan);
}
