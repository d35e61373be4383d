/* The mean of rows, and 1 / sqrt(variance + eps). */
#ifndef THNN_ROW_STATISTICS_H
#define THNN_ROW_STATISTICS_H

#include "generic/template.h"
#include "work/sizes.h"

#include <math.h>

enum { MOST_TOGETHER = 16 }; /* rows */

/* How many of `rows` rows of n elements are worked on together, so that all such blocks have about the
 * same size: no more than stay in the first-level cache until they are read again. */
static inline int64_t rowsTogether(int64_t rows, int64_t n)
{
  enum { NEAR_BYTES = 16 << 10 };
  const int64_t fitting = NEAR_BYTES / (n * (int64_t)sizeof(real));
  return evenBlock(rows, clamp(fitting, 1, MOST_TOGETHER), 1);
}

/* Computes at most MOST_TOGETHER rows, which follow each other, a step for all of them at a time: in
 * a row each step waits for the one before. Distances from the first element are summed up, so that a
 * large mean costs no precision. With eps 0, a row of equal elements has 0 for 1 / deviation. */
static inline void rowStatistics(const ChannelSum *moments, int64_t rows, int64_t n, const real *x,
                                 double eps, real *mean, real *std)
{
  double sums[MOST_TOGETHER][2] = {{0}};
  for (int64_t r = 0; r < rows; r++)
    moments->planes(1, n, n, x + r * n, NULL, x[r * n], sums[r]);
  for (int64_t r = 0; r < rows; r++) {
    const double distance = sums[r][0] / (double)n;
    const double squares = sums[r][1] - sums[r][0] * distance;
    const double variance = squares < 0 ? 0 : squares / (double)n;
    mean[r] = (real)((double)x[r * n] + distance);
    std[r] = variance == 0 && eps == 0 ? 0 : (real)(1 / sqrt(variance + eps));
  }
}

#endif
