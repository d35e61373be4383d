/* Losses and their gradients. A loss is summed in a fixed order: element i goes to running sum
 * i % SUMS, and the running sums are added from first to last. */
#include "template.h"

#define INLINE static inline __attribute__((always_inline))

typedef THNN_(Operands) Operands;

/* Enough independent sums to hide the latency of an addition in 512-bit vectors. */
enum { SUMS = 32 };

/* The loss of one element, rounded to real. */
typedef real (*Loss)(real x, real target, const real *parameters);

/* Sums a loss; which one is a constant where this is called, so that it becomes part of the loop. */
INLINE double sumLoss(const Loss loss, int64_t n, Operands of, const real *parameters)
{
  double sums[SUMS] = {0};
  int64_t i = 0;
  for (; i + SUMS <= n; i += SUMS)
#pragma omp simd
    for (int s = 0; s < SUMS; s++)
      sums[s] += loss(of.input[i + s], of.target[i + s], parameters);
  for (int s = 0; i + s < n; s++)
    sums[s] += loss(of.input[i + s], of.target[i + s], parameters);

  double sum = 0;
  for (int s = 0; s < SUMS; s++)
    sum += sums[s];
  return sum;
}

INLINE real magnitude(real x)
{
  return x < 0 ? -x : x;
}

INLINE real absoluteError(real x, real target, const real *parameters)
{
  (void)parameters;
  return magnitude(x - target);
}

static double absLoss(int64_t n, Operands of, const real *parameters)
{
  return sumLoss(absoluteError, n, of, parameters);
}

static void absGradient(int64_t n, Operands of, const real *parameters, real *gradInput)
{
  const real norm = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = of.input[i] - of.target[i] >= 0 ? norm : -norm;
}

INLINE real absoluteValue(real x, real target, const real *parameters)
{
  (void)target, (void)parameters;
  return magnitude(x);
}

static double l1Loss(int64_t n, Operands of, const real *parameters)
{
  of.target = of.input; /* it has none */
  return sumLoss(absoluteValue, n, of, parameters);
}

static void l1Gradient(int64_t n, Operands of, const real *parameters, real *gradInput)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = (real)(of.input[i] > 0) - (real)(of.input[i] < 0);
}

INLINE real squaredError(real x, real target, const real *parameters)
{
  (void)parameters;
  return (x - target) * (x - target);
}

static double mseLoss(int64_t n, Operands of, const real *parameters)
{
  return sumLoss(squaredError, n, of, parameters);
}

static void mseGradient(int64_t n, Operands of, const real *parameters, real *gradInput)
{
  const real norm = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = norm * (of.input[i] - of.target[i]);
}

INLINE real smoothError(real x, real target, const real *parameters)
{
  (void)parameters;
  const real error = magnitude(x - target);
  return error < 1 ? (real)0.5 * error * error : error - (real)0.5;
}

static double smoothL1Loss(int64_t n, Operands of, const real *parameters)
{
  return sumLoss(smoothError, n, of, parameters);
}

static void smoothL1Gradient(int64_t n, Operands of, const real *parameters, real *gradInput)
{
  const real norm = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real error = of.input[i] - of.target[i];
    const real slope = error > 1 ? 1 : error;
    gradInput[i] = norm * (slope < -1 ? -1 : slope);
  }
}

INLINE real shortfall(real x, real target, const real *parameters)
{
  const real missing = parameters[0] - x * target;
  return missing > 0 ? missing : 0;
}

static double marginLoss(int64_t n, Operands of, const real *parameters)
{
  return sumLoss(shortfall, n, of, parameters);
}

static void marginGradient(int64_t n, Operands of, const real *parameters, real *gradInput)
{
  const real norm = parameters[0], margin = parameters[1];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = of.input[i] * of.target[i] < margin ? -norm * of.target[i] : 0;
}

const THNN_(SimdCriterion) SIMD_TABLE(Criterion, THNN_SIMD_LEVEL) = {
    .absLoss = absLoss,
    .absGradient = absGradient,
    .l1Loss = l1Loss,
    .l1Gradient = l1Gradient,
    .marginLoss = marginLoss,
    .marginGradient = marginGradient,
    .mseLoss = mseLoss,
    .mseGradient = mseGradient,
    .smoothL1Loss = smoothL1Loss,
    .smoothL1Gradient = smoothL1Gradient,
};
