/* The loops of the element-by-element modules. */
#include "simd/vector/vector.h"

#include "simd/vector/elementary.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(THNN_REAL_DOUBLE)
#  define QUICK_SQUARE_ROOTS
#  define QUICK_SIGMOIDS
#endif

static void abs_(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = absolute(x[i]);
}

static void absBackward(int64_t n, const real *x, const real *gradOutput, const real *parameters,
                        real *gradInput)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = x[i] >= 0 ? gradOutput[i] : -gradOutput[i];
}

static void elu(int64_t n, const real *x, const real *parameters, real *y)
{
  const real alpha = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real negative = alpha * realExpm1(x[i]);
    y[i] = x[i] <= 0 ? negative : x[i];
  }
}

static void eluBackward(int64_t n, const real *y, const real *gradOutput, const real *parameters,
                        real *gradInput)
{
  const real alpha = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real negative = gradOutput[i] * (y[i] + alpha);
    gradInput[i] = y[i] <= 0 ? negative : gradOutput[i];
  }
}

static void hardShrink(int64_t n, const real *x, const real *parameters, real *y)
{
  const real lambda = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real low = x[i] < -lambda ? x[i] : 0;
    y[i] = x[i] > lambda ? x[i] : low;
  }
}

static void softShrink(int64_t n, const real *x, const real *parameters, real *y)
{
  const real lambda = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real low = x[i] < -lambda ? x[i] + lambda : 0;
    y[i] = x[i] > lambda ? x[i] - lambda : low;
  }
}

static void shrinkBackward(int64_t n, const real *x, const real *gradOutput, const real *parameters,
                           real *gradInput)
{
  const real lambda = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real gradient = gradOutput[i];
    const real low = x[i] < -lambda ? gradient : 0;
    gradInput[i] = x[i] > lambda ? gradient : low;
  }
}

/* Clamps x with any bounds, even if the least exceeds the most. */
INLINE void hardTanhBetween(int64_t n, const real *x, real least, real most, real *y)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real low = x[i] <= most ? x[i] : most;
    y[i] = x[i] < least ? least : low;
  }
}

static void hardTanh(int64_t n, const real *x, const real *parameters, real *y)
{
  const real least = parameters[0], most = parameters[1];
  /* The instructions for minima and maxima take half the time, but if the bound and the element are
   * both zeros, the minimum would have the bound's sign. */
  if (!(least <= most) || most == 0) {
    hardTanhBetween(n, x, least, most, y);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real low = x[i] < most ? x[i] : most;
    y[i] = least > low ? least : low;
  }
}

static void hardTanhBackward(int64_t n, const real *x, const real *gradOutput,
                             const real *parameters, real *gradInput)
{
  const real least = parameters[0], most = parameters[1];
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const Vector values = load(x + i);
    const Comparison outside = (values <= broadcast(least)) | (values >= broadcast(most));
    store(gradInput + i, keepWhere(~outside, load(gradOutput + i)));
  }
  for (; i < n; i++) {
    const real gradient = gradOutput[i];
    const real low = x[i] <= least ? 0 : gradient;
    gradInput[i] = x[i] >= most ? 0 : low;
  }
}

static void leakyRelu(int64_t n, const real *x, const real *parameters, real *y)
{
  const real slope = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real negative = x[i] * slope;
    y[i] = x[i] > 0 ? x[i] : negative;
  }
}

static void leakyReluBackward(int64_t n, const real *x, const real *gradOutput,
                              const real *parameters, real *gradInput)
{
  const real slope = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real negative = gradOutput[i] * slope;
    gradInput[i] = x[i] > 0 ? gradOutput[i] : negative;
  }
}

/* leakyRelu with a slope per channel. */
static void preluPlane(int64_t n, const real *x, const real *y, const real *parameters, real *z)
{
  (void)y;
  leakyRelu(n, x, parameters, z);
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

#ifdef QUICK_SIGMOIDS
/* 1 / (1 + e^x), with errors of at most 2.5 units in the last place. In e^x = 2^(k/16) e^r two
 * registers hold the 16 roots 2^(j/16), so that |r| is a sixteenth of realSigmoid's, and the
 * polynomial, a near-minimax fit of our own, half as long. Numerator and denominator are multiplied
 * by 2^-512, so that no power in the range overflows. */
INLINE __m512d fallingSigmoids(__m512d x)
{
  static const double roots[2 * LANES] = {
      0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
      0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
      0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
      0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
  enum { ROOT_BITS = 4, EXPONENT_SHIFT = MANTISSA_BITS - ROOT_BITS };
  /* The bits of root j are reduced by j, since shifting k = 16 n + j into place adds n to the
   * exponent and j again. */
  const __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i eight = _mm512_set1_epi64(LANES);
  const __m512i low = _mm512_loadu_si512(roots) - _mm512_slli_epi64(lanes, EXPONENT_SHIFT);
  const __m512i high =
      _mm512_loadu_si512(roots + LANES) - _mm512_slli_epi64(lanes + eight, EXPONENT_SHIFT);

  const __m512d magic = _mm512_set1_pd(REAL_MAGIC - 16 * EXP_SHIFT);
  const __m512d one = _mm512_set1_pd(EXP_UNSHIFT);
  const __m512d most = _mm512_set1_pd(-EXP_UNDERFLOW), least = _mm512_set1_pd(-SIGMOID_ONE);
  const __m512d inside = _mm512_max_pd(least, _mm512_min_pd(most, x)); /* NaN stays NaN */
  const __m512d rounded = _mm512_fmadd_pd(inside, _mm512_set1_pd(16 * LOG2_E), magic);
  const __m512d k = rounded - magic;
  const __m512d r = _mm512_fnmadd_pd(k, _mm512_set1_pd(LN2_LOW / 16),
                                     _mm512_fnmadd_pd(k, _mm512_set1_pd(LN2_HIGH / 16), inside));
  const __m512i number = _mm512_castpd_si512(rounded);
  const __m512d power = _mm512_castsi512_pd(_mm512_permutex2var_epi64(low, number, high) +
                                            _mm512_slli_epi64(number, EXPONENT_SHIFT));

  const __m512d square = r * r;
  const __m512d first = _mm512_fmadd_pd(r, _mm512_set1_pd(0x1.555555548f89fp-3),
                                        _mm512_set1_pd(0x1.0000000000005p-1));
  const __m512d second = _mm512_fmadd_pd(r, _mm512_set1_pd(0x1.11123aadefd0dp-7),
                                         _mm512_set1_pd(0x1.555555545f13fp-5));
  const __m512d third = _mm512_fmadd_pd(square, _mm512_set1_pd(0x1.6c185d85b0e55p-10), second);
  const __m512d p = _mm512_fmadd_pd(square, _mm512_fmadd_pd(square, third, first), r);
  return one / (_mm512_fmadd_pd(p, power, one) + power);
}
#endif

static void logSigmoidBackward(int64_t n, const real *x, const real *gradOutput,
                               const real *parameters, real *gradInput)
{
  (void)parameters;
#ifdef QUICK_SIGMOIDS
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    store(gradInput + i, load(gradOutput + i) * (Vector)fallingSigmoids((__m512d)load(x + i)));
  if (i < n) {
    const Lanes lanes = firstLanes(n - i);
    const __m512d slopes = fallingSigmoids((__m512d)loadLanes(x + i, lanes));
    storeFirst(gradInput + i, n - i, loadLanes(gradOutput + i, lanes) * (Vector)slopes);
  }
#else
  const Bounds bounds = sigmoidBounds();
#  pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = gradOutput[i] * realSigmoidWithin(bounds, -x[i]);
#endif
}

static void product(int64_t n, const real *x, const real *y, const real *parameters, real *z)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    z[i] = x[i] * y[i];
}

static void sigmoidBackward(int64_t n, const real *y, const real *gradOutput,
                            const real *parameters, real *gradInput)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = gradOutput[i] * (1 - y[i]) * y[i];
}

static void softPlus(int64_t n, const real *x, const real *parameters, real *y)
{
  const real beta = parameters[0], threshold = parameters[1];
  real power[STAGED];
  for (int64_t first = 0; first < n; first += STAGED, x += STAGED, y += STAGED) {
    const int64_t count = n - first < STAGED ? n - first : STAGED;
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
      power[i] = powerOfDistance(x[i] * beta);
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
      const real steep = x[i] * beta;
      const real soft = softplusOf(steep, power[i]) / beta;
      y[i] = steep > threshold ? x[i] : soft;
    }
  }
}

static void softPlusBackward(int64_t n, const real *y, const real *gradOutput,
                             const real *parameters, real *gradInput)
{
  const real beta = parameters[0], threshold = parameters[1];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real steep = y[i] * beta;
    const real soft = gradOutput[i] * -realExpm1(-steep);
    gradInput[i] = steep > threshold ? gradOutput[i] : soft;
  }
}

#ifdef QUICK_SQUARE_ROOTS
/* Square roots, rounded like those of the instruction, which takes twice as long: an approximation
 * of 1 / root with 14 bits, one step of third order, and one correction by the exact remainder. */
INLINE __m512d squareRoots(__m512d x)
{
  const __m512d half = _mm512_set1_pd(0.5), none = _mm512_setzero_pd();
  /* Below this bound, remainders would be rounded. Zeros remain zero with their sign. */
  const __mmask8 usual = _mm512_cmp_pd_mask(x, _mm512_set1_pd(0x1p-960), _CMP_GE_OQ);
  const __m512d inverse = _mm512_maskz_rsqrt14_pd(usual, x);
  const __m512d approximate = x * inverse;
  const __m512d e = _mm512_fnmadd_pd(approximate, inverse, _mm512_set1_pd(1));
  const __m512d step = e * _mm512_fmadd_pd(e, _mm512_set1_pd(0.375), half);
  const __m512d near = _mm512_fmadd_pd(approximate, step, approximate);
  const __m512d halfInverse = half * _mm512_fmadd_pd(inverse, step, inverse);
  const __m512d root = _mm512_fmadd_pd(_mm512_fnmadd_pd(near, near, x), halfInverse, near);

  /* The root is rounded correctly if a slightly larger correction would leave it as it is. If not,
   * and for small, negative, infinite or undefined x, the instruction computes it. */
  const __m512d remainder = _mm512_fnmadd_pd(root, root, x);
  const __m512d corrected =
      _mm512_fmadd_pd(remainder, halfInverse * _mm512_set1_pd(1 + 0x1p-30), root);
  const __mmask8 unsure = _mm512_cmp_pd_mask(corrected, root, _CMP_NEQ_UQ) |
                          _mm512_mask_cmp_pd_mask(_knot_mask8(usual), x, none, _CMP_NEQ_UQ);
  return unsure ? _mm512_sqrt_pd(x) : root;
}
#endif

static void squareRoot(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
  int64_t first = 0;
#ifdef QUICK_SQUARE_ROOTS
  for (; first + LANES <= n; first += LANES)
    _mm512_storeu_pd(y + first, squareRoots(_mm512_loadu_pd(x + first)));
#endif
#pragma omp simd
  for (int64_t i = first; i < n; i++)
    y[i] = realSqrt(x[i]);
}

static void sqrtBackward(int64_t n, const real *y, const real *gradOutput, const real *parameters,
                         real *gradInput)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real slope = (real)0.5 * gradOutput[i] / y[i];
    gradInput[i] = y[i] == 0 ? 0 : slope;
  }
}

static void square(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] * x[i];
}

static void squareBackward(int64_t n, const real *x, const real *gradOutput, const real *parameters,
                           real *gradInput)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = 2 * gradOutput[i] * x[i];
}

static void tanhBackward(int64_t n, const real *y, const real *gradOutput, const real *parameters,
                         real *gradInput)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = gradOutput[i] * (1 - y[i] * y[i]);
}

static void normBackward(int64_t n, const real *x, const real *y, const real *gradOutput,
                         const real *parameters, real *z)
{
  const Exponent exponent = exponentOf(parameters[0]);
  if (exponent.value == 1) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
      const real gradient = gradOutput[i] * (x[i] / y[i]);
      z[i] = y[i] == 0 ? 0 : gradient;
    }
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
      const real gradient = gradOutput[i] * realPower(x[i] / y[i], exponent);
      z[i] = y[i] == 0 ? 0 : gradient;
    }
  }
}

const SimdActivation SIMD_TABLE(Activation, THNN_SIMD_LEVEL) = {
    .abs = abs_,
    .absBackward = absBackward,
    .elu = elu,
    .eluBackward = eluBackward,
    .hardShrink = hardShrink,
    .softShrink = softShrink,
    .shrinkBackward = shrinkBackward,
    .hardTanh = hardTanh,
    .hardTanhBackward = hardTanhBackward,
    .leakyRelu = leakyRelu,
    .leakyReluBackward = leakyReluBackward,
    .prelu = {preluPlane, preluRow, 1},
    .preluBackward = {leakyReluBackward, preluBackwardRow, 1},
    .logSigmoidBackward = logSigmoidBackward,
    .product = product,
    .sigmoidBackward = sigmoidBackward,
    .softPlus = softPlus,
    .softPlusBackward = softPlusBackward,
    .sqrt = squareRoot,
    .sqrtBackward = sqrtBackward,
    .square = square,
    .squareBackward = squareBackward,
    .tanhBackward = tanhBackward,
    .normBackward = normBackward,
};
