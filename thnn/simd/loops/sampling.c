/* Loops of sampling at points between the elements of a plane. Points can be anywhere: gathering
 * single elements into vectors takes longer than loading pairs of neighbours, above and below each
 * point, and shuffling the pairs of a few points. */
#include "simd/vector/vector.h"

enum { FEW = 16 / sizeof(real) };
typedef real Few __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));

static void locate(int64_t n, const real *grid, int64_t height, int64_t width, Points *points)
{
  const real halfWidth = (real)(width - 1) / 2, halfHeight = (real)(height - 1) / 2;
  const real lastColumn = (real)(width - 1), lastRow = (real)(height - 1);
  int32_t others = 0;
#pragma omp simd reduction(+ : others)
  for (int64_t i = 0; i < n; i++) {
    const real x = (grid[2 * i] + 1) * halfWidth, y = (grid[2 * i + 1] + 1) * halfHeight;
    /* Inside, neither x nor y is NaN or too large for an integer. */
    const bool inside = (x >= 0) & (y >= 0) & (x < lastColumn) & (y < lastRow);
    const int32_t column = (int32_t)(inside ? x : 0), row = (int32_t)(inside ? y : 0);
    const real right = x - (real)column, down = y - (real)row;
    points->place[i] = row * (int32_t)width + column;
    points->right[i] = right;
    points->down[i] = down;
    points->weight[0][i] = (1 - right) * (1 - down);
    points->weight[1][i] = right * (1 - down);
    points->weight[2][i] = (1 - right) * down;
    points->weight[3][i] = right * down;
    points->inside[i] = inside;
    others += !inside;
  }
  points->count = n;
  points->others = others;
}

/* The first and the second elements of some pairs of neighbours. */
typedef struct Pairs {
  Few first, second;
} Pairs;

INLINE Pairs loadPairs(const real *x, const int32_t *place)
{
#if defined(THNN_REAL_FLOAT)
  typedef double Pair __attribute__((aligned(sizeof(real)), may_alias));
  typedef double TwoPairs __attribute__((vector_size(16)));
  const TwoPairs lower = {*(const Pair *)(x + place[0]), *(const Pair *)(x + place[1])};
  const TwoPairs upper = {*(const Pair *)(x + place[2]), *(const Pair *)(x + place[3])};
  return (Pairs){__builtin_shufflevector((Few)lower, (Few)upper, 0, 2, 4, 6),
                 __builtin_shufflevector((Few)lower, (Few)upper, 1, 3, 5, 7)};
#else
  const Few lower = *(const Few *)(x + place[0]), upper = *(const Few *)(x + place[1]);
  return (Pairs){__builtin_shufflevector(lower, upper, 0, 2),
                 __builtin_shufflevector(lower, upper, 1, 3)};
#endif
}

INLINE Few few(const real *x)
{
  return *(const Few *)x;
}

static void sample(const Points *points, const real *x, int64_t width, real *y)
{
  const int32_t *place = points->place;
  const int64_t n = points->count;
  int64_t i = 0;
  for (; i + FEW <= n; i += FEW) {
    const Pairs above = loadPairs(x, place + i), below = loadPairs(x + width, place + i);
    *(Few *)(y + i) =
        (above.first * few(points->weight[0] + i) + above.second * few(points->weight[1] + i)) +
        (below.first * few(points->weight[2] + i) + below.second * few(points->weight[3] + i));
  }
  for (; i < n; i++) {
    const real *above = x + place[i], *below = above + width;
    y[i] = (above[0] * points->weight[0][i] + above[1] * points->weight[1][i]) +
           (below[0] * points->weight[2][i] + below[1] * points->weight[3][i]);
  }
}

static void addSlopes(const Points *points, const real *x, int64_t width, const real *gradient,
                      real *slopeX, real *slopeY)
{
  const int32_t *place = points->place;
  const int64_t n = points->count;
  int64_t i = 0;
  for (; i + FEW <= n; i += FEW) {
    const Few right = few(points->right + i), down = few(points->down + i), g = few(gradient + i);
    const Pairs above = loadPairs(x, place + i), below = loadPairs(x + width, place + i);
    *(Few *)(slopeX + i) +=
        g * ((above.second - above.first) * (1 - down) + (below.second - below.first) * down);
    *(Few *)(slopeY + i) +=
        g * ((below.first - above.first) * (1 - right) + (below.second - above.second) * right);
  }
  for (; i < n; i++) {
    const real right = points->right[i], down = points->down[i], g = gradient[i];
    const real *above = x + place[i], *below = above + width;
    slopeX[i] += g * ((above[1] - above[0]) * (1 - down) + (below[1] - below[0]) * down);
    slopeY[i] += g * ((below[0] - above[0]) * (1 - right) + (below[1] - above[1]) * right);
  }
}

static void spread(const Points *points, int64_t first, int64_t end, const real *gradient,
                   int64_t width, real *x)
{
  for (int64_t i = first; i < end; i++) {
    real *above = x + points->place[i], *below = above + width;
    const real g = gradient[i];
    above[0] += g * points->weight[0][i];
    above[1] += g * points->weight[1][i];
    below[0] += g * points->weight[2][i];
    below[1] += g * points->weight[3][i];
  }
}

const SimdSampling SIMD_TABLE(Sampling, THNN_SIMD_LEVEL) = {
    .locate = locate,
    .sample = sample,
    .addSlopes = addSlopes,
    .spread = spread,
};
