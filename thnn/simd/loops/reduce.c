/* Sums of rows in the order that vector/runningSums.h describes; sums of columns; extremes. */
#include "simd/vector/template.h"

#include <stddef.h>

#include "simd/vector/runningSums.h"

static double sum(int64_t n, const real *x)
{
  double running[RUNNING_SUMS];
  clearSums(running);
  int64_t i = 0;
  for (; i + RUNNING_SUMS <= n; i += RUNNING_SUMS)
#pragma omp simd
    for (int l = 0; l < RUNNING_SUMS; l++)
      running[l] += x[i + l];
  for (int l = 0; i + l < n; l++)
    running[l] += x[i + l];
  return addHalves(RUNNING_SUMS, running);
}

static double dot(int64_t n, const real *x, const real *y)
{
  double running[RUNNING_SUMS];
  clearSums(running);
  int64_t i = 0;
  for (; i + RUNNING_SUMS <= n; i += RUNNING_SUMS)
#pragma omp simd
    for (int l = 0; l < RUNNING_SUMS; l++)
      running[l] += (double)x[i + l] * y[i + l];
  for (int l = 0; i + l < n; l++)
    running[l] += (double)x[i + l] * y[i + l];
  return addHalves(RUNNING_SUMS, running);
}

static void sumOfColumns(int64_t n, int64_t count, int64_t apart, const real *x, double divisor,
                         real *sum)
{
  double running[RUNNING_SUMS];
  for (int64_t i = 0; i < n; i += RUNNING_SUMS) {
    const int64_t left = n - i;
    clearSums(running);
    if (left >= RUNNING_SUMS)
      for (int64_t r = 0; r < count; r++)
#pragma omp simd
        for (int l = 0; l < RUNNING_SUMS; l++)
          running[l] += x[r * apart + i + l];
    else
      for (int64_t r = 0; r < count; r++)
#pragma omp simd
        for (int l = 0; l < (int)left; l++)
          running[l] += x[r * apart + i + l];
    for (int l = 0; l < RUNNING_SUMS && l < left; l++)
      sum[i + l] = (real)(running[l] / divisor);
  }
}

/* Whether an element takes the place of the best one before it. */
INLINE bool isBetter(const bool least, real value, real best)
{
  return (least ? value < best : value > best) | ((value != value) & (best == best));
}

INLINE void extremesOfColumns(const bool least, const bool places, int64_t n, int64_t count,
                              int64_t apart, const real *x, real *best, int64_t *place)
{
  for (int64_t i = 0; i < n; i++)
    best[i] = x[i];
  if (places)
    for (int64_t i = 0; i < n; i++)
      place[i] = 0;
  for (int64_t r = 1; r < count; r++) {
    const real *row = x + r * apart;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
      const bool take = isBetter(least, row[i], best[i]);
      best[i] = take ? row[i] : best[i];
      if (places)
        place[i] = take ? r : place[i];
    }
  }
}

static void greatestOfColumns(int64_t n, int64_t count, int64_t apart, const real *x, real *best,
                              int64_t *place)
{
  if (place != NULL)
    extremesOfColumns(false, true, n, count, apart, x, best, place);
  else
    extremesOfColumns(false, false, n, count, apart, x, best, place);
}

static void leastOfColumns(int64_t n, int64_t count, int64_t apart, const real *x, real *best,
                           int64_t *place)
{
  if (place != NULL)
    extremesOfColumns(true, true, n, count, apart, x, best, place);
  else
    extremesOfColumns(true, false, n, count, apart, x, best, place);
}

/* Takes a row as a matrix of COLUMNS columns, and the elements after its last whole row. */
INLINE int64_t extreme(const bool least, int64_t n, const real *x)
{
  enum { COLUMNS = 32 };
  const int64_t rows = n / COLUMNS;
  real best[COLUMNS];
  int64_t place[COLUMNS], found = 0;
  if (rows > 0) {
    extremesOfColumns(least, true, COLUMNS, rows, COLUMNS, x, best, place);
    for (int l = 0; l < COLUMNS; l++) {
      const int64_t at = place[l] * COLUMNS + l;
      const bool isEqual = best[l] == x[found] || (best[l] != best[l] && x[found] != x[found]);
      if (isBetter(least, best[l], x[found]) || (isEqual && at < found))
        found = at;
    }
  }
  for (int64_t i = rows * COLUMNS; i < n; i++)
    if (isBetter(least, x[i], x[found]))
      found = i;
  return found;
}

static int64_t greatest(int64_t n, const real *x)
{
  return extreme(false, n, x);
}

static int64_t least(int64_t n, const real *x)
{
  return extreme(true, n, x);
}

const SimdReduce SIMD_TABLE(Reduce, THNN_SIMD_LEVEL) = {
    .sum = sum,
    .dot = dot,
    .sumOfColumns = sumOfColumns,
    .greatest = greatest,
    .least = least,
    .greatestOfColumns = greatestOfColumns,
    .leastOfColumns = leastOfColumns,
};
