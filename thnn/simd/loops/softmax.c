/* Softmax and its logarithm. Running sums are double. */
#include <string.h>

#include "simd/vector/template.h"

#include "simd/vector/elementary.h"
#include "simd/tuning.h"
#include "simd/vector/doubles.h"
#include "simd/vector/prefetch.h"

enum {
  TILE = 512, /* the most positions of a tile */
  VECTORS = RUNNING_SUMS / WIDTH,
  HALF = RUNNING_SUMS / 2, /* rows of HALF to RUNNING_SUMS elements are two halves that overlap */
  NARROW = HALF,           /* shorter rows are transposed into a tile first, … */
  /* … NARROW_ROWS at a time, in less than 16 kB of the stack */
  NARROW_ROWS = sizeof(real) == sizeof(float) ? 64 : 56,
  TOGETHER = 16,  /* the most rows that are worked on together, … */
  SHARE = 4 << 10 /* … if those of a tensor take at most this many bytes of the first-level cache */
};

_Static_assert((int)STAGED % (int)RUNNING_SUMS == 0,
               "element i goes to running sum i % RUNNING_SUMS");

/* How many of `rows` rows are worked on together, so that all such groups have about the same
 * size. */
static int64_t together(int64_t rows, int64_t channels)
{
  const int64_t fitting = SHARE / (channels * (int64_t)sizeof(real));
  const int64_t most = fitting < 1 ? 1 : fitting < TOGETHER ? fitting : TOGETHER;
  const int64_t parts = (rows + most - 1) / most;
  return (rows + parts - 1) / parts;
}

static real greatest(int64_t n, const real *x)
{
  real best[RUNNING_SUMS];
  for (int l = 0; l < RUNNING_SUMS; l++)
    best[l] = -(real)INFINITY;
  int64_t i = 0;
  for (; i + RUNNING_SUMS <= n; i += RUNNING_SUMS)
#pragma omp simd
    for (int l = 0; l < RUNNING_SUMS; l++)
      best[l] = x[i + l] > best[l] ? x[i + l] : best[l];
  if (n < RUNNING_SUMS)
#pragma omp simd
    for (int l = 0; l < n; l++)
      best[l] = x[l];
  else if (i < n)
#pragma omp simd
    for (int l = 0; l < RUNNING_SUMS; l++)
      best[l] = x[n - RUNNING_SUMS + l] > best[l] ? x[n - RUNNING_SUMS + l] : best[l];
#pragma GCC unroll 5
  for (int half = RUNNING_SUMS / 2; half > 0; half /= 2)
#pragma omp simd
    for (int l = 0; l < half; l++)
      best[l] = best[l + half] > best[l] ? best[l + half] : best[l];
  return best[0];
}

/* Adds the elements of a vector that are not among the first `summed` ones of its block; the vector
 * is number v there. */
INLINE Doubles addOthers(Doubles sum, int summed, int v, Doubles values)
{
  if (summed >= (v + 1) * WIDTH)
    return sum;
  return sum + keepSome(~firstOf(summed > v * WIDTH ? summed - v * WIDTH : 0), values);
}

/* power = e^(x - most) */
INLINE void powersOf(int64_t n, const real *x, real most, real *power)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    power[i] = realExpNegative(x[i] - most);
}

/* The sum of e^(x - most); these powers are stored in y unless it is NULL. A row whose length n is no
 * multiple of RUNNING_SUMS ends in a block of RUNNING_SUMS elements that overlaps the one before. */
static double exponentials(int64_t n, const real *x, real most, real *y)
{
  real staged[STAGED];
  if (n < RUNNING_SUMS) {
    double running[RUNNING_SUMS];
    clearSums(running);
    powersOf(n, x, most, staged);
    for (int l = 0; l < n; l++)
      running[l] = staged[l];
    if (y)
      memcpy(y, staged, (size_t)n * sizeof(real));
    return addHalves(RUNNING_SUMS, running);
  }
  real last[RUNNING_SUMS]; /* computed before y, which may be x, is written */
  const int summed = RUNNING_SUMS - (int)(n % RUNNING_SUMS); /* elements of the last block */
  if (summed < RUNNING_SUMS)
    powersOf(RUNNING_SUMS, x + n - RUNNING_SUMS, most, last);
  Doubles sums[VECTORS];
#pragma GCC unroll 16
  for (int v = 0; v < VECTORS; v++)
    sums[v] = (Doubles){0};
  for (int64_t i = 0; i + RUNNING_SUMS <= n; i += STAGED) {
    const int64_t rest = (n - i) / RUNNING_SUMS * RUNNING_SUMS;
    const int64_t count = rest < STAGED ? rest : STAGED;
    real *power = y ? y + i : staged;
    powersOf(count, x + i, most, power);
    for (int64_t at = 0; at < count; at += RUNNING_SUMS)
#pragma GCC unroll 16
      for (int v = 0; v < VECTORS; v++)
        sums[v] = plus(sums[v], loadAll(power + at + v * WIDTH));
  }
  if (summed < RUNNING_SUMS) {
#pragma GCC unroll 16
    for (int v = 0; v < VECTORS; v++)
      sums[v] = addOthers(sums[v], summed, v, loadAll(last + v * WIDTH));
    if (y)
      memcpy(y + n - RUNNING_SUMS, last, sizeof last);
  }
  return sumOfVectors(sums);
}

/* Computes at most TOGETHER rows, one step for all of them at a time: within a row each step waits
 * for the one before, but rows do not wait for each other. */
static void forwardFewRows(bool logarithm, int64_t rows, int64_t n, const real *x, real *y)
{
  real most[TOGETHER], term[TOGETHER];
  for (int64_t r = 0; r < rows; r++)
    most[r] = greatest(n, x + r * n);
  if (logarithm) {
    for (int64_t r = 0; r < rows; r++)
      term[r] = (real)exponentials(n, x + r * n, most[r], NULL);
#pragma omp simd
    for (int64_t r = 0; r < rows; r++)
      term[r] = realLog(term[r]);
    for (int64_t r = 0; r < rows; r++)
#pragma omp simd
      for (int64_t i = r * n; i < (r + 1) * n; i++)
        y[i] = (x[i] - most[r]) - term[r];
  } else {
    for (int64_t r = 0; r < rows; r++)
      term[r] = (real)(1 / exponentials(n, x + r * n, most[r], y + r * n));
    for (int64_t r = 0; r < rows; r++)
#pragma omp simd
      for (int64_t i = r * n; i < (r + 1) * n; i++)
        y[i] *= term[r];
  }
}

/* A vector of the gradients of a row, weighted by y unless `logarithm`. */
INLINE Reals gradientsAt(const bool logarithm, const real *y, const real *gradOutput)
{
  Reals gradients = *(const Reals *)gradOutput;
  if (!logarithm)
    gradients *= *(const Reals *)y;
  return gradients;
}

INLINE Doubles addGradients(const bool logarithm, Doubles sum, const real *y,
                            const real *gradOutput)
{
  const Reals terms = gradientsAt(logarithm, y, gradOutput);
#if defined(THNN_REAL_DOUBLE)
  return sum + terms;
#else
  return plus(sum, widen(terms));
#endif
}

/* The sum of a row's gradients, weighted by y unless `logarithm`; if `fetched`, the next page is
 * prefetched. Both are constants where this is called. */
INLINE double sumOfGradients(const bool logarithm, const bool fetched, int64_t n, const real *y,
                             const real *gradOutput)
{
  if (n < RUNNING_SUMS) {
    double running[RUNNING_SUMS];
    clearSums(running);
#pragma omp simd
    for (int l = 0; l < n; l++)
      running[l] = logarithm ? gradOutput[l] : gradOutput[l] * y[l];
    return addHalves(RUNNING_SUMS, running);
  }
  Doubles sums[VECTORS];
#pragma GCC unroll 16
  for (int v = 0; v < VECTORS; v++)
    sums[v] = widen(gradientsAt(logarithm, y + v * WIDTH, gradOutput + v * WIDTH));
  for (int64_t i = RUNNING_SUMS; i + RUNNING_SUMS <= n; i += RUNNING_SUMS) {
    if (fetched) {
      THNN_fetchNextPage(y + i, RUNNING_SUMS * sizeof(real));
      THNN_fetchNextPage(gradOutput + i, RUNNING_SUMS * sizeof(real));
    }
#pragma GCC unroll 16
    for (int v = 0; v < VECTORS; v++)
      sums[v] = addGradients(logarithm, sums[v], y + i + v * WIDTH, gradOutput + i + v * WIDTH);
  }
  const int summed = RUNNING_SUMS - (int)(n % RUNNING_SUMS); /* elements of the last block */
  if (summed == RUNNING_SUMS)
    return sumOfVectors(sums);
  gradOutput += n - RUNNING_SUMS, y += n - RUNNING_SUMS;
#pragma GCC unroll 16
  for (int v = 0; v < VECTORS; v++)
    sums[v] = addOthers(sums[v], summed, v,
                        widen(gradientsAt(logarithm, y + v * WIDTH, gradOutput + v * WIDTH)));
  return sumOfVectors(sums);
}

/* Parameter: the row's sumOfGradients(). */
static void softmaxGradient(int64_t n, const real *y, const real *gradOutput,
                            const real *parameters, real *gradInput)
{
  const real sum = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = y[i] * (gradOutput[i] - sum);
}

/* A row that is longer than STEP, but no multiple of it, ends in a block of STEP elements that
 * overlaps the one before. */
enum { STEP = 64 / sizeof(real) };

static __attribute__((noinline)) void logSoftmaxGradientOverlapped(int64_t n, const real *y,
                                                                   const real *gradOutput, real sum,
                                                                   real *gradInput)
{
  real last[STEP]; /* computed before gradInput, which may be gradOutput, is written */
  const int64_t before = n - STEP;
#pragma omp simd
  for (int l = 0; l < STEP; l++)
    last[l] = gradOutput[before + l] - realExp(y[before + l]) * sum;
#pragma omp simd
  for (int64_t i = 0; i < n / STEP * STEP; i++)
    gradInput[i] = gradOutput[i] - realExp(y[i]) * sum;
  memcpy(gradInput + before, last, sizeof last);
}

static void logSoftmaxGradient(int64_t n, const real *y, const real *gradOutput,
                               const real *parameters, real *gradInput)
{
  const real sum = parameters[0];
  if (n > STEP && n % STEP > 0) {
    logSoftmaxGradientOverlapped(n, y, gradOutput, sum, gradInput);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = gradOutput[i] - realExp(y[i]) * sum;
}

/* Computes at most TOGETHER rows: first the sums of all, then the map of all. That pays because the
 * map is cheap. */
static void softmaxBackwardFewRows(int64_t rows, int64_t n, const real *y, const real *gradOutput,
                                   RunMap2 run, real *gradInput)
{
  const bool fetched = THNN_tuning.rowSumsPrefetch;
  real sum[TOGETHER];
  for (int64_t r = 0; r < rows; r++)
    sum[r] = (real)(fetched ? sumOfGradients(false, true, n, y + r * n, gradOutput + r * n)
                            : sumOfGradients(false, false, n, y + r * n, gradOutput + r * n));
  for (int64_t r = 0; r < rows; r++)
    run(softmaxGradient, n, y + r * n, gradOutput + r * n, sum + r, THNN_tuning.prefetchBytes,
        gradInput + r * n);
}

/* Where sums do not prefetch, the map prefetches the next row while it computes this one's
 * exponentials. */
static void logSoftmaxBackwardRows(int64_t rows, int64_t n, const real *y, const real *gradOutput,
                                   RunMap2 run, real *gradInput)
{
  const bool fetched = THNN_tuning.rowSumsPrefetch;
  const int64_t ahead = fetched ? THNN_tuning.prefetchBytes : n * (int64_t)sizeof(real);
  for (int64_t r = 0; r < rows; r++, y += n, gradOutput += n, gradInput += n) {
    const real sum = (real)(fetched ? sumOfGradients(true, true, n, y, gradOutput)
                                    : sumOfGradients(true, false, n, y, gradOutput));
    run(logSoftmaxGradient, n, y, gradOutput, &sum, ahead, gradInput);
  }
}

/* Loads the first and the last HALF elements of a row of HALF to RUNNING_SUMS elements. Compilers
 * may make smaller moves of memcpy, for whose stores the loads of whole vectors would wait. */
INLINE void loadHalves(int64_t n, const real *x, real *halves)
{
#pragma GCC unroll 8
  for (int l = 0; l < HALF; l += LANES) {
    store(halves + l, load(x + l));
    store(halves + HALF + l, load(x + n - HALF + l));
  }
}

INLINE void storeHalves(int64_t n, const real *halves, real *y)
{
#pragma GCC unroll 8
  for (int l = 0; l < HALF; l += LANES)
    store(y + l, load(halves + l));
#pragma GCC unroll 8
  for (int l = 0; l < HALF; l += LANES)
    store(y + n - HALF + l, load(halves + HALF + l));
}

/* The sum of a row's halves; elements that are in both count once. */
INLINE double sumOfHalves(int64_t n, const real *halves)
{
  Doubles sums[VECTORS];
#pragma GCC unroll 16
  for (int v = 0; v < VECTORS; v++) {
    const int64_t twice = RUNNING_SUMS - n + HALF - v * WIDTH;
    sums[v] = loadAll(halves + v * WIDTH);
    if (v >= VECTORS / 2)
      sums[v] = keepSome(~firstOf(twice > 0 ? twice : 0), sums[v]);
  }
  return sumOfVectors(sums);
}

/* Computes at most TOGETHER rows; `logarithm` is a constant where this and backwardHalves() are
 * called. */
INLINE void forwardHalves(const bool logarithm, int64_t rows, int64_t n, const real *x, real *y)
{
  real kept[TOGETHER][RUNNING_SUMS], term[TOGETHER];
  for (int64_t r = 0; r < rows; r++) {
    real value[RUNNING_SUMS], power[RUNNING_SUMS];
    loadHalves(n, x + r * n, value);
    const real most = greatest(RUNNING_SUMS, value);
#pragma omp simd
    for (int l = 0; l < RUNNING_SUMS; l++) {
      value[l] -= most;
      power[l] = realExpNegative(value[l]);
      kept[r][l] = logarithm ? value[l] : power[l];
    }
    term[r] = (real)sumOfHalves(n, power);
  }
#pragma omp simd
  for (int64_t r = 0; r < rows; r++)
    term[r] = logarithm ? realLog(term[r]) : 1 / term[r];
  for (int64_t r = 0; r < rows; r++) {
#pragma omp simd
    for (int l = 0; l < RUNNING_SUMS; l++)
      kept[r][l] = logarithm ? kept[r][l] - term[r] : kept[r][l] * term[r];
    storeHalves(n, kept[r], y + r * n);
  }
}

INLINE void backwardHalves(const bool logarithm, int64_t rows, int64_t n, const real *y,
                           const real *gradOutput, real *gradInput)
{
  for (int64_t r = 0; r < rows; r++) {
    real value[RUNNING_SUMS], gradient[RUNNING_SUMS], product[RUNNING_SUMS];
    loadHalves(n, y + r * n, value);
    loadHalves(n, gradOutput + r * n, gradient);
#pragma omp simd
    for (int l = 0; l < RUNNING_SUMS; l++)
      product[l] = gradient[l] * value[l];
    const real sum = (real)sumOfHalves(n, logarithm ? gradient : product);
#pragma omp simd
    for (int l = 0; l < RUNNING_SUMS; l++)
      gradient[l] =
          logarithm ? gradient[l] - realExp(value[l]) * sum : value[l] * (gradient[l] - sum);
    storeHalves(n, gradient, gradInput + r * n);
  }
}

/* sum += e^(x - most), element by element, for at most STAGED of them; these powers are stored in y
 * unless it is NULL. */
static void addPowers(int64_t n, const real *x, const real *most, real *y, double *sum)
{
  real staged[STAGED], *power = y ? y : staged;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    power[i] = realExpNegative(x[i] - most[i]);
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    sum[i] += power[i];
}

/* At most TILE positions; channel c of position i is element c*step + i. */
static __attribute__((noinline)) void forwardTile(bool logarithm, int64_t channels, int64_t step,
                                                  int64_t positions, const real *x, real *y)
{
  real most[TILE];
  double sum[TILE];
#pragma omp simd
  for (int64_t i = 0; i < positions; i++) {
    most[i] = -(real)INFINITY;
    sum[i] = 0;
  }
  for (int64_t c = 0; c < channels; c++)
#pragma omp simd
    for (int64_t i = 0; i < positions; i++)
      most[i] = x[c * step + i] > most[i] ? x[c * step + i] : most[i];
  for (int64_t c = 0; c < channels; c++)
    for (int64_t first = 0; first < positions; first += STAGED) {
      const int64_t end = positions - first < STAGED ? positions : first + STAGED;
      addPowers(end - first, x + c * step + first, most + first,
                logarithm ? NULL : y + c * step + first, sum + first);
    }
  real term[TILE];
#pragma omp simd
  for (int64_t i = 0; i < positions; i++)
    term[i] = logarithm ? realLog((real)sum[i]) : (real)(1 / sum[i]);
  for (int64_t c = 0; c < channels; c++) {
    const real *from = (logarithm ? x : y) + c * step;
#pragma omp simd
    for (int64_t i = 0; i < positions; i++)
      y[c * step + i] = logarithm ? (from[i] - most[i]) - term[i] : from[i] * term[i];
  }
}

enum { CHANNELS = 4 }; /* are added up in registers between a load and a store of their sums */

/* What a channel adds to the sum at a position. */
INLINE real gradientTerm(const bool logarithm, const real *y, const real *gradOutput, int64_t i)
{
  return logarithm ? gradOutput[i] : gradOutput[i] * y[i];
}

/* Adds CHANNELS channels to the sums; `logarithm` is a constant where this is called. */
INLINE void addChannels(const bool logarithm, int64_t step, int64_t positions, const real *y,
                        const real *gradOutput, double *sum)
{
#pragma omp simd
  for (int64_t i = 0; i < positions; i++) {
    double at = sum[i];
    at += gradientTerm(logarithm, y, gradOutput, i);
    at += gradientTerm(logarithm, y + step, gradOutput + step, i);
    at += gradientTerm(logarithm, y + 2 * step, gradOutput + 2 * step, i);
    at += gradientTerm(logarithm, y + 3 * step, gradOutput + 3 * step, i);
    sum[i] = at;
  }
}

INLINE void addChannel(const bool logarithm, int64_t positions, const real *y,
                       const real *gradOutput, double *sum)
{
#pragma omp simd
  for (int64_t i = 0; i < positions; i++)
    sum[i] += gradientTerm(logarithm, y, gradOutput, i);
}

/* Prefetches channels after some that are read, which are short runs that are far apart: the
 * hardware does not. */
INLINE void fetchChannels(int64_t channels, int64_t step, int64_t positions, const real *x)
{
  for (int64_t c = 0; c < channels; c++)
    THNN_fetchToSecondLevel(x + c * step, positions * (int64_t)sizeof(real),
                            channels * step * (int64_t)sizeof(real));
}

INLINE void sumOfChannels(const bool logarithm, int64_t channels, int64_t step, int64_t positions,
                          const real *y, const real *gradOutput, bool fetched, double *sum)
{
  int64_t c = 0;
  for (; c + CHANNELS <= channels;
       c += CHANNELS, y += CHANNELS * step, gradOutput += CHANNELS * step) {
    if (fetched) {
      fetchChannels(CHANNELS, step, positions, y);
      fetchChannels(CHANNELS, step, positions, gradOutput);
    }
    addChannels(logarithm, step, positions, y, gradOutput, sum);
  }
  for (; c < channels; c++, y += step, gradOutput += step)
    addChannel(logarithm, positions, y, gradOutput, sum);
}

/* Arrays with an element for each position of a tile; `row` is used only with a `put`. */
typedef struct TileRoom {
  double *sum;
  real *rounded, *row;
} TileRoom;

/* Computes a tile. A `put` is given if the tensors are so large that they are read from memory. */
INLINE void backwardTileIn(TileRoom room, bool logarithm, int64_t channels, int64_t step,
                           int64_t positions, const real *y, const real *gradOutput, Put put,
                           real *gradInput)
{
  double *sum = room.sum;
  real *rounded = room.rounded, *row = room.row;
#pragma omp simd
  for (int64_t i = 0; i < positions; i++)
    sum[i] = 0;
  if (logarithm)
    sumOfChannels(true, channels, step, positions, y, gradOutput, put != NULL, sum);
  else
    sumOfChannels(false, channels, step, positions, y, gradOutput, put != NULL, sum);
#pragma omp simd
  for (int64_t i = 0; i < positions; i++)
    rounded[i] = (real)sum[i];
  for (int64_t c = 0; c < channels; c++) {
    const real *g = gradOutput + c * step, *value = y + c * step;
    real *to = put ? row : gradInput + c * step;
    if (logarithm)
#pragma omp simd
      for (int64_t i = 0; i < positions; i++)
        to[i] = g[i] - realExp(value[i]) * rounded[i];
    else
#pragma omp simd
      for (int64_t i = 0; i < positions; i++)
        to[i] = value[i] * (g[i] - rounded[i]);
    if (put)
      put(positions, row, gradInput + c * step);
  }
}

static void backwardTile(bool logarithm, int64_t channels, int64_t step, int64_t positions,
                         const real *y, const real *gradOutput, Put put, real *gradInput)
{
  double sum[TILE];
  real rounded[TILE], row[TILE];
  backwardTileIn((TileRoom){sum, rounded, row}, logarithm, channels, step, positions, y, gradOutput,
                 put, gradInput);
}

/* y[column*NARROW_ROWS + row] = x[row*columns + column] */
static void turn(int64_t rows, int64_t columns, const real *x, real *y)
{
  for (int64_t c = 0; c < columns; c++)
    for (int64_t r = 0; r < rows; r++)
      y[c * NARROW_ROWS + r] = x[r * columns + c];
}

static void turnBack(int64_t rows, int64_t columns, const real *x, real *y)
{
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++)
      y[r * columns + c] = x[c * NARROW_ROWS + r];
}

static void forwardRows(bool logarithm, int64_t rows, int64_t channels, const real *x, real *y)
{
  if (channels > HALF && channels < RUNNING_SUMS) {
    for (int64_t r = 0; r < rows; r += TOGETHER) {
      const int64_t some = rows - r < TOGETHER ? rows - r : TOGETHER;
      if (logarithm)
        forwardHalves(true, some, channels, x + r * channels, y + r * channels);
      else
        forwardHalves(false, some, channels, x + r * channels, y + r * channels);
    }
    return;
  }
  if (channels >= HALF || rows < 4) {
    for (int64_t r = 0, some; r < rows; r += some) {
      some = together(rows - r, channels);
      forwardFewRows(logarithm, some, channels, x + r * channels, y + r * channels);
    }
    return;
  }
  real tile[NARROW * NARROW_ROWS];
  for (int64_t r = 0; r < rows; r += NARROW_ROWS) {
    const int64_t some = rows - r < NARROW_ROWS ? rows - r : NARROW_ROWS;
    turn(some, channels, x + r * channels, tile);
    forwardTile(logarithm, channels, NARROW_ROWS, some, tile, tile);
    turnBack(some, channels, tile, y + r * channels);
  }
}

static void backwardRows(bool logarithm, int64_t rows, int64_t channels, const real *y,
                         const real *gradOutput, RunMap2 run, real *gradInput)
{
  if (channels >= HALF && channels < RUNNING_SUMS) {
    if (logarithm)
      backwardHalves(true, rows, channels, y, gradOutput, gradInput);
    else
      backwardHalves(false, rows, channels, y, gradOutput, gradInput);
    return;
  }
  if (channels >= RUNNING_SUMS || rows < 4) {
    if (logarithm)
      logSoftmaxBackwardRows(rows, channels, y, gradOutput, run, gradInput);
    else
      for (int64_t r = 0, some; r < rows; r += some) {
        some = together(rows - r, channels);
        softmaxBackwardFewRows(some, channels, y + r * channels, gradOutput + r * channels, run,
                               gradInput + r * channels);
      }
    return;
  }
  real values[NARROW * NARROW_ROWS], gradients[NARROW * NARROW_ROWS], rounded[NARROW_ROWS];
  double sum[NARROW_ROWS];
  for (int64_t r = 0; r < rows; r += NARROW_ROWS) {
    const int64_t some = rows - r < NARROW_ROWS ? rows - r : NARROW_ROWS;
    turn(some, channels, y + r * channels, values);
    turn(some, channels, gradOutput + r * channels, gradients);
    backwardTileIn((TileRoom){sum, rounded, NULL}, logarithm, channels, NARROW_ROWS, some, values,
                   gradients, NULL, gradients);
    turnBack(some, channels, gradients, gradInput + r * channels);
  }
}

const SimdSoftmax SIMD_TABLE(Softmax, THNN_SIMD_LEVEL) = {
    .tile = TILE,
    .forwardRows = forwardRows,
    .backwardRows = backwardRows,
    .forwardTile = forwardTile,
    .backwardTile = backwardTile,
};
