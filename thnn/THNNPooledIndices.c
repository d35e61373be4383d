#include "THNNPooledIndices.h"

#include <stdio.h>

#include "THNNCheck.h"
#include "THNNIndices.h"
#include "THNNStrided.h"
#include "planTensor.h"

int64_t THNN_pooledElements(const THNNPooledIndices *pooled)
{
  return pooled->planes * pooled->slices * pooled->rows * pooled->length;
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

int64_t THNN_mostAlikePlanes(const THNNPooledIndices *pooled)
{
  const int64_t count = pooled->rows * pooled->length;
  if (!pooled->alike || count > THNN_DECODED)
    return 1;
  const int64_t most = INT32_MAX / pooled->elements; /* elements of planes have 32-bit numbers */
  return least(least(THNN_DECODED / count, pooled->planes), most > 0 ? most : 1);
}

static void cutRun(const THNNPooledIndices *pooled, THNNIndexRun *run)
{
  run->columns = least(pooled->length - run->first, THNN_DECODED);
  run->rows = run->columns < pooled->length
                  ? 1
                  : least(pooled->rows - run->row.y, THNN_DECODED / run->columns);
  run->planes = 1;
  const int64_t most = THNN_mostAlikePlanes(pooled);
  if (most > 1)
    run->planes = least(most, (run->end - run->at) / (run->rows * run->columns));
}

THNNIndexRun THNN_firstIndexRun(const THNNPooledIndices *pooled, int64_t slice, int64_t slices)
{
  const int64_t count = pooled->rows * pooled->length;
  THNNIndexRun run = {.at = slice * count, .end = (slice + slices) * count};
  run.row = THNN_rowAt(slice * pooled->rows, pooled->slices, pooled->rows);
  cutRun(pooled, &run);
  return run;
}

void THNN_nextIndexRun(const THNNPooledIndices *pooled, THNNIndexRun *run)
{
  run->at += THNN_indexCount(run);
  run->first += run->columns;
  if (run->first == pooled->length) {
    run->first = 0;
    run->row.y += run->rows - 1;
    run->row.plane += run->planes - 1;
    THNN_nextRow(&run->row);
  }
  if (run->at < run->end)
    cutRun(pooled, run);
}

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

/* `count` values in row-major order, copied to `room` where they do not lie side by side. */
static const int64_t *readValues(const Values *values, int64_t first, int64_t count, int64_t *room)
{
  if (values->dense)
    return values->data + first;
  THNN_gatherPart(&values->folded, values->data, sizeof *room, first, count, room);
  return room;
}

/* The number of the first bad index of slices, or INT64_MAX. */
static int64_t checkSlices(const THNNPooledIndices *pooled, const Values *values, THNNShare slices)
{
  int64_t copies[2][THNN_DECODED];
  THNNIndexRoom room;
  room.keptRow = -1;
  for (THNNIndexRun run = THNN_firstIndexRun(pooled, slices.begin, slices.end - slices.begin);
       run.at < run.end; THNN_nextIndexRun(pooled, &run)) {
    const int64_t count = THNN_indexCount(&run);
    run.index[0] = readValues(values, run.at, count, copies[0]);
    if (pooled->halves)
      run.index[1] = readValues(values, THNN_pooledElements(pooled) + run.at, count, copies[1]);
    const int64_t bad = pooled->check(pooled, &run, &room);
    if (bad < count)
      return run.at + bad;
  }
  return INT64_MAX;
}

/* The number of the first bad index, or INT64_MAX. */
static int64_t checkAll(const THNNPooledIndices *pooled, const Values *values)
{
  const int64_t slices = pooled->planes * pooled->slices;
  const int threads = THNN_threads(pooled->state, slices, 2 * (double)THNN_pooledElements(pooled));
  int64_t first = INT64_MAX;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min : first)
  for (int share = 0; share < threads; share++)
    first = least(first, checkSlices(pooled, values, THNN_shareOf(slices, share, threads)));
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

bool THNN_checkPooledIndices(const THNNPooledIndices *pooled, THLongTensor *indices, int position)
{
  const Values values = valuesOf(indices);
  if (!pooled->decode) {
    const int64_t count = THNN_pooledElements(pooled), first = pooled->optional ? 0 : 1;
    if (values.dense && THNN_areAllWithin(pooled->state, count, values.data, 1, pooled->elements))
      return false;
    THNN_checkIndices(pooled->state, THNN_INDICES(pooled->function, indices, position), count,
                      first, pooled->elements, "elements of an input plane");
    return pooled->optional;
  }
  const int64_t bad = checkAll(pooled, &values);
  if (bad < INT64_MAX)
    reject(pooled, &values, bad, position);
  return !pooled->near;
}
