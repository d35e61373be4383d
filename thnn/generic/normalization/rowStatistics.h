/* The mean of a row, and 1 / sqrt(variance + eps). */
#ifndef THNN_ROW_STATISTICS_H
#define THNN_ROW_STATISTICS_H

#include "generic/template.h"

#include <math.h>

/* Distances from the first element are summed up, so that a large mean costs no precision. With eps
 * 0, a row of equal elements has 0 for 1 / deviation. */
static inline void rowStatistics(const ChannelSum *moments, int64_t n, const real *x, double eps,
                                 real *mean, real *std)
{
  double sums[2] = {0, 0};
  moments->planes(1, n, n, x, NULL, x[0], sums);
  const double distance = sums[0] / (double)n;
  const double squares = sums[1] - sums[0] * distance;
  const double variance = squares < 0 ? 0 : squares / (double)n;
  *mean = (real)((double)x[0] + distance);
  *std = variance == 0 && eps == 0 ? 0 : (real)(1 / sqrt(variance + eps));
}

#endif
