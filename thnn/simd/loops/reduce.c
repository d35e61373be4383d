/* Sums in the order that vector/runningSums.h describes. */
#include "simd/vector/template.h"

#include "simd/vector/runningSums.h"

static double sum(int64_t n, const real *x)
{
  double lane[LANES];
  clearLanes(lane);
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      lane[l] += x[i + l];
  for (int l = 0; i + l < n; l++)
    lane[l] += x[i + l];
  return addLanes(lane);
}

static double dot(int64_t n, const real *x, const real *y)
{
  double lane[LANES];
  clearLanes(lane);
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      lane[l] += (double)x[i + l] * y[i + l];
  for (int l = 0; i + l < n; l++)
    lane[l] += (double)x[i + l] * y[i + l];
  return addLanes(lane);
}

const SimdReduce SIMD_TABLE(Reduce, THNN_SIMD_LEVEL) = {
    .sum = sum,
    .dot = dot,
};
