/* Loops over the elementary functions. */
#include "simd/vector/vector.h"

#include "simd/vector/elementary.h"

static void exponential(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
  const Bounds bounds = expBounds();
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realExpWithin(bounds, x[i]);
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
  const Bounds bounds = sigmoidBounds();
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realSigmoidWithin(bounds, x[i]);
}

static void logLogistic(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
  real power[STAGED];
  for (int64_t first = 0; first < n; first += STAGED, x += STAGED, y += STAGED) {
    const int64_t count = n - first < STAGED ? n - first : STAGED;
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
      power[i] = powerOfDistance(x[i]);
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
      y[i] = logSigmoidOf(x[i], power[i]);
  }
}

/* With the same bits at each level that has fused multiply-adds, which reproducible calls need. */
static void formulaTanh(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realTanh(x[i]);
}

const Map SIMD_TABLE(FormulaTanh, THNN_SIMD_LEVEL) = formulaTanh;

#if defined(__AVX512F__) && defined(THNN_REAL_FLOAT)
/* tanh of floats from tables in registers: half the instructions of realTanh, and errors of at most
 * 1.1 units in the last place. The exponent's three low bits and the mantissa's two high bits are
 * the number of an interval: those from 2 to 16 come first, then those from 1/16 to 2, of which the
 * first also has all smaller arguments. Row 0 has a point of each interval whose tanh is almost
 * exactly a float, row 1 that float; the others are coefficients of a polynomial in the distance
 * from the point, near-minimax fits of our own. */
enum { TANH_ROWS = 7, TANH_INTERVALS = 32 };
/* clang-format off */
static const float TANH[TANH_ROWS * TANH_INTERVALS] = {
    0x1.1f52p+1f, 0x1.6082fep+1f, 0x1.a0499p+1f, 0x1.e0081cp+1f, 0x1.2559b4p+2f, 0x1.646d5cp+2f,
    0x1.a4eff2p+2f, 0x1.db002ap+2f, 0x1.154246p+3f, 0, 0, 0, 0, 0x1.5ec544p-4f, 0x1.9f4ef8p-4f,
    0x1.dedf5p-4f, 0x1.206666p-3f, 0x1.5f5faep-3f, 0x1.a003bp-3f, 0x1.e1085cp-3f, 0x1.20b9a2p-2f,
    0x1.612324p-2f, 0x1.a056eap-2f, 0x1.df82fep-2f, 0x1.207342p-1f, 0x1.60ea36p-1f, 0x1.a08f1ep-1f,
    0x1.e0294ap-1f, 0x1.203abcp+0f, 0x1.613d5cp+0f, 0x1.9f714cp+0f, 0x1.e07af6p+0f,
    0x1.f4a16ep-1f, 0x1.fbdd8p-1f, 0x1.fe783cp-1f, 0x1.ff6f2ap-1f, 0x1.ffe4a2p-1f, 0x1.fffc3p-1f,
    0x1.ffff7ep-1f, 0x1.ffffe8p-1f, 0x1.fffffep-1f, 1, 1, 1, 0, 0x1.5dea64p-4f, 0x1.9de41ep-4f,
    0x1.dcb3cep-4f, 0x1.1e8236p-3f, 0x1.5bf758p-3f, 0x1.9a62a6p-3f, 0x1.d860bp-3f, 0x1.194f42p-2f,
    0x1.53c5f4p-2f, 0x1.8ad1e2p-2f, 0x1.bf4948p-2f, 0x1.055db2p-1f, 0x1.31eeap-1f, 0x1.57d7ap-1f,
    0x1.77eb42p-1f, 0x1.9e8536p-1f, 0x1.c3076cp-1f, 0x1.d99dep-1f, 0x1.e88eaap-1f,
    0x1.67c818p-5f, 0x1.078e84p-6f, 0x1.872e32p-8f, 0x1.21830ep-9f, 0x1.b5f4fap-12f,
    0x1.e81eb4p-15f, 0x1.041284p-17f, 0x1.7fed48p-20f, 0x1.fd4e66p-24f, 0, 0, 0, 1, 0x1.fc436ep-1f,
    0x1.fac5acp-1f, 0x1.f910a6p-1f, 0x1.f5fac6p-1f, 0x1.f1383cp-1f, 0x1.eb70fep-1f, 0x1.e4c2dap-1f,
    0x1.d95c1ep-1f, 0x1.c7a144p-1f, 0x1.b3e2aap-1f, 0x1.9e4fep-1f, 0x1.7a93e8p-1f, 0x1.4932c4p-1f,
    0x1.19163ep-1f, 0x1.d7fcecp-2f, 0x1.60ccep-2f, 0x1.cab9bp-3f, 0x1.278e72p-3f, 0x1.6e7f22p-4f,
    -0x1.5fc854p-5f, -0x1.0569b6p-6f, -0x1.85fbdcp-8f, -0x1.212ba8p-9f, -0x1.b573c2p-12f,
    -0x1.e7921p-15f, -0x1.03ce66p-17f, -0x1.7fbb9ap-20f, -0x1.00916ep-23f, 0, 0, 0, 0,
    -0x1.5b5cb8p-4f, -0x1.99aa42p-4f, -0x1.d63eb6p-4f, -0x1.18e6cp-3f, -0x1.51ebcep-3f,
    -0x1.89e828p-3f, -0x1.bf3f2cp-3f, -0x1.041454p-2f, -0x1.2e5d6ep-2f, -0x1.502018p-2f,
    -0x1.69f208p-2f, -0x1.82834ap-2f, -0x1.896852p-2f, -0x1.798992p-2f, -0x1.5a8aa6p-2f,
    -0x1.1da1f8p-2f, -0x1.9419dp-3f, -0x1.116676p-3f, -0x1.5db75ep-4f,
    0x1.c023e4p-6f, 0x1.56e2fp-7f, 0x1.026c1cp-8f, 0x1.80b5eap-10f, 0x1.20bc48p-12f, 0x1.4261bp-15f,
    0x1.574bdap-18f, 0x1.019eaap-20f, 0x1.67fc46p-24f, 0, 0, 0, -0x1.55551ap-2f, -0x1.4b6baep-2f,
    -0x1.477faep-2f, -0x1.430844p-2f, -0x1.3b012cp-2f, -0x1.2ec5c2p-2f, -0x1.20295p-2f,
    -0x1.0f983ap-2f, -0x1.e8404ap-3f, -0x1.96da32p-3f, -0x1.41fbdp-3f, -0x1.d86f9cp-4f,
    -0x1.b8a20cp-5f, 0x1.f352c2p-7f, 0x1.0899fp-4f, 0x1.846ddep-4f, 0x1.c69b6ep-4f, 0x1.962a1p-4f,
    0x1.34c47cp-4f, 0x1.a71458p-5f,
    -0x1.995168p-7f, -0x1.4eda3ep-8f, -0x1.021fbcp-9f, -0x1.83678ap-11f, -0x1.2cff74p-13f,
    -0x1.5176b6p-16f, -0x1.66cf24p-19f, -0x1.08e2a8p-21f, -0x1.61416cp-25f, 0, 0, 0, 0,
    0x1.d26b4cp-5f, 0x1.0dd4e4p-4f, 0x1.2be7fep-4f, 0x1.6b971ep-4f, 0x1.aeaeap-4f, 0x1.ed1622p-4f,
    0x1.124a86p-3f, 0x1.33574p-3f, 0x1.505fc4p-3f, 0x1.5c0cbcp-3f, 0x1.585228p-3f, 0x1.397e58p-3f,
    0x1.e70026p-4f, 0x1.45dad6p-4f, 0x1.627e2ep-5f, 0x1.ce6bfap-9f, -0x1.5daedep-6f,
    -0x1.9bf0aep-6f, -0x1.54e5b8p-6f,
    0x1.0460c2p-8f, 0x1.f685cep-10f, 0x1.943e9ep-11f, 0x1.32e308p-12f, 0x1.2167ecp-14f,
    0x1.3b10fcp-17f, 0x1.550fdep-20f, 0x1.67bd54p-23f, 0x1.4f67acp-27f, 0, 0, 0, 0x1.101ff6p-3f,
    0x1.3c84cep-4f, 0x1.d8503ep-4f, 0x1.84f2ap-3f, 0x1.cc06bap-4f, 0x1.a42026p-4f, 0x1.749ffcp-4f,
    0x1.416a1p-4f, 0x1.e4e5a6p-5f, 0x1.064422p-5f, 0x1.864fbcp-8f, -0x1.199836p-6f, -0x1.63e5cep-5f,
    -0x1.f82808p-5f, -0x1.00b604p-4f, -0x1.b2b4ccp-5f, -0x1.069856p-5f, -0x1.3968f4p-7f,
    0x1.700086p-10f, 0x1.2d7452p-8f,
};
/* clang-format on */

typedef struct Table {
  __m512 low, high;
} Table;

INLINE __m512 tableTanh(const Table *tables, __m512 x)
{
  const __m512i sign = _mm512_set1_epi32((int)SIGN_BIT);
  const __m512 a = (__m512)_mm512_andnot_si512(sign, (__m512i)x);
  /* With NaN in either operand the instruction returns the second, so NaN stays NaN. */
  const __m512 some = _mm512_min_ps(_mm512_set1_ps(0x1.fffffep3f), a);
  const __m512 within = _mm512_max_ps(_mm512_set1_ps(0x1p-4f), some);
  const __m512i interval = _mm512_srli_epi32((__m512i)within, MANTISSA_BITS - 2);
  __m512 row[TANH_ROWS];
  for (int r = 0; r < TANH_ROWS; r++)
    row[r] = _mm512_permutex2var_ps(tables[r].low, interval, tables[r].high);
  const __m512 distance = some - row[0];
  __m512 y = row[TANH_ROWS - 1];
  for (int r = TANH_ROWS - 2; r > 0; r--)
    y = _mm512_fmadd_ps(y, distance, row[r]);
  return (__m512)_mm512_or_si512((__m512i)y, _mm512_and_si512(sign, (__m512i)x));
}

static void hyperbolicTangent(int64_t n, const real *x, const real *parameters, real *y)
{
  (void)parameters;
  Table tables[TANH_ROWS];
  for (int r = 0; r < TANH_ROWS; r++)
    tables[r] = (Table){_mm512_loadu_ps(TANH + r * TANH_INTERVALS),
                        _mm512_loadu_ps(TANH + r * TANH_INTERVALS + LANES)};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    _mm512_storeu_ps(y + i, tableTanh(tables, _mm512_loadu_ps(x + i)));
  if (i < n) {
    const __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);
    _mm512_mask_storeu_ps(y + i, rest, tableTanh(tables, _mm512_maskz_loadu_ps(rest, x + i)));
  }
}
#else
#  define hyperbolicTangent formulaTanh
#endif

static void power(int64_t n, const real *x, const real *parameters, real *y)
{
  const Exponent exponent = exponentOf(parameters[0]);
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = realPower(x[i], exponent);
}

const SimdElementary SIMD_TABLE(Elementary, THNN_SIMD_LEVEL) = {
    .exp = exponential,
    .expm1 = exponentialMinus1,
    .log = logarithm,
    .log1p = logarithm1Plus,
    .sigmoid = logistic,
    .logSigmoid = logLogistic,
    .tanh = hyperbolicTangent,
    .power = power,
};
