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

static void gated(int64_t n, const real *x, const real *gate, real *y)
{
  const Bounds bounds = sigmoidBounds();
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] * realSigmoidWithin(bounds, gate[i]);
}

static void gatedBackward(int64_t n, const real *x, const real *gate, const real *gradOutput,
                          real *gradX, real *gradGate)
{
  const Bounds bounds = sigmoidBounds();
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real open = realSigmoidWithin(bounds, gate[i]);
    const real closed = realSigmoidWithin(bounds, -gate[i]);
    const real through = open * gradOutput[i];
    gradGate[i] = through * closed * x[i];
    gradX[i] = through;
  }
}

/* The upper tail of the normal distribution, the probability of a number above a, divided by
 * e^(-a^2/2), for a from 0 to NORMAL_MOST: coefficients of the powers of t = (a - c) / (a + c),
 * highest first, where c is NORMAL_CENTRE. The polynomial interpolates at the Chebyshev nodes of
 * t's range; its error is 3e-8 of the value in float, 2e-16 in double. Above NORMAL_MOST
 * e^(-a^2/2) is 0. */
#ifdef THNN_REAL_DOUBLE
#  define NORMAL_CENTRE 5
#  define NORMAL_MOST 38.6
static const real normalTail[] = {
    6.42360417427786e-11,  -1.25486728553045e-10,   -7.946556074245425e-10,  1.4101476992769079e-09,
    6.03335661437394e-09,  -1.0278433957235332e-08, -3.9470279272321696e-08, 7.639390185198732e-08,
    2.435155598289343e-07, -6.74628316036838e-07,   -1.2701386338848445e-06, 6.644235058131225e-06,
    9.61322048836411e-07,  -6.0427432478331145e-05, 0.0001342768405874223,   0.00021955072901135733,
    -0.00237884435636671,  0.008991370551461153,    -0.023413900487714637,   0.047855352284124325,
    -0.08088387726412664,  0.11606881188600424,     -0.143457555264012,      0.07691930497500629};
#else
#  define NORMAL_CENTRE 3
#  define NORMAL_MOST 14.5f
static const real normalTail[] = {
    5.41519403e-05f, 0.000116249619f, -0.00033967456f, -0.000984372222f, 0.00290447893f,
    0.00613223622f,  -0.0462132543f,  0.123225018f,    -0.206402615f,    0.121513948f,
};
#endif

/* The absolute value of a number, or NORMAL_MOST where it is larger or NaN. Positive numbers are
 * ordered as their bits are, and the smaller of two integers takes no branch. */
INLINE real normalDistance(real x)
{
  const RealBits bits = bitsOf(x) & ~SIGN_BIT, most = bitsOf(NORMAL_MOST);
  return realOf(bits < most ? bits : most);
}

/* e^(-a^2/2) / EXP_UNSHIFT, for an a from normalDistance(). The factor keeps every power in the
 * range of normal numbers. */
INLINE real normalDensity(real a)
{
#ifdef THNN_REAL_DOUBLE
  real power;
  const real e = expm1Reduced(a * a * (real)-0.5, EXP_SHIFT, &power);
  return e * power + power;
#else
  /* 2^n 2^f, where n + f is the exponent in base 2: cheaper, and as exact as the square of a is.
   * The powers of f, in [-1/2, 1/2], interpolate 2^f at the Chebyshev nodes. */
  const real magic = REAL_MAGIC + REAL_BIAS + EXP_SHIFT;
  const real exponent = a * a * (-LOG2_E / 2);
  const real rounded = exponent + magic;
  const real f = exponent - (rounded - magic);
  const real square = f * f;
  const real high = (0.00961805694f + f * 0.0013400428f) + square * 0.000154614449f;
  const real low = 0.240226507f + f * 0.0555032715f;
  const real power = realOf(bitsOf(rounded) << MANTISSA_BITS);
  return ((1 + f * 0.693147182f) + square * (low + square * high)) * power;
#endif
}

/* The upper tail at an a from normalDistance(). *density becomes normalDensity(a), whose factor 1 /
 * EXP_UNSHIFT the coefficients make up for. */
INLINE real normalBeyond(real a, real *density)
{
  const real t = (a - NORMAL_CENTRE) / (a + NORMAL_CENTRE);
  /* Odd and even powers are summed up apart, in two chains of half the length. */
  const real square = t * t;
  real odd = normalTail[0] * EXP_UNSHIFT, even = normalTail[1] * EXP_UNSHIFT;
  for (size_t i = 2; i < sizeof normalTail / sizeof *normalTail; i += 2) {
    odd = odd * square + normalTail[i] * EXP_UNSHIFT;
    even = even * square + normalTail[i + 1] * EXP_UNSHIFT;
  }
  *density = normalDensity(a);
  return (odd * t + even) * *density;
}

/* x P(x) = x - x (1 - P(x)): for either sign, max(x, 0) minus |x| times the upper tail at |x|. */
static void gelu(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    real density;
    const real a = normalDistance(x[i]);
    y[i] = (0 > x[i] ? 0 : x[i]) - a * normalBeyond(a, &density);
  }
}

static void geluBackward(int64_t n, const real *x, const real *gradOutput, const real *parameters,
                         real *gradInput)
{
  const real factor = (real)0.3989422804014327 * EXP_UNSHIFT; /* 1 / sqrt(2 pi) */
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    real density;
    const real tail = normalBeyond(normalDistance(x[i]), &density);
    const real probability = x[i] > 0 ? 1 - tail : tail;
    gradInput[i] = gradOutput[i] * (probability + x[i] * density * factor);
  }
}

/* (1 + tanh(u)) / 2 is sigmoid(2 u), which is 0 or 1 where |x| is above GATE_MOST. */
#define GATE_FACTOR ((real)1.5957691216057308) /* 2 sqrt(2 / pi) */
#define GATE_CUBIC ((real)0.044715)
#define GATE_MOST 32

/* 1 / (1 + e^-x), and its derivative, with one power and one division for both. */
INLINE real sigmoidAndSlope(real x, real *slope)
{
  const real power = realExpNegative(-absolute(x)), inverse = 1 / (1 + power);
  const real tail = power * inverse;
  *slope = tail * inverse;
  return x > 0 ? inverse : tail;
}

/* x, or the nearest number that the gate of geluTanh is computed for. */
INLINE real gateInput(real x)
{
  return x > GATE_MOST ? GATE_MOST : x < -GATE_MOST ? -GATE_MOST : x;
}

static void geluTanh(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
  const Bounds bounds = sigmoidBounds();
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real a = gateInput(x[i]);
    y[i] = x[i] * realSigmoidWithin(bounds, GATE_FACTOR * a * (1 + GATE_CUBIC * a * a));
  }
}

static void geluTanhBackward(int64_t n, const real *x, const real *gradOutput,
                             const real *parameters, real *gradInput)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real a = gateInput(x[i]), gate = GATE_FACTOR * a * (1 + GATE_CUBIC * a * a);
    real slope;
    const real open = sigmoidAndSlope(gate, &slope);
    slope *= GATE_FACTOR * (1 + 3 * GATE_CUBIC * a * a);
    gradInput[i] = gradOutput[i] * (open + a * slope);
  }
}

static void silu(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
  gated(n, x, x, y);
}

static void siluBackward(int64_t n, const real *x, const real *gradOutput, const real *parameters,
                         real *gradInput)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    real slope;
    const real open = sigmoidAndSlope(x[i], &slope);
    gradInput[i] = gradOutput[i] * (open + x[i] * slope);
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
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real steep = x[i] * beta;
    const real soft = realSoftplus(steep) / beta;
    y[i] = steep > threshold ? x[i] : soft;
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
    .gated = gated,
    .gatedBackward = gatedBackward,
    .gelu = gelu,
    .geluBackward = geluBackward,
    .geluTanh = geluTanh,
    .geluTanhBackward = geluTanhBackward,
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
    .silu = silu,
    .siluBackward = siluBackward,
    .softPlus = softPlus,
    .softPlusBackward = softPlusBackward,
    .sqrt = squareRoot,
    .sqrtBackward = sqrtBackward,
    .square = square,
    .squareBackward = squareBackward,
    .tanhBackward = tanhBackward,
    .normBackward = normBackward,
};
