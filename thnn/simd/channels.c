/* The loops of modules with parameters or statistics per channel. */
#include "template.h"

#include "lanes.h"

static void momentsOfPlanes(int64_t count, int64_t step, int64_t n, const real *x, const real *y,
                            real center, double *sums)
{
  (void)y;
  double first[LANES] = {0}, second[LANES] = {0};
  for (; count > 0; count--, x += step) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
#pragma omp simd
      for (int l = 0; l < LANES; l++) {
        const double distance = (double)x[i + l] - (double)center;
        first[l] += distance;
        second[l] += distance * distance;
      }
#pragma omp simd
    for (int l = 0; l < n - i; l++) {
      const double distance = (double)x[i + l] - (double)center;
      first[l] += distance;
      second[l] += distance * distance;
    }
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

static void gradientsOfPlanes(int64_t count, int64_t step, int64_t n, const real *x,
                              const real *gradOutput, real center, double *sums)
{
  double first[LANES] = {0}, second[LANES] = {0};
  for (; count > 0; count--, x += step, gradOutput += step) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
#pragma omp simd
      for (int l = 0; l < LANES; l++) {
        const double gradient = gradOutput[i + l];
        first[l] += gradient;
        second[l] += gradient * ((double)x[i + l] - (double)center);
      }
#pragma omp simd
    for (int l = 0; l < n - i; l++) {
      const double gradient = gradOutput[i + l];
      first[l] += gradient;
      second[l] += gradient * ((double)x[i + l] - (double)center);
    }
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

static void slopesOfPlanes(int64_t count, int64_t step, int64_t n, const real *x,
                           const real *gradOutput, real center, double *sums)
{
  (void)center;
  double lane[LANES] = {0};
  for (; count > 0; count--, x += step, gradOutput += step) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
#pragma omp simd
      for (int l = 0; l < LANES; l++) {
        lane[l] += slopeTerm(x[i + l], gradOutput[i + l]);
      }
#pragma omp simd
    for (int l = 0; l < n - i; l++) {
      lane[l] += slopeTerm(x[i + l], gradOutput[i + l]);
    }
  }
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

const THNN_(SimdChannels) SIMD_TABLE(Channels, THNN_SIMD_LEVEL) = {
    .moments = {momentsOfPlanes, momentsOfRow},
    .gradients = {gradientsOfPlanes, gradientsOfRow},
    .slopes = {slopesOfPlanes, slopesOfRow},
    .normalise = {normalisePlane, normaliseRow, 3},
    .normaliseBackward = {normaliseBackwardPlane, normaliseBackwardRow, 4},
    .scale = {scalePlane, scaleRow, 1},
};
