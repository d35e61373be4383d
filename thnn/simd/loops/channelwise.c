/* The loops of modules with parameters or statistics per channel. */
#include "simd/vector/runningSums.h"
#include "simd/vector/vector.h"

/* Sums over planes, in the order of vector/runningSums.h, but with RUNNING running sums: these hide
 * the latency of an addition and stay in registers. */
enum { WIDTH = VECTOR_BYTES / sizeof(double), RUNNING = 16, PARTS = RUNNING / WIDTH };
typedef double Doubles
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(double)), may_alias));
typedef real Reals
    __attribute__((vector_size(WIDTH * sizeof(real)), aligned(sizeof(real)), may_alias));

typedef struct Sums {
  Doubles part[PARTS];
} Sums;

INLINE double totalOf(const Sums *sums)
{
  double running[RUNNING];
#pragma GCC unroll 8
  for (int p = 0; p < PARTS; p++)
    *(Doubles *)(running + p * WIDTH) = sums->part[p];
  return addHalves(RUNNING, running);
}

INLINE Doubles loadAll(const real *x)
{
#if defined(__AVX512F__) && defined(THNN_REAL_FLOAT)
  return (Doubles)_mm512_cvtps_pd(_mm256_loadu_ps(x));
#elif defined(__AVX__) && defined(THNN_REAL_FLOAT)
  return (Doubles)_mm256_cvtps_pd(_mm_loadu_ps(x));
#else
  return __builtin_convertvector(*(const Reals *)x, Doubles);
#endif
}

/* firstOf() is a mask of the first lanes of a part, from 1 to all of them. loadSome() and
 * keepSome() load or keep the lanes of a mask; the others become 0. */
#if defined(__AVX512F__)
typedef __mmask8 Some;

INLINE Some firstOf(int64_t count)
{
  return (Some)(count < WIDTH ? (1u << count) - 1 : 0xff);
}

INLINE Doubles loadSome(const real *x, Some lanes)
{
#  if defined(THNN_REAL_FLOAT)
  return (Doubles)_mm512_cvtps_pd(_mm256_maskz_loadu_ps(lanes, x));
#  else
  return (Doubles)_mm512_maskz_loadu_pd(lanes, x);
#  endif
}

INLINE Doubles keepSome(Some lanes, Doubles x)
{
  return (Doubles)_mm512_maskz_mov_pd(lanes, (__m512d)x);
}
#else
typedef int64_t Some __attribute__((vector_size(VECTOR_BYTES)));

INLINE Some firstOf(int64_t count)
{
#  if defined(LONG_VECTORS)
  const Some number = {0, 1, 2, 3};
#  else
  const Some number = {0, 1};
#  endif
  return number < count;
}

INLINE Doubles loadSome(const real *x, Some lanes)
{
#  if defined(__AVX__) && defined(THNN_REAL_FLOAT)
  typedef int32_t Narrow __attribute__((vector_size(WIDTH * sizeof(int32_t))));
  return (Doubles)_mm256_cvtps_pd(
      _mm_maskload_ps(x, (__m128i) __builtin_convertvector(lanes, Narrow)));
#  elif defined(__AVX__)
  return (Doubles)_mm256_maskload_pd(x, (__m256i)lanes);
#  else
  Doubles some = {0};
  for (int l = 0; l < WIDTH; l++)
    if (lanes[l])
      some[l] = x[l];
  return some;
#  endif
}

INLINE Doubles keepSome(Some lanes, Doubles x)
{
  return (Doubles)((Some)x & lanes);
}
#endif

INLINE void addTerms(Doubles x, Doubles factor, Doubles *first, Doubles *second)
{
  *first += x;
  *second += x * factor;
}

static void momentsOfPlanes(int64_t count, int64_t step, int64_t n, const real *x, const real *y,
                            real center, double *sums)
{
  (void)y;
  const int64_t left = n % RUNNING, whole = n - left;
  Sums first = {{{0}}}, second = {{{0}}};
  for (int64_t plane = 0; plane < count; plane++, x += step) {
    for (int64_t i = 0; i < whole; i += RUNNING)
#pragma GCC unroll 8
      for (int p = 0; p < PARTS; p++) {
        const Doubles distance = loadAll(x + i + p * WIDTH) - center;
        addTerms(distance, distance, &first.part[p], &second.part[p]);
      }
#pragma GCC unroll 8
    for (int p = 0; p < PARTS; p++)
      if (left > p * WIDTH) {
        const Some lanes = firstOf(left - p * WIDTH);
        const Doubles distance = keepSome(lanes, loadSome(x + whole + p * WIDTH, lanes) - center);
        addTerms(distance, distance, &first.part[p], &second.part[p]);
      }
  }
  sums[0] += totalOf(&first);
  sums[1] += totalOf(&second);
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
  const int64_t left = n % RUNNING, whole = n - left;
  Sums first = {{{0}}}, second = {{{0}}};
  for (int64_t plane = 0; plane < count; plane++, x += step, gradOutput += step) {
    for (int64_t i = 0; i < whole; i += RUNNING)
#pragma GCC unroll 8
      for (int p = 0; p < PARTS; p++)
        addTerms(loadAll(gradOutput + i + p * WIDTH), loadAll(x + i + p * WIDTH) - center,
                 &first.part[p], &second.part[p]);
#pragma GCC unroll 8
    for (int p = 0; p < PARTS; p++)
      if (left > p * WIDTH) {
        const int64_t at = whole + p * WIDTH;
        const Some lanes = firstOf(left - p * WIDTH);
        addTerms(loadSome(gradOutput + at, lanes), loadSome(x + at, lanes) - center, &first.part[p],
                 &second.part[p]);
      }
  }
  sums[0] += totalOf(&first);
  sums[1] += totalOf(&second);
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

INLINE Doubles slopeTerms(Doubles x, Doubles gradOutput)
{
  typedef int64_t Comparison __attribute__((vector_size(VECTOR_BYTES)));
  const Comparison negative = x <= 0;
  return (Doubles)((Comparison)(x * gradOutput) & negative);
}

static void slopesOfPlanes(int64_t count, int64_t step, int64_t n, const real *x,
                           const real *gradOutput, real center, double *sums)
{
  (void)center;
  const int64_t left = n % RUNNING, whole = n - left;
  Sums slopes = {{{0}}};
  for (int64_t plane = 0; plane < count; plane++, x += step, gradOutput += step) {
    for (int64_t i = 0; i < whole; i += RUNNING)
#pragma GCC unroll 8
      for (int p = 0; p < PARTS; p++)
        slopes.part[p] +=
            slopeTerms(loadAll(x + i + p * WIDTH), loadAll(gradOutput + i + p * WIDTH));
#pragma GCC unroll 8
    for (int p = 0; p < PARTS; p++)
      if (left > p * WIDTH) {
        const int64_t at = whole + p * WIDTH;
        const Some lanes = firstOf(left - p * WIDTH);
        slopes.part[p] += slopeTerms(loadSome(x + at, lanes), loadSome(gradOutput + at, lanes));
      }
  }
  sums[0] += totalOf(&slopes);
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

/* Parameters: center, mean gradient, projection, factor. */
static void differentiate(int64_t n, const real *x, const real *gradOutput, const real *parameters,
                          real *gradInput)
{
  const real center = parameters[0], mean = parameters[1];
  const real projection = parameters[2], factor = parameters[3];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = (gradOutput[i] * factor - mean) - (x[i] - center) * projection;
}

static void addGradients(int64_t n, const real *x, const real *gradOutput, real center, real scale,
                         double *first, double *second)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const double gradient = gradOutput[i];
    first[i] += gradient;
    second[i] += gradient * (((double)x[i] - (double)center) * (double)scale);
  }
}

const SimdChannels SIMD_TABLE(Channels, THNN_SIMD_LEVEL) = {
    .moments = {momentsOfPlanes, momentsOfRow},
    .gradients = {gradientsOfPlanes, gradientsOfRow},
    .slopes = {slopesOfPlanes, slopesOfRow},
    .normalise = {normalisePlane, normaliseRow, 3},
    .normaliseBackward = {normaliseBackwardPlane, normaliseBackwardRow, 4},
    .scale = {scalePlane, scaleRow, 1},
    .differentiate = differentiate,
    .addGradients = addGradients,
};
