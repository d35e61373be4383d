/* Element-by-element loops. `omp simd` says what the header promises: no element depends on one
 * computed in an earlier turn, because pointers are equal or ranges do not overlap. */
#include <string.h>

#include "template.h"

static void fill(int64_t n, real value, real *y)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = value;
}

static void copy(int64_t n, const real *x, real *y)
{
  if (x != y && n > 0)
    memcpy(y, x, (size_t)n * sizeof(real));
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
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = x[i] > threshold ? gradOutput[i] : 0;
}

const THNN_(SimdPointwise) SIMD_TABLE(Pointwise, THNN_SIMD_LEVEL) = {
    .fill = fill,
    .copy = copy,
    .copyFromSteps = copyFromSteps,
    .addToSteps = addToSteps,
    .axpy = axpy,
    .blend = blend,
    .addScalar = addScalar,
    .threshold = threshold,
    .thresholdBackward = thresholdBackward,
};
