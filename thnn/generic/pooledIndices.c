#include "pooledIndices.h"

/* Plain indices are used as they are; the others are decoded run by run. */
typedef struct Cursor {
  const THNNPooledIndices *pooled;
  const int64_t *indices;
  THNNIndexRun run;
  int64_t at; /* the run's place in a tensor of the indices' shape */
} Cursor;

static int64_t runLength(const THNNPooledIndices *pooled, int64_t first)
{
  const int64_t left = pooled->length - first;
  return pooled->decode && left > THNN_DECODED ? THNN_DECODED : left;
}

static Cursor firstRun(const THNNPooledIndices *pooled, const int64_t *indices, int64_t plane)
{
  Cursor cursor = {pooled, indices, .at = plane * pooled->slices * pooled->rows * pooled->length};
  cursor.run.row = (THNNRow){plane, 0, 0, pooled->slices, pooled->rows};
  cursor.run.count = runLength(pooled, 0);
  return cursor;
}

static void nextRun(Cursor *cursor)
{
  THNNIndexRun *run = &cursor->run;
  cursor->at += run->count;
  run->first += run->count;
  if (run->first == cursor->pooled->length) {
    run->first = 0;
    THNN_nextRow(&run->row);
  }
  run->count = runLength(cursor->pooled, run->first);
}

/* The elements that the run's indices name, counted from firstElement; `room` is for decoding. */
static const int64_t *elementsOf(Cursor *cursor, int64_t *room)
{
  const THNNPooledIndices *pooled = cursor->pooled;
  const int64_t *index = cursor->indices + cursor->at;
  if (!pooled->decode)
    return index;
  cursor->run.index[0] = index;
  if (pooled->halves)
    cursor->run.index[1] = index + THNN_pooledElements(pooled);
  pooled->decode(pooled, &cursor->run, room);
  return room;
}

static int64_t firstElement(const THNNPooledIndices *pooled)
{
  return pooled->decode ? 0 : TH_INDEX_BASE;
}

static int threadsFor(const THNNPooledIndices *pooled)
{
  const double elements = (double)pooled->planes * (double)pooled->elements;
  return THNN_threads(pooled->state, pooled->planes,
                      (double)THNN_pooledElements(pooled) + elements / 4);
}

/* `small` has the indices' shape, `large` the planes that they name elements of. */

/* large = 0, then large[element] += small, plane by plane in order */
static void addToElements(const THNNPooledIndices *pooled, const int64_t *indices,
                          const real *small, real *large)
{
  const int64_t base = firstElement(pooled);
#pragma omp parallel for num_threads(threadsFor(pooled)) schedule(static)
  for (int64_t plane = 0; plane < pooled->planes; plane++) {
    real *to = large + plane * pooled->elements;
    THNN_(simd).pointwise.fill(pooled->elements, 0, to);
    for (Cursor cursor = firstRun(pooled, indices, plane); cursor.run.row.plane == plane;
         nextRun(&cursor)) {
      int64_t room[THNN_DECODED];
      const int64_t *element = elementsOf(&cursor, room);
      const real *from = small + cursor.at;
      for (int64_t i = 0; i < cursor.run.count; i++)
        if (element[i] >= base)
          to[element[i] - base] += from[i];
    }
  }
}

/* large = 0, then large[element] = small */
static void setElements(const THNNPooledIndices *pooled, const int64_t *indices, const real *small,
                        real *large)
{
  const int64_t base = firstElement(pooled);
#pragma omp parallel for num_threads(threadsFor(pooled)) schedule(static)
  for (int64_t plane = 0; plane < pooled->planes; plane++) {
    real *to = large + plane * pooled->elements;
    THNN_(simd).pointwise.fill(pooled->elements, 0, to);
    for (Cursor cursor = firstRun(pooled, indices, plane); cursor.run.row.plane == plane;
         nextRun(&cursor)) {
      int64_t room[THNN_DECODED];
      const int64_t *element = elementsOf(&cursor, room);
      const real *from = small + cursor.at;
      for (int64_t i = 0; i < cursor.run.count; i++)
        to[element[i] - base] = from[i];
    }
  }
}

/* small = large[element] */
static void getElements(const THNNPooledIndices *pooled, const int64_t *indices, const real *large,
                        real *small)
{
  const int64_t base = firstElement(pooled);
#pragma omp parallel for num_threads(threadsFor(pooled)) schedule(static)
  for (int64_t plane = 0; plane < pooled->planes; plane++) {
    const real *from = large + plane * pooled->elements;
    for (Cursor cursor = firstRun(pooled, indices, plane); cursor.run.row.plane == plane;
         nextRun(&cursor)) {
      int64_t room[THNN_DECODED];
      const int64_t *element = elementsOf(&cursor, room);
      real *to = small + cursor.at;
      for (int64_t i = 0; i < cursor.run.count; i++)
        to[i] = from[element[i] - base];
    }
  }
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
  THNN_planAcquire(&plan);
  addToElements(pooled, index->data, from->data, to->data);
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
  THNN_planAcquire(&plan);
  setElements(pooled, index->data, from->data, to->data);
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
  getElements(pooled, index->data, from->data, to->data);
  THNN_planRelease(&plan);
}
