/* Products of tensors against plain loops, for all layouts of the operands. */

#include "real.h"

#include <math.h>

/* A rows x columns matrix: by rows, by columns, with gaps in both directions; and, for operands
 * only, with rows that are the same or overlap. */
enum { LAYOUTS = 5, DISJOINT_LAYOUTS = 3 };

static THTensor *newMatrix(int64_t rows, int64_t columns, int layout, int first)
{
  int64_t rowStride[] = {columns + 1, 1, 2, 0, 1};
  int64_t columnStride[] = {1, rows, 2 * rows + 1, 1, 1};
  THTensor *tensor =
      THTensor_(newWithStorage2d)(NULL, 2, rows, rowStride[layout], columns, columnStride[layout]);
  countUp(tensor, first);
  return tensor;
}

static real at(const THTensor *tensor, int64_t row, int64_t column)
{
  return THTensor_(get2d)(tensor, row, column);
}

/* The layouts of a, b, t and r are the digits of one number. */
static void checkAddmm(int layouts, real beta, int64_t m, int64_t n, int64_t k)
{
  const int resultDigit = LAYOUTS * LAYOUTS * LAYOUTS;
  THTensor *a = newMatrix(m, k, layouts % LAYOUTS, -3);
  THTensor *b = newMatrix(k, n, layouts / LAYOUTS % LAYOUTS, -5);
  THTensor *t = newMatrix(m, n, layouts / LAYOUTS / LAYOUTS % LAYOUTS, 1);
  THTensor *r = newMatrix(m, n, layouts / resultDigit, 100);
  THTensor *expected = THTensor_(newClone)(t);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      real sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += at(a, i, l) * at(b, l, j);
      THTensor_(set2d)(expected, i, j, beta * at(t, i, j) + 2 * sum);
    }
  }
  if (beta == 0)
    THTensor_(fill)(t, (real)NAN);
  THTensor_(addmm)(r, beta, t, 2, a, b);
  CHECK(THTensor_(equal)(r, expected));
  THTensor_(free)(a);
  THTensor_(free)(b);
  THTensor_(free)(t);
  THTensor_(free)(r);
  THTensor_(free)(expected);
}

static void testAddmm(void)
{
  const int all = LAYOUTS * LAYOUTS * LAYOUTS * DISJOINT_LAYOUTS;
  for (int layouts = 0; layouts < all; layouts++)
    for (int i = 0; i < 3; i++) {
      checkAddmm(layouts, (real)i, 4, 3, 5);
      checkAddmm(layouts, (real)i, 1, 3, 5);
      checkAddmm(layouts, (real)i, 4, 1, 5);
      checkAddmm(layouts, (real)i, 4, 3, 1);
    }
}

static void testInPlace(void)
{
  THTensor *r = newMatrix(2, 2, 0, 1), *a = newMatrix(2, 2, 0, 1);
  THTensor_(addmm)(r, 1, r, 1, a, a);
  CHECK(at(r, 0, 0) == 1 + 7 && at(r, 1, 1) == 4 + 22);
  CHECK_RAISES(THTensor_(addmm)(a, 1, r, 1, a, r), "cannot be a factor");
  CHECK_RAISES(THTensor_(addmm)(r, 1, r, 1, a, r), "cannot be a factor");
  THTensor_(free)(r);
  THTensor_(free)(a);
}

static void testAddmv(void)
{
  for (int i = 0; i < LAYOUTS * 3 * 3; i++) {
    int increment = i / LAYOUTS % 3;
    real beta = (real)(i / LAYOUTS / 3);
    THTensor *matrix = newMatrix(4, 3, i % LAYOUTS, 1);
    THTensor *vector = THTensor_(newWithStorage1d)(NULL, 1, 3, increment);
    THTensor *t = THTensor_(newWithStorage1d)(NULL, 1, 4, 2), *r = THTensor_(new)();
    countUp(vector, 2);
    countUp(t, 10);
    THTensor *expected = THTensor_(newClone)(t);
    for (int row = 0; row < 4; row++) {
      real sum = 0;
      for (int column = 0; column < 3; column++)
        sum += at(matrix, row, column) * THTensor_(get1d)(vector, column);
      THTensor_(set1d)(expected, row, beta * THTensor_(get1d)(t, row) - sum);
    }
    THTensor_(addmv)(r, beta, t, -1, matrix, vector);
    CHECK(THTensor_(equal)(r, expected));
    THTensor_(addmv)(t, beta, t, -1, matrix, vector);
    CHECK(THTensor_(equal)(t, expected));
    THTensor_(free)(matrix);
    THTensor_(free)(vector);
    THTensor_(free)(expected);
    THTensor_(free)(t);
    THTensor_(free)(r);
  }
}

static void testAddr(void)
{
  THTensor *x = newMatrix(1, 4, 0, 1), *y = newMatrix(3, 1, 0, 5), *r = newMatrix(4, 3, 1, 0);
  THTensor_(select)(x, NULL, 0, 0);
  THTensor_(select)(y, NULL, 1, 0);
  THTensor_(addr)(r, 2, r, -1, x, y);
  CHECK(at(r, 0, 0) == -5 && at(r, 3, 2) == 2 * 11 - 4 * 7);
  THTensor_(fill)(r, (real)NAN);
  THTensor_(addr)(r, 0, r, 1, x, y);
  CHECK(at(r, 1, 2) == 14);
  THTensor_(free)(x);
  THTensor_(free)(y);
  THTensor_(free)(r);
}

static void testBaddbmm(void)
{
  THTensor *a = newCounting(3, 2, 4), *b = newCounting(3, 5, 4), *t = newCounting(3, 2, 5);
  THTensor *r = THTensor_(new)();
  THTensor_(transpose)(b, NULL, 1, 2);
  THTensor_(baddbmm)(r, 3, t, 1, a, b);
  for (int64_t i = 0; i < 3; i++) {
    THTensor *aMatrix = THTensor_(newSelect)(a, 0, i), *bMatrix = THTensor_(newSelect)(b, 0, i);
    THTensor *tMatrix = THTensor_(newSelect)(t, 0, i), *rMatrix = THTensor_(newSelect)(r, 0, i);
    THTensor_(addmm)(tMatrix, 3, tMatrix, 1, aMatrix, bMatrix);
    CHECK(THTensor_(equal)(tMatrix, rMatrix));
    THTensor_(free)(aMatrix);
    THTensor_(free)(bMatrix);
    THTensor_(free)(tMatrix);
    THTensor_(free)(rMatrix);
  }
  THTensor_(free)(a);
  THTensor_(free)(b);
  THTensor_(free)(t);
  THTensor_(free)(r);
}

static void testSizes(void)
{
  THTensor *a = newMatrix(2, 3, 0, 0), *b = newMatrix(4, 5, 0, 0), *r = THTensor_(new)();
  CHECK_RAISES(THTensor_(addmm)(r, 0, a, 1, a, b), "size [3 x 5] is needed, this one has size [4");
  CHECK(checkArgument == 6 && r->nDimension == 0);
  THTensor_(transpose)(b, NULL, 0, 1);
  THTensor_(resize2d)(b, 3, 5);
  CHECK_RAISES(THTensor_(addmm)(r, 0, a, 1, a, b), "size [2 x 5] is needed, this one has size [2");
  CHECK(checkArgument == 3);
  CHECK_RAISES(THTensor_(addmv)(r, 0, a, 1, a, b), "size [3] is needed");
  CHECK_RAISES(THTensor_(baddbmm)(r, 0, a, 1, a, b), "3 dimensions is needed");
  CHECK_RAISES(THTensor_(addr)(r, 0, a, 1, a, b), "1 dimensions is needed");
  THTensor_(free)(a);
  THTensor_(free)(b);
  THTensor_(free)(r);
}

int main(void)
{
  catchErrors();
  testAddmm();
  testInPlace();
  testAddmv();
  testAddr();
  testBaddbmm();
  testSizes();
  return checkResult();
}
