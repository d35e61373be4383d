/* The loops of modules with parameters or statistics per channel. Sums follow reduce.c: element i
 * of a plane goes to running sum i % LANES, and these are added from first to last. */
#include "template.h"

enum { LANES = 32 };

static double addLanes(const double *lane)
{
  double sum = 0;
  for (int l = 0; l < LANES; l++)
    sum += lane[l];
  return sum;
}

static void momentsOfPlane(int64_t n, const real *x, const real *y, real center, double *sums)
{
  (void)y;
  double first[LANES] = {0}, second[LANES] = {0};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
      const double distance = (double)x[i + l] - (double)center;
      first[l] += distance;
      second[l] += distance * distance;
    }
  for (int l = 0; i + l < n; l++) {
    const double distance = (double)x[i + l] - (double)center;
    first[l] += distance;
    second[l] += distance * distance;
  }
  sums[0] += addLanes(first);
  sums[1] += addLanes(second);
}

static void momentsOfRow(int64_t n, const real *x, const real *y, const real *centers,
                         double *first, double *second)
{
  (void)y;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const double distance = (double)x[i] - (double)centers[i];
    first[i] += distance;
    second[i] += distance * distance;
  }
}

static void gradientsOfPlane(int64_t n, const real *x, const real *gradOutput, real center,
                             double *sums)
{
  double first[LANES] = {0}, second[LANES] = {0};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
      const double gradient = gradOutput[i + l];
      first[l] += gradient;
      second[l] += gradient * ((double)x[i + l] - (double)center);
    }
  for (int l = 0; i + l < n; l++) {
    const double gradient = gradOutput[i + l];
    first[l] += gradient;
    second[l] += gradient * ((double)x[i + l] - (double)center);
  }
  sums[0] += addLanes(first);
  sums[1] += addLanes(second);
}

static void gradientsOfRow(int64_t n, const real *x, const real *gradOutput, const real *centers,
                           double *first, double *second)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const double gradient = gradOutput[i];
    first[i] += gradient;
    second[i] += gradient * ((double)x[i] - (double)centers[i]);
  }
}

static inline double slopeTerm(real x, real gradOutput)
{
  const double term = (double)x * (double)gradOutput;
  return x <= 0 ? term : 0;
}

static void slopesOfPlane(int64_t n, const real *x, const real *gradOutput, real center,
                          double *sums)
{
  (void)center;
  double lane[LANES] = {0};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      lane[l] += slopeTerm(x[i + l], gradOutput[i + l]);
  for (int l = 0; i + l < n; l++)
    lane[l] += slopeTerm(x[i + l], gradOutput[i + l]);
  sums[0] += addLanes(lane);
}

static void slopesOfRow(int64_t n, const real *x, const real *gradOutput, const real *centers,
                        double *first, double *second)
{
  (void)centers, (void)second;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    first[i] += slopeTerm(x[i], gradOutput[i]);
}

/* Parameters: center, scale, shift. */
static void normalisePlane(int64_t n, const real *x, const real *y, const real *parameters, real *z)
{
  (void)y;
  const real center = parameters[0], scale = parameters[1], shift = parameters[2];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = (x[i] - center) * scale + shift;
}

static void normaliseRow(int64_t n, const real *x, const real *y, const real *parameters,
                         int64_t step, real *z)
{
  (void)y;
  const real *center = parameters, *scale = center + step, *shift = scale + step;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = (x[i] - center[i]) * scale[i] + shift[i];
}

/* Parameters: center, mean gradient, projection, scale. */
static void normaliseBackwardPlane(int64_t n, const real *x, const real *gradOutput,
                                   const real *parameters, real *gradInput)
{
  const real center = parameters[0], mean = parameters[1];
  const real projection = parameters[2], scale = parameters[3];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = ((gradOutput[i] - mean) - (x[i] - center) * projection) * scale;
}

static void normaliseBackwardRow(int64_t n, const real *x, const real *gradOutput,
                                 const real *parameters, int64_t step, real *gradInput)
{
  const real *center = parameters, *mean = center + step;
  const real *projection = mean + step, *scale = projection + step;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = ((gradOutput[i] - mean[i]) - (x[i] - center[i]) * projection[i]) * scale[i];
}

/* Parameter: the factor. */
static void scalePlane(int64_t n, const real *x, const real *y, const real *parameters, real *z)
{
  (void)x;
  const real factor = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = y[i] * factor;
}

static void scaleRow(int64_t n, const real *x, const real *y, const real *parameters, int64_t step,
                     real *z)
{
  (void)x, (void)step;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = y[i] * parameters[i];
}

/* Parameter: the slope. */
static void preluPlane(int64_t n, const real *x, const real *y, const real *parameters, real *z)
{
  (void)y;
  const real slope = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real negative = x[i] * slope;
    z[i] = x[i] > 0 ? x[i] : negative;
  }
}

static void preluRow(int64_t n, const real *x, const real *y, const real *parameters, int64_t step,
                     real *z)
{
  (void)y, (void)step;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real negative = x[i] * parameters[i];
    z[i] = x[i] > 0 ? x[i] : negative;
  }
}

static void preluBackwardPlane(int64_t n, const real *x, const real *gradOutput,
                               const real *parameters, real *gradInput)
{
  const real slope = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real negative = gradOutput[i] * slope;
    gradInput[i] = x[i] > 0 ? gradOutput[i] : negative;
  }
}

static void preluBackwardRow(int64_t n, const real *x, const real *gradOutput,
                             const real *parameters, int64_t step, real *gradInput)
{
  (void)step;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real negative = gradOutput[i] * parameters[i];
    gradInput[i] = x[i] > 0 ? gradOutput[i] : negative;
  }
}

const THNN_(SimdChannels) SIMD_TABLE(Channels, THNN_SIMD_LEVEL) = {
    .moments = {momentsOfPlane, momentsOfRow},
    .gradients = {gradientsOfPlane, gradientsOfRow},
    .slopes = {slopesOfPlane, slopesOfRow},
    .normalise = {normalisePlane, normaliseRow, 3},
    .normaliseBackward = {normaliseBackwardPlane, normaliseBackwardRow, 4},
    .scale = {scalePlane, scaleRow, 1},
    .prelu = {preluPlane, preluRow, 1},
    .preluBackward = {preluBackwardPlane, preluBackwardRow, 1},
};
