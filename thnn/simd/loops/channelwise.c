/* The loops of modules with parameters or statistics per channel. */
#include "simd/vector/doubles.h"
#include "simd/vector/prefetch.h"
#include "simd/vector/runningSums.h"

/* Sums over planes, in the order of vector/runningSums.h, but with RUNNING running sums: these hide
 * the latency of an addition and stay in registers. */
enum {
  RUNNING = 16,
  PARTS = RUNNING / WIDTH,
  TOGETHER =
      2 /* rows whose columns are added up at a time: sums are loaded and stored once for all */
};

typedef struct Sums {
  Doubles part[PARTS];
} Sums;

INLINE double totalOf(const Sums *sums)
{
  double running[RUNNING];
#pragma GCC unroll 8
  for (int p = 0; p < PARTS; p++)
    *(Doubles *)(running + p * WIDTH) = sums->part[p];
  return addHalves(RUNNING, running);
}

INLINE void addTerms(Doubles x, Doubles factor, Doubles *first, Doubles *second)
{
  *first += x;
  *second += x * factor;
}

static void momentsOfPlanes(int64_t count, int64_t step, int64_t n, const real *x, const real *y,
                            real center, double *sums)
{
  (void)y;
  const int64_t left = n % RUNNING, whole = n - left;
  Sums first = {{{0}}}, second = {{{0}}};
  for (int64_t plane = 0; plane < count; plane++, x += step) {
    for (int64_t i = 0; i < whole; i += RUNNING)
#pragma GCC unroll 8
      for (int p = 0; p < PARTS; p++) {
        const Doubles distance = minus(loadAll(x + i + p * WIDTH), center);
        addTerms(distance, distance, &first.part[p], &second.part[p]);
      }
#pragma GCC unroll 8
    for (int p = 0; p < PARTS; p++)
      if (left > p * WIDTH) {
        const Some lanes = firstOf(left - p * WIDTH);
        const Doubles distance =
            keepSome(lanes, minus(loadSome(x + whole + p * WIDTH, lanes), center));
        addTerms(distance, distance, &first.part[p], &second.part[p]);
      }
  }
  sums[0] += totalOf(&first);
  sums[1] += totalOf(&second);
}

static void momentsOfRow(int64_t n, const real *x, const real *y, const real *centers,
                         double *first, double *second)
{
  (void)y;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const double distance = (double)x[i] - (double)centers[i];
    first[i] += distance;
    second[i] += distance * distance;
  }
}

INLINE void addGradientsOfPlanes(int64_t count, int64_t step, int64_t n, const real *x,
                                 const real *gradOutput, real center, double *sums)
{
  const int64_t left = n % RUNNING, whole = n - left;
  Sums first = {{{0}}}, second = {{{0}}};
  for (int64_t plane = 0; plane < count; plane++, x += step, gradOutput += step) {
    for (int64_t i = 0; i < whole; i += RUNNING)
#pragma GCC unroll 8
      for (int p = 0; p < PARTS; p++)
        addTerms(loadAll(gradOutput + i + p * WIDTH), minus(loadAll(x + i + p * WIDTH), center),
                 &first.part[p], &second.part[p]);
#pragma GCC unroll 8
    for (int p = 0; p < PARTS; p++)
      if (left > p * WIDTH) {
        const int64_t at = whole + p * WIDTH;
        const Some lanes = firstOf(left - p * WIDTH);
        addTerms(loadSome(gradOutput + at, lanes), minus(loadSome(x + at, lanes), center),
                 &first.part[p], &second.part[p]);
      }
  }
  sums[0] += totalOf(&first);
  sums[1] += totalOf(&second);
}

static void gradientsOfPlanes(int64_t count, int64_t step, int64_t n, const real *x,
                              const real *gradOutput, real center, double *sums)
{
  addGradientsOfPlanes(count, step, n, x, gradOutput, center, sums);
}

static void gradientsOfEach(int64_t count, int64_t n, const real *x, const real *gradOutput,
                            real center, double *sums)
{
  for (int64_t plane = 0; plane < count; plane++, sums += 2) {
    sums[0] = sums[1] = 0;
    addGradientsOfPlanes(1, n, n, x + plane * n, gradOutput + plane * n, center, sums);
  }
}

static void gradientsOfRow(int64_t n, const real *x, const real *gradOutput, const real *centers,
                           double *first, double *second)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const double gradient = gradOutput[i];
    first[i] += gradient;
    second[i] += gradient * ((double)x[i] - (double)centers[i]);
  }
}

static inline double slopeTerm(real x, real gradOutput)
{
  const double term = (double)x * (double)gradOutput;
  return x <= 0 ? term : 0;
}

INLINE Doubles slopeTerms(Doubles x, Doubles gradOutput)
{
  typedef int64_t Comparison __attribute__((vector_size(VECTOR_BYTES)));
  const Comparison negative = x <= 0;
  return (Doubles)((Comparison)(x * gradOutput) & negative);
}

static void slopesOfPlanes(int64_t count, int64_t step, int64_t n, const real *x,
                           const real *gradOutput, real center, double *sums)
{
  (void)center;
  const int64_t left = n % RUNNING, whole = n - left;
  Sums slopes = {{{0}}};
  for (int64_t plane = 0; plane < count; plane++, x += step, gradOutput += step) {
    for (int64_t i = 0; i < whole; i += RUNNING)
#pragma GCC unroll 8
      for (int p = 0; p < PARTS; p++)
        slopes.part[p] +=
            slopeTerms(loadAll(x + i + p * WIDTH), loadAll(gradOutput + i + p * WIDTH));
#pragma GCC unroll 8
    for (int p = 0; p < PARTS; p++)
      if (left > p * WIDTH) {
        const int64_t at = whole + p * WIDTH;
        const Some lanes = firstOf(left - p * WIDTH);
        slopes.part[p] += slopeTerms(loadSome(x + at, lanes), loadSome(gradOutput + at, lanes));
      }
  }
  sums[0] += totalOf(&slopes);
}

static void slopesOfRow(int64_t n, const real *x, const real *gradOutput, const real *centers,
                        double *first, double *second)
{
  (void)centers, (void)second;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    first[i] += slopeTerm(x[i], gradOutput[i]);
}

/* Parameters: center, scale, shift. */
static void normalisePlane(int64_t n, const real *x, const real *y, const real *parameters, real *z)
{
  (void)y;
  const real center = parameters[0], scale = parameters[1], shift = parameters[2];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = (x[i] - center) * scale + shift;
}

static void normaliseRow(int64_t n, const real *x, const real *y, const real *parameters,
                         int64_t step, real *z)
{
  (void)y;
  const real *center = parameters, *scale = center + step, *shift = scale + step;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = (x[i] - center[i]) * scale[i] + shift[i];
}

/* Parameters: center, mean gradient, projection, scale. */
static void normaliseBackwardPlane(int64_t n, const real *x, const real *gradOutput,
                                   const real *parameters, real *gradInput)
{
  const real center = parameters[0], mean = parameters[1];
  const real projection = parameters[2], scale = parameters[3];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = ((gradOutput[i] - mean) - (x[i] - center) * projection) * scale;
}

static void normaliseBackwardRow(int64_t n, const real *x, const real *gradOutput,
                                 const real *parameters, int64_t step, real *gradInput)
{
  const real *center = parameters, *mean = center + step;
  const real *projection = mean + step, *scale = projection + step;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = ((gradOutput[i] - mean[i]) - (x[i] - center[i]) * projection[i]) * scale[i];
}

/* Parameter: the factor. */
static void scalePlane(int64_t n, const real *x, const real *y, const real *parameters, real *z)
{
  (void)x;
  const real factor = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = y[i] * factor;
}

static void scaleRow(int64_t n, const real *x, const real *y, const real *parameters, int64_t step,
                     real *z)
{
  (void)x, (void)step;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = y[i] * parameters[i];
}

/* Parameters: center, mean gradient, projection, scale. */
static void differentiateEach(int64_t count, int64_t n, const real *x, const real *gradOutput,
                              const real *parameters, const real *weight, real *gradInput)
{
  const real center = parameters[0], mean = parameters[1];
  const real projection = parameters[2], scale = parameters[3];
  for (int64_t plane = 0; plane < count; plane++, x += n, gradOutput += n, gradInput += n) {
    const real factor = weight ? scale * weight[plane] : scale;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
      gradInput[i] = (gradOutput[i] * factor - mean) - (x[i] - center) * projection;
  }
}

/* Adds an element of a row to the sums of its column. */
INLINE void addToColumn(double gradient, double distance, double scale, double *first,
                        double *second)
{
  *first += gradient;
  *second += gradient * distance * scale;
}

/* `count` is a constant where this is called. */
INLINE void addRows(const int count, int64_t n, const RowGradients *rows, int64_t at, double *first,
                    double *second)
{
  const real *x = rows->x + at * rows->step, *gradOutput = rows->gradOutput + at * rows->step;
  double center[TOGETHER], scale[TOGETHER];
#pragma GCC unroll 8
  for (int r = 0; r < count; r++) {
    center[r] = rows->centers[(at + r) * rows->apart];
    scale[r] = rows->scales[(at + r) * rows->apart];
  }
  int64_t i = 0;
  for (; i + WIDTH <= n; i += WIDTH) {
    Doubles sum = *(Doubles *)(first + i), product = *(Doubles *)(second + i);
#pragma GCC unroll 8
    for (int r = 0; r < count; r++) {
      const Doubles gradient = loadAll(gradOutput + r * rows->step + i);
      sum += gradient;
      product += gradient * minus(loadAll(x + r * rows->step + i), center[r]) * scale[r];
    }
    *(Doubles *)(first + i) = sum;
    *(Doubles *)(second + i) = product;
  }
  for (; i < n; i++)
    for (int r = 0; r < count; r++)
      addToColumn(gradOutput[r * rows->step + i], (double)x[r * rows->step + i] - center[r],
                  scale[r], first + i, second + i);
}

static void addGradients(int64_t n, const RowGradients *rows, double *first, double *second)
{
  int64_t at = 0;
  for (; at + TOGETHER <= rows->count; at += TOGETHER)
    addRows(TOGETHER, n, rows, at, first, second);
  for (; at < rows->count; at++)
    addRows(1, n, rows, at, first, second);
}

static void normaliseWeighted(int64_t n, const real *x, real center, real scale, const real *weight,
                              const real *bias, real *z)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = (x[i] - center) * scale * weight[i] + bias[i];
}

/* Sums of rows that are worked on together: sums of them and of their columns take less than half
 * the time that they take apart, since every element is converted once. */
enum {
  /* running sums of a row: more would not all stay in registers */
  ROW_RUNNING = WIDTH > 4 ? WIDTH : 4,
  ROW_PARTS = ROW_RUNNING / WIDTH,
  MOST_ROWS = 16,   /* whose sums are kept before their gradients are written */
  FETCH_PIECE = 256 /* elements whose successors are prefetched at a time */
};

typedef struct RowSums {
  Doubles gradient[ROW_PARTS], product[ROW_PARTS];
} RowSums;

INLINE double totalOfRow(const Doubles *part)
{
  double running[ROW_RUNNING];
#pragma GCC unroll 4
  for (int p = 0; p < ROW_PARTS; p++)
    *(Doubles *)(running + p * WIDTH) = part[p];
  return addHalves(ROW_RUNNING, running);
}

/* Computes the sums of gradOutput weight and gradOutput weight (x - center) of each of `count` rows
 * from `at` on, and adds to the columns' sums. `adds` and `count` are constants where this is
 * called. */
INLINE void sumRows(const bool adds, const int count, int64_t n, const RowGradients *rows,
                    int64_t at, const real *weight, double (*sums)[2], double *first,
                    double *second)
{
  const int64_t left = n % ROW_RUNNING, whole = n - left, step = rows->step;
  const real *x = rows->x + at * step, *gradOutput = rows->gradOutput + at * step;
  double center[TOGETHER], scale[TOGETHER];
  RowSums of[TOGETHER] = {{{{0}}, {{0}}}};
#pragma GCC unroll 2
  for (int r = 0; r < count; r++) {
    center[r] = rows->centers[(at + r) * rows->apart];
    scale[r] = rows->scales[(at + r) * rows->apart];
  }
  for (int64_t i = 0; i < whole; i += ROW_RUNNING)
#pragma GCC unroll 4
    for (int p = 0; p < ROW_PARTS; p++) {
      const int64_t begin = i + p * WIDTH;
      const Doubles factor = loadAll(weight + begin);
      Doubles sum = {0}, product = {0};
      if (adds) {
        sum = *(Doubles *)(first + begin);
        product = *(Doubles *)(second + begin);
      }
#pragma GCC unroll 2
      for (int r = 0; r < count; r++) {
        const Doubles gradient = loadAll(gradOutput + r * step + begin);
        const Doubles term = gradient * minus(loadAll(x + r * step + begin), center[r]);
        of[r].gradient[p] += gradient * factor;
        of[r].product[p] += term * factor;
        sum += gradient;
        product += term * scale[r];
      }
      if (adds) {
        *(Doubles *)(first + begin) = sum;
        *(Doubles *)(second + begin) = product;
      }
    }
#pragma GCC unroll 4
  for (int p = 0; p < ROW_PARTS; p++)
    if (left > p * WIDTH) {
      const int64_t begin = whole + p * WIDTH;
      const Some lanes = firstOf(left - p * WIDTH);
      const Doubles factor = loadSome(weight + begin, lanes);
#pragma GCC unroll 2
      for (int r = 0; r < count; r++) {
        const Doubles gradient = loadSome(gradOutput + r * step + begin, lanes);
        const Doubles distance =
            keepSome(lanes, minus(loadSome(x + r * step + begin, lanes), center[r]));
        of[r].gradient[p] += gradient * factor;
        of[r].product[p] += gradient * distance * factor;
      }
    }
  for (int64_t i = whole; adds && i < n; i++)
    for (int r = 0; r < count; r++)
      addToColumn(gradOutput[r * step + i], (double)x[r * step + i] - center[r], scale[r],
                  first + i, second + i);
#pragma GCC unroll 2
  for (int r = 0; r < count; r++) {
    sums[r][0] = totalOfRow(of[r].gradient);
    sums[r][1] = totalOfRow(of[r].product);
  }
}

/* `adds` is a constant where this is called. */
INLINE void sumAllRows(const bool adds, int64_t n, const RowGradients *rows, int64_t at,
                       int64_t count, const real *weight, double (*sums)[2], double *first,
                       double *second)
{
  int64_t r = 0;
  for (; r + TOGETHER <= count; r += TOGETHER)
    sumRows(adds, TOGETHER, n, rows, at + r, weight, sums + r, first, second);
  for (; r < count; r++)
    sumRows(adds, 1, n, rows, at + r, weight, sums + r, first, second);
}

/* Parameters: center, mean gradient, projection, scale. */
INLINE void differentiateRow(int64_t n, const real *x, const real *gradOutput, const real *weight,
                             const real *parameters, real *gradInput)
{
  const real center = parameters[0], mean = parameters[1];
  const real projection = parameters[2], scale = parameters[3];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = ((gradOutput[i] * weight[i] - mean) - (x[i] - center) * projection) * scale;
}

static void differentiateRows(int64_t n, const RowGradients *rows, const real *weight,
                              int64_t ahead, real *gradInput, double *first, double *second)
{
  const int64_t piece = ahead > 0 ? FETCH_PIECE : n;
  double sums[MOST_ROWS][2];
  real parameters[MOST_ROWS][4];
  for (int64_t begin = 0; begin < rows->count; begin += MOST_ROWS) {
    const int64_t left = rows->count - begin, count = left < MOST_ROWS ? left : MOST_ROWS;
    if (first)
      sumAllRows(true, n, rows, begin, count, weight, sums, first, second);
    else
      sumAllRows(false, n, rows, begin, count, weight, sums, NULL, NULL);
    for (int64_t r = 0; r < count; r++) {
      const real scale = rows->scales[(begin + r) * rows->apart];
      parameters[r][0] = rows->centers[(begin + r) * rows->apart];
      parameters[r][1] = (real)(sums[r][0] / (double)n);
      parameters[r][2] = (real)(sums[r][1] / (double)n * (double)scale * (double)scale);
      parameters[r][3] = scale;
    }
    for (int64_t r = 0; r < count; r++) {
      const real *x = rows->x + (begin + r) * rows->step;
      const real *g = rows->gradOutput + (begin + r) * rows->step;
      real *y = gradInput + (begin + r) * rows->step;
      for (int64_t i = 0; i < n; i += piece) {
        const int64_t length = n - i < piece ? n - i : piece;
        if (ahead > 0) {
          const int64_t bytes = length * (int64_t)sizeof(real);
          THNN_fetchToSecondLevel(x + i, bytes, ahead * (int64_t)sizeof(real));
          THNN_fetchToSecondLevel(g + i, bytes, ahead * (int64_t)sizeof(real));
        }
        differentiateRow(length, x + i, g + i, weight + i, parameters[r], y + i);
      }
    }
  }
}

const SimdChannels SIMD_TABLE(Channels, THNN_SIMD_LEVEL) = {
    .moments = {momentsOfPlanes, momentsOfRow},
    .gradients = {gradientsOfPlanes, gradientsOfRow},
    .slopes = {slopesOfPlanes, slopesOfRow},
    .normalise = {normalisePlane, normaliseRow, 3},
    .normaliseBackward = {normaliseBackwardPlane, normaliseBackwardRow, 4},
    .scale = {scalePlane, scaleRow, 1},
    .gradientsOfEach = gradientsOfEach,
    .differentiateEach = differentiateEach,
    .normaliseWeighted = normaliseWeighted,
    .differentiateRows = differentiateRows,
    .addGradients = addGradients,
};
