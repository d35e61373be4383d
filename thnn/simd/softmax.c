/* Softmax and its logarithm. Running sums are double. */
#include <string.h>

#include "template.h"

#include "elementary.h"
#include "lanes.h"

enum {
  TILE = 512,      /* positions that are worked on together, where each has a row of its own */
  NARROW = 32,     /* rows shorter than this are turned into columns first, … */
  NARROW_ROWS = 64 /* … this many at a time */
};

/* Rows that are no multiple of LANES end in a block of LANES elements that overlaps the one before:
 * of its lanes, those that have been summed up already count as 0. */
ALWAYS_INLINE double unlessSummed(int64_t n, int lane, real value)
{
  return lane >= LANES - (int)(n % LANES) ? value : 0;
}

static real greatest(int64_t n, const real *x)
{
  real lane[LANES];
  for (int l = 0; l < LANES; l++)
    lane[l] = -(real)INFINITY;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      lane[l] = x[i + l] > lane[l] ? x[i + l] : lane[l];
  if (n < LANES)
#pragma omp simd
    for (int l = 0; l < n; l++)
      lane[l] = x[l];
  else if (i < n)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      lane[l] = x[n - LANES + l] > lane[l] ? x[n - LANES + l] : lane[l];
#pragma GCC unroll 5
  for (int half = LANES / 2; half > 0; half /= 2)
#pragma omp simd
    for (int l = 0; l < half; l++)
      lane[l] = lane[l + half] > lane[l] ? lane[l + half] : lane[l];
  return lane[0];
}

/* The sum of e^(x - most), which y becomes unless it is NULL; whether it is, is a constant where this
 * is called. */
ALWAYS_INLINE double exponentials(int64_t n, const real *x, real most, real *y)
{
  double lane[LANES] = {0};
  if (n < LANES) {
#pragma omp simd
    for (int l = 0; l < n; l++) {
      const real e = realExpNegative(x[l] - most);
      if (y)
        y[l] = e;
      lane[l] = e;
    }
    return addLanes(lane);
  }
  real last[LANES]; /* before y, which may be x, is written */
  if (n % LANES > 0)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      last[l] = realExpNegative(x[n - LANES + l] - most);
  for (int64_t i = 0; i + LANES <= n; i += LANES)
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
      const real e = realExpNegative(x[i + l] - most);
      if (y)
        y[i + l] = e;
      lane[l] += e;
    }
  if (n % LANES > 0) {
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      lane[l] += unlessSummed(n, l, last[l]);
    if (y)
      memcpy(y + n - LANES, last, sizeof last);
  }
  return addLanes(lane);
}

static void forwardRow(bool logarithm, int64_t n, const real *x, real *y)
{
  const real most = greatest(n, x);
  if (logarithm) {
    const real logSum = realLog((real)exponentials(n, x, most, NULL));
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
      y[i] = (x[i] - most) - logSum;
  } else {
    const real factor = (real)(1 / exponentials(n, x, most, y));
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
      y[i] *= factor;
  }
}

/* `logarithm` is a constant where this is called. */
ALWAYS_INLINE double sumOfGradients(const bool logarithm, int64_t n, const real *y,
                                    const real *gradOutput)
{
  double lane[LANES] = {0};
  if (n < LANES) {
#pragma omp simd
    for (int l = 0; l < n; l++)
      lane[l] = logarithm ? gradOutput[l] : gradOutput[l] * y[l];
    return addLanes(lane);
  }
  for (int64_t i = 0; i + LANES <= n; i += LANES)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      lane[l] += logarithm ? gradOutput[i + l] : gradOutput[i + l] * y[i + l];
  if (n % LANES > 0) {
    gradOutput += n - LANES, y += n - LANES;
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      lane[l] += unlessSummed(n, l, logarithm ? gradOutput[l] : gradOutput[l] * y[l]);
  }
  return addLanes(lane);
}

/* Parameter: the sum above. */
static void softmaxGradient(int64_t n, const real *y, const real *gradOutput,
                            const real *parameters, real *gradInput)
{
  const real sum = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = y[i] * (gradOutput[i] - sum);
}

static void logSoftmaxGradient(int64_t n, const real *y, const real *gradOutput,
                               const real *parameters, real *gradInput)
{
  const real sum = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = gradOutput[i] - realExp(y[i]) * sum;
}

static void backwardRow(bool logarithm, int64_t n, const real *y, const real *gradOutput,
                        THNN_(RunMap2) run, real *gradInput)
{
  const real sum = (real)(logarithm ? sumOfGradients(true, n, y, gradOutput)
                                    : sumOfGradients(false, n, y, gradOutput));
  const THNN_(Map2) map = logarithm ? logSoftmaxGradient : softmaxGradient;
  run(map, n, y, gradOutput, &sum, gradInput);
}

/* At most TILE positions; channel c of position i is element c*step + i. */
static void forwardTile(bool logarithm, int64_t channels, int64_t step, int64_t positions,
                        const real *x, real *y)
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
  if (logarithm) {
    real logSum[TILE];
    for (int64_t c = 0; c < channels; c++)
#pragma omp simd
      for (int64_t i = 0; i < positions; i++)
        sum[i] += realExpNegative(x[c * step + i] - most[i]);
#pragma omp simd
    for (int64_t i = 0; i < positions; i++)
      logSum[i] = realLog((real)sum[i]);
    for (int64_t c = 0; c < channels; c++)
#pragma omp simd
      for (int64_t i = 0; i < positions; i++)
        y[c * step + i] = (x[c * step + i] - most[i]) - logSum[i];
  } else {
    real factor[TILE];
    for (int64_t c = 0; c < channels; c++)
#pragma omp simd
      for (int64_t i = 0; i < positions; i++) {
        const real e = realExpNegative(x[c * step + i] - most[i]);
        y[c * step + i] = e;
        sum[i] += e;
      }
#pragma omp simd
    for (int64_t i = 0; i < positions; i++)
      factor[i] = (real)(1 / sum[i]);
    for (int64_t c = 0; c < channels; c++)
#pragma omp simd
      for (int64_t i = 0; i < positions; i++)
        y[c * step + i] *= factor[i];
  }
}

static void backwardTile(bool logarithm, int64_t channels, int64_t step, int64_t positions,
                         const real *y, const real *gradOutput, real *gradInput)
{
  double sum[TILE];
  real rounded[TILE];
#pragma omp simd
  for (int64_t i = 0; i < positions; i++)
    sum[i] = 0;
  for (int64_t c = 0; c < channels; c++) {
    const real *g = gradOutput + c * step, *value = y + c * step;
    if (logarithm)
#pragma omp simd
      for (int64_t i = 0; i < positions; i++)
        sum[i] += g[i];
    else
#pragma omp simd
      for (int64_t i = 0; i < positions; i++)
        sum[i] += g[i] * value[i];
  }
#pragma omp simd
  for (int64_t i = 0; i < positions; i++)
    rounded[i] = (real)sum[i];
  for (int64_t c = 0; c < channels; c++) {
    const real *g = gradOutput + c * step, *value = y + c * step;
    real *to = gradInput + c * step;
    if (logarithm)
#pragma omp simd
      for (int64_t i = 0; i < positions; i++)
        to[i] = g[i] - realExp(value[i]) * rounded[i];
    else
#pragma omp simd
      for (int64_t i = 0; i < positions; i++)
        to[i] = value[i] * (g[i] - rounded[i]);
  }
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
  if (channels >= NARROW || rows < 4) {
    for (int64_t r = 0; r < rows; r++)
      forwardRow(logarithm, channels, x + r * channels, y + r * channels);
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
                         const real *gradOutput, THNN_(RunMap2) run, real *gradInput)
{
  if (channels >= NARROW || rows < 4) {
    for (int64_t r = 0; r < rows; r++)
      backwardRow(logarithm, channels, y + r * channels, gradOutput + r * channels, run,
                  gradInput + r * channels);
    return;
  }
  real values[NARROW * NARROW_ROWS], gradients[NARROW * NARROW_ROWS];
  for (int64_t r = 0; r < rows; r += NARROW_ROWS) {
    const int64_t some = rows - r < NARROW_ROWS ? rows - r : NARROW_ROWS;
    turn(some, channels, y + r * channels, values);
    turn(some, channels, gradOutput + r * channels, gradients);
    backwardTile(logarithm, channels, NARROW_ROWS, some, values, gradients, gradients);
    turnBack(some, channels, gradients, gradInput + r * channels);
  }
}

const THNN_(SimdSoftmax) SIMD_TABLE(Softmax, THNN_SIMD_LEVEL) = {
    .tile = TILE,
    .forwardRows = forwardRows,
    .backwardRows = backwardRows,
    .forwardTile = forwardTile,
    .backwardTile = backwardTile,
};
