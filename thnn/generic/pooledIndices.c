#include "pooledIndices.h"

/* A run of indices of one output row. */
typedef struct Run {
  const THNNPooledIndices *pooled;
  int64_t row, first, count;
} Run;

static Run firstRun(const THNNPooledIndices *pooled, int64_t plane)
{
  const int64_t count = pooled->length < THNN_DECODED ? pooled->length : THNN_DECODED;
  return (Run){pooled, plane * pooled->planeRows, 0, count};
}

static bool runIsIn(const Run *run, int64_t plane)
{
  return run->row < (plane + 1) * run->pooled->planeRows;
}

static void nextRun(Run *run)
{
  run->first += run->count;
  if (run->first == run->pooled->length) {
    run->first = 0;
    run->row++;
  }
  const int64_t left = run->pooled->length - run->first;
  run->count = left < THNN_DECODED ? left : THNN_DECODED;
}

static void decode(const Run *run, const int64_t *indices, int64_t *element)
{
  THNN_decodeIndices(run->pooled, indices, run->row, run->first, run->count, element);
}

/* The part of the indices' shape that the run covers. */
static int64_t offsetOf(const Run *run)
{
  return run->row * run->pooled->length + run->first;
}

static int threadsFor(const THNNPooledIndices *pooled)
{
  const double small = (double)pooled->planeRows * (double)pooled->length;
  return THNN_threads(pooled->state, pooled->planes,
                      (double)pooled->planes * (small + (double)pooled->elements / 4));
}

void THNN_(addToElements)(const THNNPooledIndices *pooled, const int64_t *indices,
                          const real *small, real *large)
{
#pragma omp parallel for num_threads(threadsFor(pooled)) schedule(static)
  for (int64_t plane = 0; plane < pooled->planes; plane++) {
    real *to = large + plane * pooled->elements;
    THNN_(simd).pointwise.fill(pooled->elements, 0, to);
    for (Run run = firstRun(pooled, plane); runIsIn(&run, plane); nextRun(&run)) {
      int64_t element[THNN_DECODED];
      const real *from = small + offsetOf(&run);
      decode(&run, indices, element);
      for (int64_t i = 0; i < run.count; i++)
        if (element[i] >= 0)
          to[element[i]] += from[i];
    }
  }
}

void THNN_(setElements)(const THNNPooledIndices *pooled, const int64_t *indices, const real *small,
                        real *large)
{
#pragma omp parallel for num_threads(threadsFor(pooled)) schedule(static)
  for (int64_t plane = 0; plane < pooled->planes; plane++) {
    real *to = large + plane * pooled->elements;
    THNN_(simd).pointwise.fill(pooled->elements, 0, to);
    for (Run run = firstRun(pooled, plane); runIsIn(&run, plane); nextRun(&run)) {
      int64_t element[THNN_DECODED];
      const real *from = small + offsetOf(&run);
      decode(&run, indices, element);
      for (int64_t i = 0; i < run.count; i++)
        to[element[i]] = from[i];
    }
  }
}

void THNN_(getElements)(const THNNPooledIndices *pooled, const int64_t *indices, const real *large,
                        real *small)
{
#pragma omp parallel for num_threads(threadsFor(pooled)) schedule(static)
  for (int64_t plane = 0; plane < pooled->planes; plane++) {
    const real *from = large + plane * pooled->elements;
    for (Run run = firstRun(pooled, plane); runIsIn(&run, plane); nextRun(&run)) {
      int64_t element[THNN_DECODED];
      real *to = small + offsetOf(&run);
      decode(&run, indices, element);
      for (int64_t i = 0; i < run.count; i++)
        to[i] = from[element[i]];
    }
  }
}
