/* Sums of rows in the order that vector/runningSums.h describes; sums of columns; extremes. */
#include "simd/vector/template.h"

#include <stddef.h>

#include "simd/vector/doubles.h"

enum { PARTS = RUNNING_SUMS / WIDTH };

/* What is left of a row after its last RUNNING_SUMS elements: masks of the lanes of each part. */
typedef struct Rest {
  int64_t whole, left;
  Some lanes[PARTS];
} Rest;

INLINE Rest restOf(int64_t n)
{
  Rest rest = {.left = n % RUNNING_SUMS};
  rest.whole = n - rest.left;
#pragma GCC unroll 16
  for (int p = 0; p < PARTS; p++)
    rest.lanes[p] = firstOf(rest.left > p * WIDTH ? rest.left - p * WIDTH : 0);
  return rest;
}

INLINE double sumOfRow(const Rest *rest, const real *x)
{
  Doubles sums[PARTS] = {{0}};
  for (int64_t i = 0; i < rest->whole; i += RUNNING_SUMS)
#pragma GCC unroll 16
    for (int p = 0; p < PARTS; p++)
      sums[p] = plus(sums[p], loadAll(x + i + p * WIDTH));
  if (rest->left > 0)
#pragma GCC unroll 16
    for (int p = 0; p < PARTS; p++) {
      if (rest->left >= (p + 1) * WIDTH)
        sums[p] += loadAll(x + rest->whole + p * WIDTH);
      else if (rest->left > p * WIDTH)
        sums[p] += loadSome(x + rest->whole + p * WIDTH, rest->lanes[p]);
    }
  return sumOfVectors(sums);
}

static double sum(int64_t n, const real *x)
{
  const Rest rest = restOf(n);
  return sumOfRow(&rest, x);
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

/* As sum(), of rows of at most `most` elements, which is a power of two: the other running sums
 * would be 0. `most` is a constant where this is called. */
INLINE void sumOfShortRows(const int most, int64_t rows, int64_t n, const real *x, double divisor,
                           real *sums)
{
  const int parts = most / WIDTH;
  Some lanes[PARTS];
  for (int p = 0; p < parts; p++)
    lanes[p] = firstOf(n > p * WIDTH ? n - p * WIDTH : 0);
  for (int64_t r = 0; r < rows; r++, x += n) {
    double running[RUNNING_SUMS];
#pragma GCC unroll 16
    for (int p = 0; p < parts; p++)
      *(Doubles *)(running + p * WIDTH) = (Doubles){0} + loadSome(x + p * WIDTH, lanes[p]);
    sums[r] = (real)(addHalves(most, running) / divisor);
  }
}

static void sumOfRows(int64_t rows, int64_t n, const real *x, double divisor, real *sums)
{
  if (n <= RUNNING_SUMS / 4) {
    sumOfShortRows(RUNNING_SUMS / 4, rows, n, x, divisor, sums);
  } else if (n <= RUNNING_SUMS / 2) {
    sumOfShortRows(RUNNING_SUMS / 2, rows, n, x, divisor, sums);
  } else {
    const Rest rest = restOf(n);
    for (int64_t r = 0; r < rows; r++)
      sums[r] = (real)(sumOfRow(&rest, x + r * n) / divisor);
  }
}

enum {
  PIECE = 16 / WIDTH,  /* vectors of a row at a time: of floats, a line of the cache */
  MOST_COLUMNS = 1024, /* whose sums stay in the first-level cache */
  TOGETHER = 8         /* rows: the hardware's prefetching follows as many */
};

/* Adds `count` vectors of each of `rows` rows to running sums; both are constants where this is
 * called. */
INLINE void addVectors(const int rows, const int count, int64_t apart, const real *x,
                       double *running)
{
  Doubles sum[PIECE];
#pragma GCC unroll 8
  for (int p = 0; p < count; p++)
    sum[p] = *(Doubles *)(running + p * WIDTH);
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
    for (int p = 0; p < count; p++)
      sum[p] = plus(sum[p], loadAll(x + r * apart + p * WIDTH));
#pragma GCC unroll 8
  for (int p = 0; p < count; p++)
    *(Doubles *)(running + p * WIDTH) = sum[p];
}

/* Adds `rows` rows, a constant where this is called, to running sums. */
INLINE void addRows(const int rows, int64_t n, int64_t apart, const real *x, double *running)
{
  int64_t i = 0;
  for (; i + PIECE * WIDTH <= n; i += PIECE * WIDTH)
    addVectors(rows, PIECE, apart, x + i, running + i);
  for (; i + WIDTH <= n; i += WIDTH)
    addVectors(rows, 1, apart, x + i, running + i);
  for (; i < n; i++)
    for (int r = 0; r < rows; r++)
      running[i] += x[r * apart + i];
}

static void sumOfColumns(int64_t n, int64_t count, int64_t apart, const real *x, double divisor,
                         real *sum)
{
  double running[MOST_COLUMNS];
  for (int64_t begin = 0; begin < n; begin += MOST_COLUMNS) {
    const int64_t columns = n - begin < MOST_COLUMNS ? n - begin : MOST_COLUMNS;
    for (int64_t i = 0; i < columns; i++)
      running[i] = 0;
    int64_t r = 0;
    for (; r + TOGETHER <= count; r += TOGETHER)
      addRows(TOGETHER, columns, apart, x + r * apart + begin, running);
    for (; r < count; r++)
      addRows(1, columns, apart, x + r * apart + begin, running);
    for (int64_t i = 0; i < columns; i++)
      sum[begin + i] = (real)(running[i] / divisor);
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
    .sumOfRows = sumOfRows,
    .dot = dot,
    .sumOfColumns = sumOfColumns,
    .greatest = greatest,
    .least = least,
    .greatestOfColumns = greatestOfColumns,
    .leastOfColumns = leastOfColumns,
};
