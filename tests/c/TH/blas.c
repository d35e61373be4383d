/* BLAS against plain loops: transpositions, leading dimensions, increments, empty sizes, and old
 * content that must not matter with beta 0. All numbers are small integers, so results are
 * exact. */

#include "real.h"

#include <limits.h>
#include <math.h>

enum { LENGTH = 40 * 40 };

static real a[LENGTH], b[LENGTH], c[LENGTH], expected[LENGTH];

/* Fills an array with small integers; different seeds give different ones. */
static void fill(real *x, int seed)
{
  for (int i = 0; i < LENGTH; i++)
    x[i] = (real)((i * 7 + seed * 11 + i / 9) % 13 - 6);
}

static int same(const real *x, const real *y)
{
  for (int i = 0; i < LENGTH; i++)
    if (x[i] != y[i] && !(isnan(x[i]) && isnan(y[i])))
      return 0;
  return 1;
}

/* Element (row, column) of a column-major matrix, which may be used transposed. */
static real element(const real *x, int leading, int transposed, int row, int column)
{
  return transposed ? x[column + row * leading] : x[row + column * leading];
}

/* ---- gemm */

typedef struct Gemm {
  int aTransposed, bTransposed, m, n, k, aExtra, bExtra, cExtra;
  real alpha, beta;
} Gemm;

static void checkGemm(Gemm g)
{
  int lda = (g.aTransposed ? g.k : g.m) + g.aExtra;
  int ldb = (g.bTransposed ? g.n : g.k) + g.bExtra;
  int ldc = g.m + g.cExtra;
  fill(a, 1);
  fill(b, 2);
  fill(c, 3);
  fill(expected, 3);
  for (int i = 0; i < g.m; i++) {
    for (int j = 0; j < g.n; j++) {
      real sum = 0;
      for (int l = 0; l < g.k; l++)
        sum += element(a, lda, g.aTransposed, i, l) * element(b, ldb, g.bTransposed, l, j);
      real *old = &expected[i + j * ldc];
      *old = g.alpha * sum + (g.beta == 0 ? 0 : g.beta * *old);
      if (g.beta == 0)
        c[i + j * ldc] = (real)NAN;
    }
  }
  THBlas_(gemm)(g.aTransposed ? 't' : 'n', g.bTransposed ? 'T' : 'N', g.m, g.n, g.k, g.alpha, a,
                lda, b, ldb, g.beta, c, ldc);
  if (!same(c, expected))
    printf("gemm: %d %d, %d x %d x %d, extra %d %d %d, alpha %g, beta %g\n", g.aTransposed,
           g.bTransposed, g.m, g.n, g.k, g.aExtra, g.bExtra, g.cExtra, (double)g.alpha,
           (double)g.beta);
  CHECK(same(c, expected));
}

static void testGemm(void)
{
  static const int sizes[][3] = {{3, 4, 5}, {1, 6, 4}, {6, 1, 4},  {6, 4, 1},
                                 {1, 1, 1}, {1, 1, 7}, {17, 9, 8}, {33, 5, 2},
                                 {4, 5, 0}, {0, 5, 4}, {5, 0, 4},  {0, 0, 0}};
  static const real betas[] = {0, 1, 2}, alphas[] = {1, -2, 0};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int i = 0; i < 4 * 2 * 9; i++)
      checkGemm((Gemm){i & 1, i >> 1 & 1, sizes[s][0], sizes[s][1], sizes[s][2], i >> 2 & 1,
                       (i >> 2 & 1) * 2, (i >> 2 & 1) * 3, alphas[i / 8 % 3], betas[i / 24]});
}

/* A matrix with a single column may have any leading dimension. */
static void testIgnoredLeadingDimensions(void)
{
  fill(a, 1);
  fill(b, 2);
  THBlas_(gemm)('n', 'n', 3, 1, 1, 1, a, 0, b, 0, 0, c, 0);
  CHECK(c[2] == a[2] * b[0]);
  THBlas_(gemm)('t', 't', 1, 3, 1, 1, a, 0, b, 3, 0, c, 1);
  CHECK(c[2] == a[0] * b[2]);
  THBlas_(gemv)('n', 3, 1, 1, a, 0, b, 0, 0, c, 1);
  CHECK(c[2] == a[2] * b[0]);
  THBlas_(axpy)(1, 2, a, 0, c, 0);
  CHECK(c[0] == a[0] * b[0] + 2 * a[0]);
}

/* ---- gemv, ger */

static void checkGemv(int transposed, int m, int n, int extra, int incx, int incy, real alpha,
                      real beta)
{
  int lda = m + extra;
  int xLength = transposed ? m : n, yLength = transposed ? n : m;
  fill(a, 1);
  fill(b, 2);
  fill(c, 3);
  fill(expected, 3);
  for (int i = 0; i < yLength; i++) {
    real sum = 0;
    for (int j = 0; j < xLength; j++)
      sum += element(a, lda, transposed, i, j) * b[j * incx];
    real *old = &expected[i * incy];
    *old = alpha * sum + (beta == 0 ? 0 : beta * *old);
    if (beta == 0)
      c[i * incy] = (real)NAN;
  }
  THBlas_(gemv)(transposed ? 't' : 'n', m, n, alpha, a, lda, b, incx, beta, c, incy);
  if (!same(c, expected))
    printf("gemv: %d, %d x %d, extra %d, increments %d %d, alpha %g, beta %g\n", transposed, m, n,
           extra, incx, incy, (double)alpha, (double)beta);
  CHECK(same(c, expected));
}

static void testGemv(void)
{
  static const int sizes[][2] = {{5, 4}, {1, 9}, {9, 1}, {1, 1}, {33, 18}, {0, 4}, {4, 0}};
  static const real betas[] = {0, 1, 2}, alphas[] = {1, -2, 0};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int i = 0; i < 16 * 9; i++)
      checkGemv(i & 1, sizes[s][0], sizes[s][1], (i >> 1 & 1) * 2, 1 + (i >> 2 & 1),
                1 + 2 * (i >> 3 & 1), alphas[i / 16 % 3], betas[i / 48]);
}

static void testGer(void)
{
  for (int i = 0; i < 8; i++) {
    int m = 7, n = 5, lda = m + (i & 1) * 2, incx = 1 + (i >> 1 & 1), incy = 1 + (i >> 2) * 2;
    fill(a, 1);
    fill(b, 2);
    fill(c, 3);
    fill(expected, 3);
    for (int row = 0; row < m; row++)
      for (int column = 0; column < n; column++)
        expected[row + column * lda] += 3 * a[row * incx] * b[column * incy];
    THBlas_(ger)(m, n, 3, a, incx, b, incy, c, lda);
    CHECK(same(c, expected));
  }
  THBlas_(ger)(0, 5, 1, a, 1, b, 1, c, 1);
  CHECK(same(c, expected));
}

/* ---- Vectors */

static void testVectors(void)
{
  for (int i = 0; i < 4; i++) {
    int incx = 1 + (i & 1), incy = 1 + (i >> 1) * 2, n = 21;
    real sum = 0;
    fill(a, 1);
    fill(c, 3);
    fill(expected, 3);
    for (int j = 0; j < n; j++) {
      sum += a[j * incx] * c[j * incy];
      expected[j * incy] += 2 * a[j * incx];
    }
    CHECK(THBlas_(dot)(n, a, incx, c, incy) == sum);
    THBlas_(axpy)(n, 2, a, incx, c, incy);
    CHECK(same(c, expected));

    for (int j = 0; j < n; j++)
      expected[j * incy] *= -3;
    THBlas_(scal)(n, -3, c, incy);
    CHECK(same(c, expected));

    fill(b, 4);
    for (int j = 0; j < n; j++)
      expected[j * incy] = b[j * incx];
    THBlas_(copy)(n, b, incx, c, incy);
    CHECK(same(c, expected));

    for (int j = 0; j < n; j++)
      expected[j * incy] = a[j * incx];
    THBlas_(swap)(n, a, incx, c, incy);
    CHECK(same(c, expected) && a[20 * incx] == b[20 * incx]);
  }
  fill(c, 3);
  fill(expected, 3);
  THBlas_(axpy)(0, 2, a, 1, c, 1);
  CHECK(THBlas_(dot)(0, a, 1, c, 1) == 0 && same(c, expected));
}

/* ---- What the library must not see */

static void testRejected(void)
{
  const int64_t large = (int64_t)INT_MAX + 1;
  CHECK_RAISES(THBlas_(axpy)(large, 1, a, 1, c, 1), "2147483648 does not fit");
  CHECK(checkArgument == 1);
  CHECK_RAISES(THBlas_(dot)(2, a, 1, c, large), "does not fit");
  CHECK(checkArgument == 5);
  CHECK_RAISES(THBlas_(gemm)('n', 'n', 2, 2, large, 1, a, 2, b, large, 0, c, 2), "does not fit");
  CHECK(checkArgument == 5);
  CHECK_RAISES(THBlas_(gemv)('n', 2, 2, 1, a, large, b, 1, 0, c, 1), "does not fit");
  CHECK(checkArgument == 6);
  CHECK_RAISES(THBlas_(gemm)('n', 'n', 3, 2, 2, 1, a, 2, b, 2, 0, c, 3), "number of rows (3)");
  CHECK(checkArgument == 8);
  CHECK_RAISES(THBlas_(gemm)('n', 't', 3, 2, 2, 1, a, 3, b, 1, 0, c, 3), "number of rows (2)");
  CHECK(checkArgument == 10);
  CHECK_RAISES(THBlas_(ger)(3, 2, 1, a, 1, b, 1, c, 2), "number of rows (3)");
  CHECK(checkArgument == 9);
  CHECK_RAISES(THBlas_(gemm)('x', 'n', 1, 1, 1, 1, a, 1, b, 1, 0, c, 1), "'n' or 't', not 'x'");
  CHECK_RAISES(THBlas_(scal)(-1, 1, a, 1), "negative (-1)");
  CHECK_RAISES(THBlas_(axpy)(2, 1, a, 0, c, 1), "increment cannot be 0");
  CHECK(checkArgument == 4);
}

int main(void)
{
  catchErrors();
  testGemm();
  testIgnoredLeadingDimensions();
  testGemv();
  testGer();
  testVectors();
  testRejected();
  return checkResult();
}
