/* Measures the error of the vectorised elementary functions against the C library's in a wider
 * type, at every instruction set that is compiled in and that the processor has, in units in the
 * last place of the result:
 *
 *     test_elementary_float          a sample of all floats
 *     test_elementary_float every    every float: three to ten minutes on two cores
 *     test_elementary_double [n]     n million numbers of all sizes, 1 unless given
 *
 * NaN, infinities and the sign of zero have to be right, and square roots in every bit.
 *
 * The C library would take half an hour for every float. So the vectorised doubles, which have a
 * test of their own, show first where an error may be larger than those before, and the C library
 * says what it is. Of each 128 neighbours it measures one anyway: an error that floats and doubles
 * have in common shows there. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "THNNSimd.h"
#include "simd/vector/template.h"

#include "reference.h"

#if defined(THNN_REAL_FLOAT)
typedef uint32_t Bits;
typedef double Wide;
#  define WIDE(NAME) NAME
enum { PRECISION = 24, LEAST_EXPONENT = -149, OVERFLOW_EXPONENT = 128 };
#else
typedef uint64_t Bits;
typedef long double Wide;
#  define WIDE(NAME) NAME##l
enum { PRECISION = 53, LEAST_EXPONENT = -1074, OVERFLOW_EXPONENT = 1024 };
#endif

static const double LARGEST_ERROR = 2.5;

static Wide softplusOf(Wide x)
{
  return (x > 0 ? x : 0) + WIDE(log1p)(WIDE(exp)(-WIDE(fabs)(x)));
}

static Wide expOf(Wide x, real parameter)
{
  (void)parameter;
  return WIDE(exp)(x);
}

static Wide expm1Of(Wide x, real parameter)
{
  (void)parameter;
  return WIDE(expm1)(x);
}

static Wide logOf(Wide x, real parameter)
{
  (void)parameter;
  return WIDE(log)(x);
}

static Wide log1pOf(Wide x, real parameter)
{
  (void)parameter;
  return WIDE(log1p)(x);
}

static Wide sigmoidOf(Wide x, real parameter)
{
  (void)parameter;
  return x < 0 ? WIDE(exp)(x) / (1 + WIDE(exp)(x)) : 1 / (1 + WIDE(exp)(-x));
}

static Wide logSigmoidOf(Wide x, real parameter)
{
  (void)parameter;
  return -softplusOf(-x);
}

static Wide tanhOf(Wide x, real parameter)
{
  (void)parameter;
  return WIDE(tanh)(x);
}

static Wide softPlusOf(Wide x, real beta)
{
  return softplusOf(x * beta) / beta;
}

static Wide eluOf(Wide x, real alpha)
{
  return x > 0 || x != x ? x : alpha * WIDE(expm1)(x);
}

static Wide powerOf(Wide x, real exponent)
{
  return WIDE(pow)(x, exponent);
}

typedef struct Level {
  const char *name;
  const SimdElementary *elementary;
  const SimdActivation *activation;
  const Reference *reference;
} Level;

#define DECLARE(LEVEL)                                                                             \
  extern const SimdElementary SIMD_TABLE(Elementary, LEVEL);                                       \
  extern const SimdActivation SIMD_TABLE(Activation, LEVEL)
#ifdef THNN_REAL_FLOAT
#  define REFERENCE(LEVEL) &reference_##LEVEL
#else
#  define REFERENCE(LEVEL) NULL
#endif
#define ROW(LEVEL)                                                                                 \
  {#LEVEL, &SIMD_TABLE(Elementary, LEVEL), &SIMD_TABLE(Activation, LEVEL), REFERENCE(LEVEL)}

DECLARE(baseline);
#ifdef TEST_AVX2
DECLARE(avx2);
#endif
#ifdef TEST_AVX512
DECLARE(avx512);
#endif

static const Level LEVELS[] = {
    ROW(baseline),
#ifdef TEST_AVX2
    ROW(avx2),
#endif
#ifdef TEST_AVX512
    ROW(avx512),
#endif
};

enum { MOST_LEVELS = 3, BLOCK = 4096, GROUP = 128 };

/* A function: its loop at a level, the parameters of the loop, and what it should give. */
typedef struct Function {
  const char *name;
  Map loop[MOST_LEVELS];
  real parameters[2];
  Wide (*exact)(Wide x, real parameter);
  ReferenceLoop reference; /* NULL: the C library measures all */
  double worst[MOST_LEVELS];
  real at[MOST_LEVELS];
} Function;

/* The distance between what was found and the exact result; huge for the wrong kind of result. */
static double errorOf(real found, Wide exact)
{
  const double wrong = 1e9;
  if (exact != exact)
    return found != found ? 0 : wrong;
  if (found != found)
    return wrong;
  if (exact == 0 || isinf(exact))
    return (Wide)found == exact && !signbit(found) == !signbit(exact) ? 0 : wrong;
  int exponent;
  WIDE(frexp)(exact, &exponent);
  if (exponent > OVERFLOW_EXPONENT + 1)
    return isinf(found) && !signbit(found) == !signbit(exact) ? 0 : wrong;
  if (exponent > OVERFLOW_EXPONENT)
    exponent = OVERFLOW_EXPONENT;
  int unit = exponent - PRECISION;
  if (unit < LEAST_EXPONENT)
    unit = LEAST_EXPONENT;
  /* Infinity stands where the next number would. */
  const Wide next = WIDE(copysign)(WIDE(ldexp)(1, OVERFLOW_EXPONENT), (Wide)found);
  const Wide value = isinf(found) ? next : (Wide)found;
  const Wide most = WIDE(ldexp)(1, OVERFLOW_EXPONENT);
  const Wide wanted = WIDE(fabs)(exact) > most ? WIDE(copysign)(most, exact) : exact;
  return (double)(WIDE(fabs)(value - wanted) / WIDE(ldexp)(1, unit));
}

/* Element i of the results at each level, by the C library. */
static void measure(Function *function, int levels, real x, real (*found)[BLOCK], int i)
{
  const Wide exact = function->exact((Wide)x, function->parameters[0]);
  for (int level = 0; level < levels; level++) {
    const double error = errorOf(found[level][i], exact);
    if (error > function->worst[level]) {
      function->worst[level] = error;
      function->at[level] = x;
    }
  }
}

/* All of a block, or what the reference does not clear of suspicion. */
static void measureBlock(Function *function, int levels, int n, const real *x)
{
  real found[MOST_LEVELS][BLOCK];
  for (int level = 0; level < levels; level++)
    function->loop[level](n, x, function->parameters, found[level]);
  if (!function->reference) {
    for (int i = 0; i < n; i++)
      measure(function, levels, x[i], found, i);
    return;
  }
  const double parameters[] = {(double)function->parameters[0], (double)function->parameters[1]};
  double wide[BLOCK], exact[BLOCK];
  const Reference *reference = LEVELS[levels - 1].reference;
  reference->widen(n, (const float *)x, wide);
  function->reference(n, wide, parameters, exact);
  for (int first = 0; first < n; first += GROUP) {
    bool all = false;
    for (int level = 0; level < levels && !all; level++) {
      const float *results = (const float *)found[level] + first;
      if (level > 0 && function->worst[level - 1] <= function->worst[level] &&
          !memcmp(results, found[level - 1] + first, GROUP * sizeof *results))
        continue;
      /* Half a unit is what rounding costs. */
      const double worst = function->worst[level] > 0.5 ? function->worst[level] : 0.5;
      all = reference->suspicious(GROUP, results, exact + first, worst);
    }
    if (all) {
      for (int i = first; i < first + GROUP; i++)
        measure(function, levels, x[i], found, i);
    } else {
      const int i = first + first / GROUP * 37 % GROUP; /* not the same in each group */
      measure(function, levels, x[i], found, i);
    }
  }
}

/* Takes over the larger errors of another measurement of the same function. */
static void merge(Function *into, const Function *from, int levels)
{
  for (int level = 0; level < levels; level++)
    if (from->worst[level] > into->worst[level]) {
      into->worst[level] = from->worst[level];
      into->at[level] = from->at[level];
    }
}

static real fromBits(Bits bits)
{
  real x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t mixed(uint64_t x)
{
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Number `index` of a sample: all bit patterns, and more of the sizes where functions bend. */
static real sampled(uint64_t index)
{
  static const double edges[] = {
      0,        -0.0,       INFINITY,   -INFINITY, NAN,           1,
      -1,       709.782,    709.7828,   -745.14,   -745.1,        -708.4,
      88.7228,  88.7229,    -103.97,    -103.98,   -87.33,        0.5625,
      -0.5625,  9.2,        -9.2,       19.1,      -19.1,         18,
      -18,      38,         -38,        0x1p-1022, 0x1p-126,      0x1p-149,
      0x1p-600, -0x1p-1022, 0.34657359, 0.6931,    1.41421356237, 0.707106781187,
      0x1p53,   0x1p24,     1e30,       -1e30,
  };
  const uint64_t count = sizeof edges / sizeof *edges;
  if (index < count)
    return (real)edges[index];
  const uint64_t random = mixed(index);
  const double unit = (double)(random >> 11) * 0x1p-53;
  switch (random % 8) {
  case 0:
  case 1:
    return fromBits((Bits)mixed(random));
  case 2:
    return (real)(unit * 2 - 1);
  case 3:
    return (real)(unit * 8 - 4);
  case 4:
    return (real)(unit * 80 - 40);
  case 5:
    return (real)(unit * 1500 - 750);
  case 6:
    return (real)(0.5 + unit);
  default:
    return (real)ldexp(unit - 0.5, -(int)(mixed(random) % 60));
  }
}

/* `total` numbers: sampled, or all bit patterns from 0. */
static void measureAll(Function *function, int levels, uint64_t total, bool every)
{
  const int64_t blocks = (int64_t)((total + BLOCK - 1) / BLOCK);
#pragma omp parallel
  {
    Function own = *function;
    real x[BLOCK];
#pragma omp for schedule(dynamic, 64)
    for (int64_t block = 0; block < blocks; block++) {
      const uint64_t first = (uint64_t)block * BLOCK;
      const int n = (int)(total - first < BLOCK ? total - first : BLOCK);
      if (every)
        for (int i = 0; i < n; i++)
          x[i] = fromBits((Bits)first + (Bits)i);
      else
        for (int i = 0; i < n; i++)
          x[i] = sampled(first + (uint64_t)i);
      measureBlock(&own, levels, n, x);
    }
#pragma omp critical
    merge(function, &own, levels);
  }
}

static bool report(const Function *function, int levels)
{
  bool good = true;
  printf("%-16s", function->name);
  for (int level = 0; level < levels; level++) {
    printf("  %s %.3f at %a", LEVELS[level].name, function->worst[level],
           (double)function->at[level]);
    good = good && function->worst[level] <= LARGEST_ERROR;
  }
  printf("%s\n", good ? "" : "  TOO LARGE");
  fflush(stdout);
  return good;
}

#define FUNCTION(NAME, TOPIC, MEMBER, EXACT, ...)                                                  \
  {                                                                                                \
    Function function = {.name = NAME, .parameters = {__VA_ARGS__}, .exact = EXACT};               \
    if (every)                                                                                     \
      function.reference = LEVELS[levels - 1].reference->loop(#MEMBER);                            \
    for (int level = 0; level < levels; level++)                                                   \
      function.loop[level] = LEVELS[level].TOPIC->MEMBER;                                          \
    measureAll(&function, levels, total, every);                                                   \
    good &= report(&function, levels);                                                             \
  }

/* A number whose root lies close to the middle m of two numbers: m^2 differs from it by a small
 * multiple of the square of m's last bit. `index` chooses the multiple and one of two such
 * numbers. */
static real withRootBetween(int64_t index)
{
  const uint64_t multiple =
      (uint64_t)(1 + 8 * (index / 2)); /* the square of an odd number is 1 + 8 n */
  uint64_t root = 1;                   /* the multiple's square root modulo 2^(bit + 1) */
  for (int bit = 3; bit < PRECISION + 2; bit++)
    if ((root * root - multiple) >> bit & 1)
      root += (uint64_t)1 << (bit - 1);
  const uint64_t leading = (uint64_t)1 << PRECISION;
  const uint64_t middle = ((index % 2 ? root : -root) & (leading - 1)) | leading;
  const Wide m = (Wide)middle / (Wide)leading;
  return (real)(m * m);
}

/* Square roots are rounded correctly, all of them: as by the C library. */
static bool rootsAreRounded(int levels, uint64_t total)
{
  uint64_t wrong[MOST_LEVELS] = {0};
  real wrongAt[MOST_LEVELS] = {0};
  for (uint64_t first = 0; first < total; first += BLOCK) {
    real x[BLOCK], found[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
      const uint64_t number = first + (uint64_t)i;
      x[i] = number % 2 ? sampled(number / 2)
                        : withRootBetween((int64_t)(number / 2) - (int64_t)(total / 4));
    }
    for (int level = 0; level < levels; level++) {
      LEVELS[level].activation->sqrt(BLOCK, x, NULL, found);
      for (int i = 0; i < BLOCK; i++) {
        const real exact = (real)sqrt((double)x[i]); /* of a float: rounding twice does no harm */
        const bool undefined = found[i] != found[i] && exact != exact;
        if (!undefined && memcmp(&found[i], &exact, sizeof exact) != 0) {
          wrong[level]++;
          wrongAt[level] = x[i];
        }
      }
    }
  }
  bool good = true;
  for (int level = 0; level < levels; level++)
    if (wrong[level] > 0) {
      printf("sqrt %s: %llu not rounded correctly, such as that of %a\n", LEVELS[level].name,
             (unsigned long long)wrong[level], (double)wrongAt[level]);
      good = false;
    }
  return good;
}

int main(int argc, char **argv)
{
  const bool every = sizeof(real) == sizeof(float) && argc > 1 && !strcmp(argv[1], "every");
  uint64_t total = (uint64_t)1 << 20;
  if (every)
    total = (uint64_t)1 << 32;
  else if (argc > 1)
    total *= (uint64_t)atoi(argv[1]);
  if (sizeof(Wide) == sizeof(real)) {
    printf("long double is double here: nothing to compare with\n");
    return 0;
  }
  const int compiled = (int)(sizeof LEVELS / sizeof *LEVELS), usable = (int)THNN_simdLevel() + 1;
  const int levels = compiled < usable ? compiled : usable;
  bool good = rootsAreRounded(levels, total < 1 << 22 ? total : 1 << 22);
  FUNCTION("exp", elementary, exp, expOf, 0)
  FUNCTION("expm1", elementary, expm1, expm1Of, 0)
  FUNCTION("log", elementary, log, logOf, 0)
  FUNCTION("log1p", elementary, log1p, log1pOf, 0)
  FUNCTION("sigmoid", elementary, sigmoid, sigmoidOf, 0)
  FUNCTION("logSigmoid", elementary, logSigmoid, logSigmoidOf, 0)
  FUNCTION("tanh", elementary, tanh, tanhOf, 0)
  FUNCTION("softPlus, 1", activation, softPlus, softPlusOf, 1, (real)INFINITY)
  FUNCTION("elu, 1", activation, elu, eluOf, 1)
  FUNCTION("power 1/3", elementary, power, powerOf, (real)(1.0 / 3))
  if (!every) {
    FUNCTION("power 1.5", elementary, power, powerOf, (real)1.5)
    FUNCTION("power 3", elementary, power, powerOf, 3)
    FUNCTION("power -2", elementary, power, powerOf, -2)
    FUNCTION("power 16", elementary, power, powerOf, 16)
    FUNCTION("power 0", elementary, power, powerOf, 0)
  }
  return !good;
}
