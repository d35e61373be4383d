/* Mixtures of normal distributions in the plane, for rows of centres. Element by element, what
 * belongs to a row is spread over a tile first, so that short rows fill vectors too. */
#include "simd/vector/template.h"

#include "simd/vector/elementary.h"

#include <float.h>

enum {
  TOGETHER = 256, /* elements of a tile */
  SUMS = 8        /* running sums of a row: element i goes to sum i % SUMS */
};

/* The lowest weight that has a logarithm of its own. */
#if defined(THNN_REAL_FLOAT)
#  define LOWEST_WEIGHT FLT_MIN
#else
#  define LOWEST_WEIGHT DBL_MIN
#endif

#define LOG_2_PI ((real)0x1.d67f1c864beb5p+0) /* log(2 pi) */

/* An element's own numbers: the distances from a centre in deviations, and what the correlation
 * leaves of them. */
typedef struct Placed {
  real z1, z2, correlation;
  real towards1, towards2; /* minus the derivatives of the density's logarithm by z1 and z2 */
} Placed;

/* y = of[i / centres] for `rows` rows that begin with the first one of `of` */
static void spread(int64_t rows, int64_t centres, const real *of, int64_t step, real *y)
{
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < centres; c++)
      y[r * centres + c] = of[r * step];
}

INLINE Placed place(const MixtureOperands *of, int64_t i, real x1, real x2)
{
  Placed p;
  const real correlation = of->correlation[i];
  const real scale = 1 / ((1 - correlation) * (1 + correlation));
  p.correlation = correlation;
  p.z1 = (x1 - of->mean1[i]) / of->std1[i];
  p.z2 = (x2 - of->mean2[i]) / of->std2[i];
  p.towards1 = (p.z1 - correlation * p.z2) * scale;
  p.towards2 = (p.z2 - correlation * p.z1) * scale;
  return p;
}

/* share = the logarithm of a centre's part of the density, without the factor 1 / (2 pi) */
static void densities(int64_t n, const MixtureOperands *of, const real *x1, const real *x2,
                      real *share)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const Placed p = place(of, i, x1[i], x2[i]);
    const real weight = of->weight[i] < LOWEST_WEIGHT ? LOWEST_WEIGHT : of->weight[i];
    const real rest = (1 - p.correlation) * (1 + p.correlation);
    const real width = of->std1[i] * of->std2[i] * realSqrt(rest);
    const real distance = p.z1 * p.towards1 + p.z2 * p.towards2;
    share[i] = (realLog(weight) - realLog(width)) - distance / 2;
  }
}

static real greatestOf(int64_t n, const real *x)
{
  real best = x[0];
  for (int64_t i = 1; i < n; i++)
    best = x[i] > best ? x[i] : best;
  return best;
}

static real sumOf(int64_t n, const real *x)
{
  double sums[SUMS] = {0};
  int64_t i = 0;
  for (; i + SUMS <= n; i += SUMS)
#pragma omp simd
    for (int s = 0; s < SUMS; s++)
      sums[s] += x[i + s];
  for (int s = 0; i + s < n; s++)
    sums[s] += x[i + s];
  double sum = 0;
  for (int s = 0; s < SUMS; s++)
    sum += sums[s];
  return (real)sum;
}

/* share = e^(share - of[i]) */
static void powers(int64_t n, const real *of, real *share)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    share[i] = realExpNegative(share[i] - of[i]);
}

/* The operands of element `at` on. */
static MixtureOperands operandsAt(const MixtureOperands *of, int64_t at)
{
  return (MixtureOperands){of->x1,         of->x2,        of->weight + at, of->mean1 + at,
                           of->mean2 + at, of->std1 + at, of->std2 + at,   of->correlation + at};
}

/* A piece of the rows: all rows, or a piece of one that is longer than a tile. */
typedef struct Piece {
  int64_t rows, centres, at; /* `at` is its first element */
} Piece;

static Piece pieceAt(int64_t rows, int64_t centres, int64_t at)
{
  const int64_t rest = centres - at;
  return (Piece){rows, rows > 1 || rest < TOGETHER ? rest : TOGETHER, at};
}

/* share = the density's parts without a common factor; most = the logarithm of that, total = the
 * sums of rows */
static void sharesOf(int64_t rows, int64_t centres, const MixtureOperands *of, real *share,
                     real *most, real *total)
{
  real tile1[TOGETHER], tile2[TOGETHER];
  Piece p = {0};
  for (int64_t at = 0; at < centres; at += p.centres) {
    p = pieceAt(rows, centres, at);
    spread(p.rows, p.centres, of->x1, 1, tile1);
    spread(p.rows, p.centres, of->x2, 1, tile2);
    const MixtureOperands here = operandsAt(of, p.at);
    densities(p.rows * p.centres, &here, tile1, tile2, share + p.at);
  }
  for (int64_t r = 0; r < rows; r++)
    most[r] = greatestOf(centres, share + r * centres);
  for (int64_t at = 0; at < centres; at += p.centres) {
    p = pieceAt(rows, centres, at);
    spread(p.rows, p.centres, most, 1, tile1);
    powers(p.rows * p.centres, tile1, share + p.at);
  }
  for (int64_t r = 0; r < rows; r++)
    total[r] = sumOf(centres, share + r * centres);
}

static void forward(int64_t rows, int64_t centres, const MixtureOperands *of, real *share,
                    real *loss)
{
  real most[TOGETHER], total[TOGETHER], tile[TOGETHER];
  sharesOf(rows, centres, of, share, most, total);
#pragma omp simd
  for (int64_t r = 0; r < rows; r++) {
    loss[r] = LOG_2_PI - most[r] - realLog(total[r]);
    total[r] = 1 / total[r];
  }
  Piece p = {0};
  for (int64_t at = 0; at < centres; at += p.centres) {
    p = pieceAt(rows, centres, at);
    spread(p.rows, p.centres, total, 1, tile);
    real *part = share + p.at;
#pragma omp simd
    for (int64_t i = 0; i < p.rows * p.centres; i++)
      part[i] *= tile[i];
  }
}

/* What belongs to the row of each element of a tile. */
typedef struct Spread {
  real x1[TOGETHER], x2[TOGETHER], gradient[TOGETHER], factor[TOGETHER];
} Spread;

/* The gradients of n elements. */
static void gradients(int64_t n, const MixtureOperands *of, const Spread *row, const real *part,
                      const MixtureGradients *to)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const Placed p = place(of, i, row->x1[i], row->x2[i]);
    const real share = part[i] * row->factor[i];
    const real product1 = p.z1 * p.towards1, product2 = p.z2 * p.towards2;
    const real distance = product1 + product2;
    to->weight[i] = row->gradient[i] * of->weight[i] - share;
    to->mean1[i] = -share * p.towards1 / of->std1[i];
    to->mean2[i] = -share * p.towards2 / of->std2[i];
    to->std1[i] = share - share * product1;
    to->std2[i] = share - share * product2;
    to->correlation[i] = -share * (p.z1 * p.z2 + p.correlation * (1 - distance));
  }
}

static real *orElse(real *wanted, int64_t at, real *unused)
{
  return wanted ? wanted + at : unused;
}

static void backward(int64_t rows, int64_t centres, const MixtureOperands *of,
                     const real *gradOutput, int64_t step, real *share, const MixtureGradients *to)
{
  real most[TOGETHER], factor[TOGETHER], unused[TOGETHER];
  Spread row;
  sharesOf(rows, centres, of, share, most, factor);
  for (int64_t r = 0; r < rows; r++)
    factor[r] = gradOutput[r * step] / factor[r];
  Piece p = {0};
  for (int64_t at = 0; at < centres; at += p.centres) {
    p = pieceAt(rows, centres, at);
    spread(p.rows, p.centres, of->x1, 1, row.x1);
    spread(p.rows, p.centres, of->x2, 1, row.x2);
    spread(p.rows, p.centres, gradOutput, step, row.gradient);
    spread(p.rows, p.centres, factor, 1, row.factor);
    const MixtureOperands here = operandsAt(of, p.at);
    const MixtureGradients there = {
        orElse(to->weight, p.at, unused), orElse(to->mean1, p.at, unused),
        orElse(to->mean2, p.at, unused),  orElse(to->std1, p.at, unused),
        orElse(to->std2, p.at, unused),   orElse(to->correlation, p.at, unused)};
    gradients(p.rows * p.centres, &here, &row, share + p.at, &there);
  }
}

const SimdMixture SIMD_TABLE(Mixture, THNN_SIMD_LEVEL) = {
    .together = TOGETHER,
    .forward = forward,
    .backward = backward,
};
