/* Sums in the order that vector/runningSums.h describes. */
#include "simd/vector/template.h"

#include "simd/vector/runningSums.h"

static double sum(int64_t n, const real *x)
{
  double lane[RUNNING_SUMS];
  clearSums(lane);
  int64_t i = 0;
  for (; i + RUNNING_SUMS <= n; i += RUNNING_SUMS)
#pragma omp simd
    for (int l = 0; l < RUNNING_SUMS; l++)
      lane[l] += x[i + l];
  for (int l = 0; i + l < n; l++)
    lane[l] += x[i + l];
  return addHalves(RUNNING_SUMS, lane);
}

static double dot(int64_t n, const real *x, const real *y)
{
  double lane[RUNNING_SUMS];
  clearSums(lane);
  int64_t i = 0;
  for (; i + RUNNING_SUMS <= n; i += RUNNING_SUMS)
#pragma omp simd
    for (int l = 0; l < RUNNING_SUMS; l++)
      lane[l] += (double)x[i + l] * y[i + l];
  for (int l = 0; i + l < n; l++)
    lane[l] += (double)x[i + l] * y[i + l];
  return addHalves(RUNNING_SUMS, lane);
}

const SimdReduce SIMD_TABLE(Reduce, THNN_SIMD_LEVEL) = {
    .sum = sum,
    .dot = dot,
};
