/* Element-by-element loops. `omp simd` says what the header promises: no element depends on one
 * computed in an earlier iteration, because pointers are equal or ranges do not overlap. */
#include "simd/tuning.h"
#include "simd/vector/prefetch.h"
#include "simd/vector/rows.h"

static void fill(int64_t n, real value, real *y)
{
  fillRow(n, value, y);
}

static void copy(int64_t n, const real *x, real *y)
{
  if (x != y)
    copyAnyRow(n, x, y);
}

static void copyFromSteps(int64_t n, const real *x, int64_t step, real *y)
{
  if (step == 1)
    copy(n, x, y);
  else if (step == 2) /* a constant step becomes shuffles instead of gathers */
    for (int64_t i = 0; i < n; i++)
      y[i] = x[2 * i];
  else
    for (int64_t i = 0; i < n; i++)
      y[i] = x[step * i];
}

static void addToSteps(int64_t n, const real *x, real *y, int64_t step)
{
  if (step == 1) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
      y[i] += x[i];
  } else {
    for (int64_t i = 0; i < n; i++)
      y[step * i] += x[i];
  }
}

static void axpy(int64_t n, real a, const real *x, real *y)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] += a * x[i];
}

static void blend(int64_t n, real a, const real *x, real b, const real *y, real *z)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = a * x[i] + b * y[i];
}

static void addScalar(int64_t n, const real *x, real value, real *y)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] + value;
}

#ifdef VECTOR_STREAMS
/* Reals that a map writes into the first-level cache before they are streamed: few, so that reading
 * and writing alternate quickly. */
enum { TILE = 512 / sizeof(real) };

/* Reals from y to the next address that a vector can be streamed to. */
static int64_t toAligned(const real *y)
{
  return (int64_t)(-(uintptr_t)y % VECTOR_BYTES / sizeof(real));
}

static void stream(int64_t n, const real *x, real *y)
{
  const int64_t first = toAligned(y) < n ? toAligned(y) : n;
  copy(first, x, y);
  int64_t i = first;
  for (; i + LANES <= n; i += LANES)
    streamVector(y + i, load(x + i));
  copy(n - i, x + i, y + i);
}

/* Prefetches x for a loop that computes much per element, and would otherwise alternate between
 * computing and waiting for memory. */
static void fetchAhead(int64_t n, const real *x, int64_t ahead)
{
  THNN_fetchToSecondLevel(x, n * (int64_t)sizeof(real), ahead);
}

static void streamMade(Make make, const void *context, int64_t n, real *y)
{
  real tile[TILE] __attribute__((aligned(VECTOR_BYTES)));
  int64_t length = TILE - LANES + toAligned(y); /* the other tiles begin aligned */
  for (int64_t at = 0; at < n; at += length, length = TILE) {
    length = length < n - at ? length : n - at;
    make(context, at, length, tile);
    stream(length, tile, y + at);
  }
  streamEnd();
}

/* A map with its operands. */
typedef struct Mapping {
  Map map;
  const real *x, *parameters;
} Mapping;

static void makeMap(const void *context, int64_t at, int64_t n, real *y)
{
  const Mapping *of = context;
  fetchAhead(n, of->x + at, THNN_tuning.prefetchBytes);
  of->map(n, of->x + at, of->parameters, y);
}

static void streamMap(Map map, int64_t n, const real *x, const real *parameters, real *y)
{
  const Mapping of = {map, x, parameters};
  streamMade(makeMap, &of, n, y);
}

/* A map of two operands, which are prefetched from `ahead` bytes further on. */
typedef struct Mapping2 {
  Map2 map;
  const real *x, *y, *parameters;
  int64_t ahead;
} Mapping2;

static void makeMap2(const void *context, int64_t at, int64_t n, real *z)
{
  const Mapping2 *of = context;
  fetchAhead(n, of->x + at, of->ahead);
  if (of->y != of->x)
    fetchAhead(n, of->y + at, of->ahead);
  of->map(n, of->x + at, of->y + at, of->parameters, z);
}

static void streamMap2(Map2 map, int64_t n, const real *x, const real *y, const real *parameters,
                       int64_t ahead, real *z)
{
  const Mapping2 of = {map, x, y, parameters, ahead};
  streamMade(makeMap2, &of, n, z);
}
#else
static void stream(int64_t n, const real *x, real *y)
{
  copy(n, x, y);
}

static void streamEnd(void) {}

static void streamMade(Make make, const void *context, int64_t n, real *y)
{
  make(context, 0, n, y);
}

static void streamMap(Map map, int64_t n, const real *x, const real *parameters, real *y)
{
  map(n, x, parameters, y);
}
#endif

static void runMap2(Map2 map, int64_t n, const real *x, const real *y, const real *parameters,
                    int64_t ahead, real *z)
{
  (void)ahead;
  map(n, x, y, parameters, z);
}

static void threshold(int64_t n, const real *x, const real *parameters, real *y)
{
  const real threshold = parameters[0], value = parameters[1];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] > threshold ? x[i] : value;
}

static void thresholdBackward(int64_t n, const real *x, const real *gradOutput,
                              const real *parameters, real *gradInput)
{
  const real threshold = parameters[0];
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    store(gradInput + i, keepWhere(load(x + i) > broadcast(threshold), load(gradOutput + i)));
  for (; i < n; i++)
    gradInput[i] = x[i] > threshold ? gradOutput[i] : 0;
}

/* `adds` and `rectifies` are constants where this is called. */
INLINE Vector finished(const bool adds, const bool rectifies, Vector addend, Vector y)
{
  if (adds)
    y += addend;
  return rectifies ? keepWhere(y > (Vector){0}, y) : y;
}

INLINE void finishRow(int64_t n, const bool adds, const bool rectifies, const real *addend, real *y)
{
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const Vector more = adds ? load(addend + i) : (Vector){0};
    store(y + i, finished(adds, rectifies, more, load(y + i)));
  }
  const int64_t left = n - i;
  if (left > 0) {
    const Vector more = adds ? loadFirst(addend + i, left) : (Vector){0};
    const Vector last = finished(adds, rectifies, more, loadFirst(y + i, left));
    storeFirst(y + i, left, last);
  }
}

static void finish(int64_t n, const real *addend, bool rectifies, real *y)
{
  if (addend && rectifies)
    finishRow(n, true, true, addend, y);
  else if (addend)
    finishRow(n, true, false, addend, y);
  else if (rectifies)
    finishRow(n, false, true, NULL, y);
}

const SimdPointwise SIMD_TABLE(Pointwise, THNN_SIMD_LEVEL) = {
    .fill = fill,
    .copy = copy,
    .copyFromSteps = copyFromSteps,
    .addToSteps = addToSteps,
    .axpy = axpy,
    .blend = blend,
    .addScalar = addScalar,
    .finish = finish,
    .stream = stream,
    .streamEnd = streamEnd,
    .streamMade = streamMade,
    .streamMap = streamMap,
#ifdef VECTOR_STREAMS
    .streamMap2 = streamMap2,
#else
    .streamMap2 = runMap2,
#endif
    .runMap2 = runMap2,
    .threshold = threshold,
    .thresholdBackward = thresholdBackward,
};
