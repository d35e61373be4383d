/* Elementary functions of one real, for use inside vector loops: no branches, no tables, no calls,
 * so that a loop around them vectorises at every level. Largest errors in units in the last place,
 * as tests/c/simd/elementary.c measures them (every float; a large sample of doubles):
 *
 *   realExp 1.1, realExpm1 2, realLog 1, realLog1p 1, realTanh 1.3, realSigmoid 2.1,
 *   softplusOf 2.1, logSigmoidOf 2.1, realPower 1.5
 *
 * Zeros keep their sign where the function does; infinities and NaN are mapped as in C's math.h;
 * results below the normal range are denormal.
 *
 * Loops are compiled with contraction: a * b + c is one fused operation where the processor has it.
 * The stated errors hold either way: where a rounding error is recovered, the products are exact,
 * or exactMultiplyAdd is used.
 *
 * The polynomials are near-minimax fits of our own in the interval that the comment names.
 *
 * Operations of one element wait for each other, and a processor overlaps those of as many elements as
 * have room in what it looks ahead over. So loops over long functions are faster in stages, of which
 * each writes to an array what the next one reads, for STAGED elements at a time: on an AMD EPYC
 * (Zen 2) softplus takes 0.75 of the time in two stages. */
#ifndef THNN_SIMD_ELEMENTARY_H
#define THNN_SIMD_ELEMENTARY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "simd/vector/template.h"

#if defined(THNN_REAL_FLOAT)

typedef uint32_t RealBits;

#  define MANTISSA_BITS 23
#  define REAL_BIAS 127
#  define REAL_MAGIC 0x1.8p23f /* adding it rounds to an integer */
#  define REAL_MIN_NORMAL 0x1p-126f
#  define LN2_HIGH 0x1.62e4p-1f   /* its product with an exponent is exact */
#  define LN2_LOW 0x1.7f7d1cp-20f /* ln 2 - LN2_HIGH */
#  define LOG2_E 0x1.715476p0f
#  define EXP_OVERFLOW 88.75f     /* from here the result is infinite, … */
#  define EXP_UNDERFLOW (-104.f)  /* … zero */
#  define EXPM1_MINUS_ONE (-18.f) /* expm1 rounds to -1 */
#  define EXPM1_SAME 0x1p-26f     /* expm1 rounds to x */
#  define EXP_SHIFT 64            /* n + EXP_SHIFT is a normal exponent for n in [-150, 63] */
#  define EXP_UNSHIFT 0x1p-64f
#  define LOG_SHIFT 24
#  define LOG_SCALE 0x1p24f /* makes denormal numbers normal */
#  define SQRT_HALF_BITS 0x3f3504f3u
#  define TANH_SMALL 0.5625f
#  define TANH_ONE 9.25f   /* tanh rounds to 1, … */
#  define SIGMOID_ONE 18.f /* … the logistic function, too */
#  define SPLITTER 0x1.002p12f

/* (e^r - 1 - r) / r^2, |r| <= 0.3468, of r and r^2 */
#  define EXP_POLYNOMIAL(r, square)                                                                \
    ((0x1p-1f + r * 0x1.5554aep-3f) +                                                              \
     square * ((0x1.5554e2p-5f + r * 0x1.1228ep-7f) + square * 0x1.6d542ep-10f))
/* (log((1 + s) / (1 - s)) / s - 2) / s^2 in z = s^2, |s| <= 0.1716 */
#  define LOG_POLYNOMIAL(z) (0x1.55557ap-1f + z * (0x1.995ed6p-2f + z * 0x1.31e088p-2f))
/* the same, |s| <= 1/3 */
#  define WIDE_LOG_POLYNOMIAL(z)                                                                   \
    (0x1.555502p-1f + z * (0x1.99d208p-2f + z * (0x1.1ebd0ep-2f + z * 0x1.1ed7bep-2f)))
/* (tanh(x) / x - 1) / x^2 in z = x^2, |x| <= 0.5625 */
#  define TANH_POLYNOMIAL(z)                                                                       \
    (-0x1.555548p-2f +                                                                             \
     z * (0x1.110c68p-3f + z * (-0x1.b90844p-5f + z * (0x1.582abcp-6f + z * -0x1.94efdep-8f))))

#else

typedef uint64_t RealBits;

#  define MANTISSA_BITS 52
#  define REAL_BIAS 1023
#  define REAL_MAGIC 0x1.8p52
#  define REAL_MIN_NORMAL 0x1p-1022
#  define LN2_HIGH 0x1.62e42fefa38p-1
#  define LN2_LOW 0x1.ef35793c7673p-45
#  define LOG2_E 0x1.71547652b82fep0
#  define EXP_OVERFLOW 709.9
#  define EXP_UNDERFLOW (-746.)
#  define EXPM1_MINUS_ONE (-38.)
#  define EXPM1_SAME 0x1p-55
#  define EXP_SHIFT 512
#  define EXP_UNSHIFT 0x1p-512
#  define LOG_SHIFT 54
#  define LOG_SCALE 0x1p54
#  define SQRT_HALF_BITS 0x3fe6a09e667f3bcdu
#  define TANH_SMALL 0.5625
#  define TANH_ONE 19.25
#  define SIGMOID_ONE 38.0
#  define SPLITTER 0x1.0000002p27

#  define EXP_POLYNOMIAL(r, square)                                                                \
    (((0x1p-1 + r * 0x1.5555555555559p-3) +                                                        \
      square * (0x1.5555555555558p-5 + r * 0x1.111111110f647p-7)) +                                \
     square * square *                                                                             \
         (((0x1.6c16c16c14f72p-10 + r * 0x1.a01a01b00c49dp-13) +                                   \
           square * (0x1.a01a01adcdf8ap-16 + r * 0x1.71ddf7f395a34p-19)) +                         \
          square * square *                                                                        \
              ((0x1.27e4cb2c384c6p-22 + r * 0x1.af5f64215cc46p-26) +                               \
               square * 0x1.1f8d859c52633p-29)))
#  define LOG_POLYNOMIAL(z)                                                                        \
    (0x1.5555555555593p-1 +                                                                        \
     z * (0x1.999999997fb04p-2 +                                                                   \
          z * (0x1.249249421187dp-2 +                                                              \
               z * (0x1.c71c51f21108dp-3 +                                                         \
                    z * (0x1.74664342f88fbp-3 +                                                    \
                         z * (0x1.39a1525895fdep-3 + z * 0x1.2f0942bf3352dp-3))))))
#  define WIDE_LOG_POLYNOMIAL(z)                                                                   \
    (0x1.5555555555535p-1 +                                                                        \
     z * (0x1.99999999a06c1p-2 +                                                                   \
          z * (0x1.249249209110dp-2 +                                                              \
               z * (0x1.c71c741a06fc8p-3 +                                                         \
                    z * (0x1.745cb459ad0a6p-3 +                                                    \
                         z * (0x1.3b1dd3ac67ce3p-3 +                                               \
                              z * (0x1.10682ee648bf3p-3 +                                          \
                                   z * (0x1.efd18bf1f6e9bp-4 +                                     \
                                        z * (0x1.55cf5fd70fa55p-4 +                                \
                                             z * 0x1.5c5c1ab375b69p-3)))))))))
#  define TANH_POLYNOMIAL(z)                                                                       \
    (-0x1.5555555555445p-2 +                                                                       \
     z * (0x1.11111110fc786p-3 +                                                                   \
          z * (-0x1.ba1ba1a8cf67dp-5 +                                                             \
               z * (0x1.664f44e7fa478p-6 +                                                         \
                    z * (-0x1.226dc68c39683p-7 +                                                   \
                         z * (0x1.d6c346e0fed20p-9 +                                               \
                              z * (-0x1.7cd7e546a7cfap-10 +                                        \
                                   z * (0x1.2efe974617abdp-11 +                                    \
                                        z * (-0x1.b4e27df21beb7p-13 +                              \
                                             z * 0x1.a09b048927d5ap-15)))))))))

#endif

enum { STAGED = 128 }; /* with 512 elements loops were measured to take as long */

#define SIGN_BIT ((RealBits)1 << (MANTISSA_BITS == 23 ? 31 : 63))
#define MANTISSA_MASK (((RealBits)1 << MANTISSA_BITS) - 1)
#define ONE_BITS ((RealBits)REAL_BIAS << MANTISSA_BITS)

typedef union RealPattern {
  real value;
  RealBits bits;
} RealPattern;

INLINE RealBits bitsOf(real x)
{
  RealPattern pattern;
  pattern.value = x;
  return pattern.bits;
}

INLINE real realOf(RealBits bits)
{
  RealPattern pattern;
  pattern.bits = bits;
  return pattern.value;
}

INLINE real absolute(real x)
{
  return realOf(bitsOf(x) & ~SIGN_BIT);
}

/* `magnitude`, which is not negative, with the sign of x. */
INLINE real withSignOf(real magnitude, real x)
{
  return realOf(bitsOf(magnitude) | (bitsOf(x) & SIGN_BIT));
}

INLINE real realSqrt(real x)
{
#if defined(THNN_REAL_FLOAT)
  return sqrtf(x);
#else
  return sqrt(x);
#endif
}

/* e^x = 2^n (1 + result): x = n ln 2 + r, and the result is e^r - 1. *power is 2^(n + shift), which
 * has to be a normal number. Adding the magic number leaves the power's exponent in the low
 * bits. */
INLINE real expm1Reduced(real x, real shift, real *power)
{
  const real magic = REAL_MAGIC + REAL_BIAS + shift;
  const real rounded = x * LOG2_E + magic;
  const real n = rounded - magic;
  const real r = (x - n * LN2_HIGH) - n * LN2_LOW;
  *power = realOf(bitsOf(rounded) << MANTISSA_BITS);
  const real square = r * r;
  return square * EXP_POLYNOMIAL(r, square) + r;
}

/* 2^n for an integer n in the range of normal exponents. */
INLINE real powerOfTwo(real n)
{
  return realOf(bitsOf(n + (REAL_MAGIC + REAL_BIAS)) << MANTISSA_BITS);
}

INLINE real clamp(real x, real least, real most)
{
  const real y = x > most ? most : x;
  return y < least ? least : y;
}

/* What an argument is clamped to. Where GCC knows a bound, it computes what the function is there,
 * and chooses between results, where a minimum would do: a quarter more time for realExp. Loops
 * over nothing but such a function take the bounds from variables, whose values it does not
 * know. */
typedef struct Bounds {
  real least, most;
} Bounds;

#define EXP_BOUNDS {EXP_UNDERFLOW, EXP_OVERFLOW}
#define SIGMOID_BOUNDS {-SIGMOID_ONE, -EXP_UNDERFLOW}

INLINE Bounds expBounds(void)
{
  static const volatile Bounds bounds = EXP_BOUNDS;
  return (Bounds){bounds.least, bounds.most};
}

INLINE Bounds sigmoidBounds(void)
{
  static const volatile Bounds bounds = SIGMOID_BOUNDS;
  return (Bounds){bounds.least, bounds.most};
}

INLINE real realExpWithin(Bounds bounds, real x)
{
  /* The power's exponent is shifted up where x is negative, so that small powers stay normal, and
   * down otherwise, so that the largest does not overflow. */
  real power;
  const real p = expm1Reduced(clamp(x, bounds.least, bounds.most), x < 0 ? EXP_SHIFT : -1, &power);
  return (p * power + power) * (x < 0 ? EXP_UNSHIFT : 2);
}

INLINE real realExp(real x)
{
  return realExpWithin((Bounds)EXP_BOUNDS, x);
}

/* e^x for x <= 0, or a little above: cheaper than realExp. */
INLINE real realExpNegative(real x)
{
  real power;
  const real p = expm1Reduced(x < EXP_UNDERFLOW ? EXP_UNDERFLOW : x, EXP_SHIFT, &power);
  return (p * power + power) * EXP_UNSHIFT;
}

INLINE real realExpm1(real x)
{
  /* Half the result is computed first: 2^n itself may overflow where the result does not. */
  real half;
  const real p = expm1Reduced(clamp(x, EXPM1_MINUS_ONE, EXP_OVERFLOW), -1, &half);
  const real result = (half * p + (half - (real)0.5)) * 2;
  return absolute(x) < EXPM1_SAME ? x : result;
}

/* f - log(1 + f), for f in [sqrt(1/2) - 1, sqrt(2) - 1]. */
INLINE real logDefect(real f)
{
  const real s = f / (2 + f);
  const real z = s * s;
  return s * (f - z * LOG_POLYNOMIAL(z));
}

/* x = 2^n (1 + f) with f as logDefect wants it; x is normal and positive. */
INLINE real splitForLog(real x, real *n)
{
  const RealBits shifted = bitsOf(x) + (ONE_BITS - SQRT_HALF_BITS);
  const RealBits exponent = shifted >> MANTISSA_BITS;
  /* The exponent's bits become the low bits of the number 2^MANTISSA_BITS, which turns it into a
   * real. */
  const real base = (real)((RealBits)1 << MANTISSA_BITS);
  *n = realOf(exponent | bitsOf(base)) - (base + REAL_BIAS);
  return realOf((shifted & MANTISSA_MASK) + SQRT_HALF_BITS) - 1;
}

/* The logarithm of any x; `inside` is the result that holds if x is in (0, infinity). */
INLINE real logSpecial(real x, real inside)
{
  real y = x == (real)INFINITY ? x : inside;
  y = x == 0 ? -(real)INFINITY : y;
  return x >= 0 ? y : (real)NAN;
}

INLINE real realLog(real x)
{
  const real normal = x < REAL_MIN_NORMAL ? x * LOG_SCALE : x;
  real n;
  const real f = splitForLog(normal, &n);
  n = x < REAL_MIN_NORMAL ? n - LOG_SHIFT : n;
  return logSpecial(x, n * LN2_HIGH + (f - (logDefect(f) - n * LN2_LOW)));
}

INLINE real realLog1p(real x)
{
  /* 1 + x = sum + lost, exactly. */
  const real sum = 1 + x, added = sum - 1;
  const real lost = (x - added) + (1 - (sum - added));
  real n;
  const real f = splitForLog(sum, &n);
  /* Above 2^MANTISSA_BITS the loss is too small to matter, and its factor could be a denormal
   * number. */
  const real few = n > MANTISSA_BITS ? MANTISSA_BITS : n;
  const real loss = lost * powerOfTwo(-few) * (1 - f + f * f);
  const real result = n * LN2_HIGH + (f - (logDefect(f) - n * LN2_LOW - loss));
  return x == 0 ? x : logSpecial(sum, result);
}

/* log(1 + e), for e in [0, 1]. */
INLINE real log1pOfPower(real e)
{
  const real s = e / (2 + e);
  const real z = s * s;
  return e - s * (e - z * WIDE_LOG_POLYNOMIAL(z));
}

/* e^-|x|: the first stage of the two functions after this one. */
INLINE real powerOfDistance(real x)
{
  return realExpNegative(-absolute(x));
}

/* log(1 + e^x), of e^-|x|. */
INLINE real softplusOf(real x, real power)
{
  return (x > 0 ? x : 0) + log1pOfPower(power);
}

/* log(1 / (1 + e^-x)), likewise. */
INLINE real logSigmoidOf(real x, real power)
{
  return (x < 0 ? x : -(real)0) - log1pOfPower(power);
}

/* 1 / (1 + e^-x) */
INLINE real realSigmoidWithin(Bounds bounds, real x)
{
  /* Numerator and denominator are multiplied by EXP_UNSHIFT, so that no power in the range
   * overflows. */
  real power;
  const real p = expm1Reduced(clamp(-x, bounds.least, bounds.most), -EXP_SHIFT, &power);
  return EXP_UNSHIFT / ((p * power + EXP_UNSHIFT) + power);
}

INLINE real realSigmoid(real x)
{
  return realSigmoidWithin((Bounds)SIGMOID_BOUNDS, x);
}

INLINE real realTanh(real x)
{
  const real a = absolute(x);
  const real z = a * a;
  const real small = a + a * z * TANH_POLYNOMIAL(z);
  real power;
  const real p = expm1Reduced(2 * (a > TANH_ONE ? TANH_ONE : a), 0, &power);
  const real large = 1 - 2 / (power * p + (power + 1));
  return withSignOf(a < TANH_SMALL ? small : large, x);
}

/* a * b + c with one rounding, if the sum of the rounded product and c is exact, as it is in the
 * two remainders below. */
INLINE real exactMultiplyAdd(real a, real b, real c)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMA)
#  if defined(THNN_REAL_FLOAT)
  return __builtin_fmaf(a, b, c);
#  else
  return __builtin_fma(a, b, c);
#  endif
#else
  /* Without fused multiply-add, a and b are split into two parts each, whose products are exact
   * (Dekker, A Floating-Point Technique for Extending the Available Precision, 1971). */
  const real aTimes = SPLITTER * a, bTimes = SPLITTER * b;
  const real aHigh = aTimes - (aTimes - a), bHigh = bTimes - (bTimes - b);
  const real aLow = a - aHigh, bLow = b - bHigh;
  const real product = a * b;
  const real lost = ((aHigh * bHigh - product) + aHigh * bLow + aLow * bHigh) + aLow * bLow;
  return (product + c) + lost;
#endif
}

/* A finite exponent and what it means for zero, negative and infinite bases. */
typedef struct Exponent {
  real value, ofZero, ofInfinity;
  real negativeFactor; /* 1 when value is an integer, otherwise NaN */
  RealBits oddSign;    /* the sign bit when value is an odd integer */
} Exponent;

static inline Exponent exponentOf(real value)
{
  Exponent exponent;
  exponent.value = value;
  exponent.ofZero = value > 0 ? 0 : (real)INFINITY;
  exponent.ofInfinity = value > 0 ? (real)INFINITY : 0;
  const bool integer = value == (real)rint((double)value);
  exponent.negativeFactor = integer ? 1 : (real)NAN;
  exponent.oddSign = integer && fmod((double)value, 2) != 0 ? SIGN_BIT : 0;
  return exponent;
}

/* x^exponent. The error of the logarithm's last bits is multiplied by the exponent: the bound above
 * holds up to exponents of about 16. */
INLINE real realPower(real x, Exponent exponent)
{
  const real a = absolute(x);
  const real normal = a < REAL_MIN_NORMAL ? a * LOG_SCALE : a;
  real n;
  const real f = splitForLog(normal, &n);
  n = a < REAL_MIN_NORMAL ? n - LOG_SHIFT : n;

  /* log a = n ln 2 + 2 s + s^3 (…) as high + low, where s = f / (2 + f) is itself s + sLow. */
  const real u = 2 + f, uLow = f - (u - 2);
  const real s = f / u;
  const real sLow = (exactMultiplyAdd(-s, u, f) - s * uLow) / u;
  const real z = s * s;
  const real sum = n * LN2_HIGH + 2 * s;
  const real sumLow = 2 * s - (sum - n * LN2_HIGH);
  const real rest = sumLow + (2 * sLow + (s * z * LOG_POLYNOMIAL(z) + n * LN2_LOW));
  const real high = sum + rest, low = rest - (high - sum);

  /* The result is e to the power of the exponent times log a, which is again a sum of two parts, y
   * and yLow. */
  const real product = high * exponent.value;
  const real y = clamp(product, EXP_UNDERFLOW, EXP_OVERFLOW);
  const real yLow =
      y == product ? exactMultiplyAdd(high, exponent.value, -product) + low * exponent.value : 0;
  real power;
  const real p = expm1Reduced(y, y < 0 ? EXP_SHIFT : -1, &power);
  real result = (1 + (p + (yLow + p * yLow))) * power * (y < 0 ? EXP_UNSHIFT : 2);

  result = x < 0 ? result * exponent.negativeFactor : result;
  result = a == 0 ? exponent.ofZero : result;
  result = a == (real)INFINITY ? exponent.ofInfinity : result;
  result = realOf(bitsOf(result) | (bitsOf(x) & exponent.oddSign));
  result = x != x ? x : result;
  return exponent.value == 0 ? 1 : result;
}

#endif
