/* The loops of modules that multiply by a probability. */
#include "simd/vector/vector.h"

#include "simd/vector/elementary.h"

static void gated(int64_t n, const real *x, const real *gate, real *y)
{
  const Bounds bounds = sigmoidBounds();
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] * realSigmoidWithin(bounds, gate[i]);
}

/* 1 / (1 + e^-x) and 1 / (1 + e^x), each without loss where it is small, from the power e^-|x|. */
typedef struct Gates {
  real open, closed;
} Gates;

INLINE Gates gatesOf(real x, real power)
{
  const real inverse = 1 / (1 + power), tail = power * inverse;
  return (Gates){x > 0 ? inverse : tail, x > 0 ? tail : inverse};
}

/* power = e^-|x| */
INLINE void powersOf(int64_t n, const real *x, real *power)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    power[i] = powerOfDistance(x[i]);
}

static void gatedBackward(int64_t n, const real *x, const real *gate, const real *gradOutput,
                          real *gradX, real *gradGate)
{
  real power[STAGED];
  for (int64_t first = 0; first < n; first += STAGED) {
    const int64_t end = n - first < STAGED ? n : first + STAGED;
    powersOf(end - first, gate + first, power);
#pragma omp simd
    for (int64_t i = first; i < end; i++) {
      const Gates gates = gatesOf(gate[i], power[i - first]);
      const real through = gates.open * gradOutput[i];
      gradGate[i] = through * gates.closed * x[i];
      gradX[i] = through;
    }
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

/* x, or the nearest number that the gate of geluTanh is computed for. */
INLINE real gateInput(real x)
{
  return x > GATE_MOST ? GATE_MOST : x < -GATE_MOST ? -GATE_MOST : x;
}

INLINE real gateOf(real a)
{
  return GATE_FACTOR * a * (1 + GATE_CUBIC * a * a);
}

static void geluTanh(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
  const Bounds bounds = sigmoidBounds();
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real a = gateInput(x[i]);
    y[i] = x[i] * realSigmoidWithin(bounds, gateOf(a));
  }
}

static void geluTanhBackward(int64_t n, const real *x, const real *gradOutput,
                             const real *parameters, real *gradInput)
{
  (void)parameters;
  real power[STAGED];
  for (int64_t first = 0; first < n; first += STAGED) {
    const int64_t end = n - first < STAGED ? n : first + STAGED;
#pragma omp simd
    for (int64_t i = first; i < end; i++)
      power[i - first] = powerOfDistance(gateOf(gateInput(x[i])));
#pragma omp simd
    for (int64_t i = first; i < end; i++) {
      const real a = gateInput(x[i]);
      const Gates gates = gatesOf(a, power[i - first]);
      const real slope = gates.closed * (GATE_FACTOR * (1 + 3 * GATE_CUBIC * a * a));
      gradInput[i] = gradOutput[i] * (gates.open + gates.open * a * slope);
    }
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
  real power[STAGED];
  for (int64_t first = 0; first < n; first += STAGED) {
    const int64_t end = n - first < STAGED ? n : first + STAGED;
    powersOf(end - first, x + first, power);
#pragma omp simd
    for (int64_t i = first; i < end; i++) {
      const Gates gates = gatesOf(x[i], power[i - first]);
      gradInput[i] = gradOutput[i] * (gates.open + x[i] * gates.open * gates.closed);
    }
  }
}

const SimdGates SIMD_TABLE(Gates, THNN_SIMD_LEVEL) = {
    .gated = gated,
    .gatedBackward = gatedBackward,
    .gelu = gelu,
    .geluBackward = geluBackward,
    .geluTanh = geluTanh,
    .geluTanhBackward = geluTanhBackward,
    .silu = silu,
    .siluBackward = siluBackward,
};
