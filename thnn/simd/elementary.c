/* Loops over the elementary functions. */
#include "template.h"

#include "elementary.h"

static void exponential(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realExp(x[i]);
}

static void exponentialMinus1(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realExpm1(x[i]);
}

static void logarithm(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realLog(x[i]);
}

static void logarithm1Plus(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realLog1p(x[i]);
}

static void logistic(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realSigmoid(x[i]);
}

static void logLogistic(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realLogSigmoid(x[i]);
}

static void hyperbolicTangent(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realTanh(x[i]);
}

static void power(int64_t n, const real *x, const real *parameters, real *y)
{
  const Exponent exponent = exponentOf(parameters[0]);
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realPower(x[i], exponent);
}

const THNN_(SimdElementary) SIMD_TABLE(Elementary, THNN_SIMD_LEVEL) = {
    .exp = exponential,
    .expm1 = exponentialMinus1,
    .log = logarithm,
    .log1p = logarithm1Plus,
    .sigmoid = logistic,
    .logSigmoid = logLogistic,
    .tanh = hyperbolicTangent,
    .power = power,
};
