/* Arithmetic: strided operands, results that are operands, sums, sorting. */

#include "real.h"

#include <float.h>
#include <math.h>

#if defined(TH_REAL_IS_FLOAT)
static const double EPSILON = FLT_EPSILON;
#elif defined(TH_REAL_IS_DOUBLE)
static const double EPSILON = DBL_EPSILON;
#endif

/* Three views of other layouts with the same six values 0 … 5 as a 2 x 3 tensor. */
static THTensor *newMatrix(int layout)
{
  THTensor *tensor;
  if (layout == 0)
    tensor = THTensor_(newWithSize2d)(2, 3);
  else if (layout == 1)
    tensor = THTensor_(newWithStorage2d)(NULL, 1, 2, 1, 3, 2);
  else
    tensor = THTensor_(newWithStorage2d)(NULL, 2, 2, 9, 3, 3);
  countUp(tensor, 0);
  return tensor;
}

static int equals(const THTensor *tensor, const double *expected)
{
  for (int i = 0; i < 6; i++)
    if ((double)THTensor_(get2d)(tensor, i / 3, i % 3) != expected[i])
      return 0;
  return 1;
}

#define VALUES(...) ((double[]){__VA_ARGS__})

static void testElementwise(void)
{
  for (int i = 0; i < 27; i++) {
    THTensor *r = newMatrix(i % 3), *t = newMatrix(i / 3 % 3), *s = newMatrix(i / 9);
    THTensor_(fill)(r, 7);
    CHECK(equals(r, VALUES(7, 7, 7, 7, 7, 7)));
    THTensor_(zero)(r);
    CHECK(equals(r, VALUES(0, 0, 0, 0, 0, 0)));
    THTensor_(add)(r, t, 2);
    CHECK(equals(r, VALUES(2, 3, 4, 5, 6, 7)));
    THTensor_(sub)(r, t, 2);
    CHECK(equals(r, VALUES(-2, -1, 0, 1, 2, 3)));
    THTensor_(abs)(r, r);
    CHECK(equals(r, VALUES(2, 1, 0, 1, 2, 3)));
    THTensor_(mul)(r, r, 3);
    CHECK(equals(r, VALUES(6, 3, 0, 3, 6, 9)));
    THTensor_(cadd)(r, t, 10, s);
    CHECK(equals(r, VALUES(0, 11, 22, 33, 44, 55)));
    THTensor_(csub)(r, r, 10, s);
    CHECK(equals(r, VALUES(0, 1, 2, 3, 4, 5)));
    THTensor_(cmul)(r, t, s);
    CHECK(equals(r, VALUES(0, 1, 4, 9, 16, 25)));
    THTensor_(addcmul)(r, r, 2, t, s);
    CHECK(equals(r, VALUES(0, 3, 12, 27, 48, 75)));
    CHECK(THTensor_(sumall)(r) == 165 && THTensor_(dot)(t, s) == 55);
    CHECK(THTensor_(minall)(r) == 0 && THTensor_(maxall)(r) == 75);
    CHECK(THTensor_(equal)(t, s) && !THTensor_(equal)(r, s));
#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)
    THTensor_(div)(r, t, 2);
    CHECK(equals(r, VALUES(0, .5, 1, 1.5, 2, 2.5)));
    THTensor_(add)(s, s, 1);
    THTensor_(fill)(r, 12);
    THTensor_(cdiv)(r, r, s);
    THTensor_(mul)(r, r, 10);
    CHECK(fabs((double)THTensor_(get2d)(r, 1, 1) - 24) <= 2 * 24 * EPSILON);
    THTensor_(fill)(r, 1);
    THTensor_(addcdiv)(r, r, 4, t, r);
    CHECK(equals(r, VALUES(1, 5, 9, 13, 17, 21)));
    THTensor_(cmul)(r, t, t);
    THTensor_(sqrt)(r, r);
    CHECK(equals(r, VALUES(0, 1, 2, 3, 4, 5)));
    THTensor_(tanh)(r, t);
    CHECK(fabs((double)THTensor_(get2d)(r, 0, 1) - tanh(1)) <= 4 * EPSILON);
    THTensor_(sigmoid)(r, t);
    CHECK(fabs((double)THTensor_(get2d)(r, 0, 1) - 1 / (1 + exp(-1))) <= 4 * EPSILON);
#endif
    THTensor_(free)(r);
    THTensor_(free)(t);
    THTensor_(free)(s);
  }
}

static void testEmpty(void)
{
  THTensor *t = THTensor_(new)(), *r = THTensor_(new)();
  THLongTensor *longs = THLongTensor_new();
  THTensor_(fill)(t, 3);
  THTensor_(add)(r, t, 1);
  THTensor_(copy)(r, t);
  THTensor_(copyLong)(r, longs);
  CHECK(t->nDimension == 0 && r->nDimension == 0 && !r->storage && THTensor_(equal)(r, t));
  THLongTensor_free(longs);
  THTensor_(free)(r);
  THTensor_(free)(t);
}

static void testOperandSizes(void)
{
  THTensor *t = newMatrix(0), *r = THTensor_(new)(), *five = THTensor_(newWithSize1d)(5);
  CHECK_RAISES(THTensor_(cadd)(r, t, 1, five), "6 elements is needed, this one has 5");
  CHECK(checkArgument == 4 && r->nDimension == 0);
  CHECK_RAISES(THTensor_(cmul)(r, t, five), "6 elements");
  CHECK(checkArgument == 3);
  CHECK_RAISES(THTensor_(addcmul)(r, t, 1, t, five), "6 elements");
  CHECK(checkArgument == 5);
  CHECK_RAISES(THTensor_(dot)(t, five), "6 elements");
  CHECK_RAISES(THTensor_(maxall)(r), "empty tensor");
  CHECK(THTensor_(sumall)(r) == 0);
  THTensor_(add)(r, t, 1);
  CHECK(THTensor_(isSameSizeAs)(r, t));
  THTensor_(free)(five);
  THTensor_(free)(r);
  THTensor_(free)(t);
}

static void testAlongDimension(void)
{
  THTensor *t = newCounting(2, 3, 4);
  THTensor_(transpose)(t, NULL, 1, 2);
  THTensor *r = THTensor_(new)();
  THTensor_(sum)(r, t, 1, 0);
  CHECK(hasSizes(r, SIZES(2, 3)) && THTensor_(get2d)(r, 1, 2) == 20 + 21 + 22 + 23);
  THTensor_(sum)(r, t, 2, 1);
  CHECK(hasSizes(r, SIZES(2, 4, 1)) && THTensor_(get3d)(r, 1, 3, 0) == 15 + 19 + 23);
  THTensor_(sum)(r, t, 0, 1);
  CHECK(hasSizes(r, SIZES(1, 4, 3)) && THTensor_(get3d)(r, 0, 3, 1) == 7 + 19);
  CHECK_RAISES(THTensor_(sum)(r, t, 3, 0), "dimension 3");
  CHECK_RAISES(THTensor_(sum)(t, t, 0, 0), "itself");

  THTensor_(cumsum)(r, t, 1);
  CHECK(hasSizes(r, SIZES(2, 4, 3)) && THTensor_(get3d)(r, 1, 2, 1) == 16 + 17 + 18);
  THTensor_(cumsum)(t, t, 0);
  CHECK(THTensor_(get3d)(t, 1, 2, 1) == 6 + 18 && THTensor_(get3d)(t, 0, 2, 1) == 6);

  THTensor_(resize1d)(t, 4);
  THTensor_(fill)(t, 2);
  THTensor_(sum)(r, t, 0, 0);
  CHECK(hasSizes(r, SIZES(1)) && THTensor_(get1d)(r, 0) == 8);
  THTensor_(free)(r);
  THTensor_(free)(t);
}

static void testSort(void)
{
  static const int values[] = {5, 1, 4, 1, 5, 9, 2};
  static const int ascending[] = {1, 1, 2, 4, 5, 5, 9}, ascendingFrom[] = {2, 4, 7, 3, 1, 5, 6};
  static const int descending[] = {9, 5, 5, 4, 2, 1, 1}, descendingFrom[] = {6, 1, 5, 3, 7, 2, 4};
  THTensor *t = THTensor_(newWithStorage2d)(NULL, 0, 7, 2, 2, 1);
  for (int i = 0; i < 7; i++) {
    THTensor_(set2d)(t, i, 0, (real)values[i]);
    THTensor_(set2d)(t, i, 1, (real)-values[i]);
  }
  THTensor *r = THTensor_(new)();
  THLongTensor *from = THLongTensor_new();
  THTensor_(sort)(r, from, t, 0, 0);
  for (int i = 0; i < 7; i++) {
    CHECK(THTensor_(get2d)(r, i, 0) == (real)ascending[i]);
    CHECK(THLongTensor_get2d(from, i, 0) == ascendingFrom[i]);
    CHECK(THTensor_(get2d)(r, i, 1) == (real)-descending[i]);
    CHECK(THLongTensor_get2d(from, i, 1) == descendingFrom[i]);
  }
  THTensor_(sort)(t, from, t, 0, 1);
  for (int i = 0; i < 7; i++) {
    CHECK(THTensor_(get2d)(t, i, 0) == (real)descending[i]);
    CHECK(THLongTensor_get2d(from, i, 0) == descendingFrom[i]);
  }
  CHECK_RAISES(THTensor_(sort)(r, from, t, 2, 0), "dimension 2");
  CHECK(checkArgument == 4);
  THLongTensor_free(from);
  THTensor_(free)(r);
  THTensor_(free)(t);
}

static void testNaN(void)
{
#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)
  THTensor *t = newCounting(1, 1, 4), *r = THTensor_(new)();
  THLongTensor *from = THLongTensor_new();
  THTensor_(set3d)(t, 0, 0, 1, (real)NAN);
  CHECK(isnan(THTensor_(minall)(t)) && isnan(THTensor_(maxall)(t)));
  CHECK(!THTensor_(equal)(t, t));
  THTensor_(sort)(r, from, t, 2, 0);
  CHECK(THTensor_(get3d)(r, 0, 0, 2) == 3 && isnan(THTensor_(get3d)(r, 0, 0, 3)));
  THTensor_(sort)(r, from, t, 2, 1);
  CHECK(isnan(THTensor_(get3d)(r, 0, 0, 0)) && THTensor_(get3d)(r, 0, 0, 1) == 3);
  THLongTensor_free(from);
  THTensor_(free)(r);
  THTensor_(free)(t);
#endif
}

static void testVectors(void)
{
  real x[] = {1, 2, 3, 4, 5}, y[] = {2, 2, 4, 4, 5}, z[6] = {0, 0, 0, 0, 0, 77};
  THVector_(cadd)(z, x, y, 3, 5);
  CHECK(z[0] == 7 && z[4] == 20);
  THVector_(cmul)(z, x, y, 5);
  CHECK(z[2] == 12);
  THVector_(adds)(z, x, 2, 5);
  CHECK(z[2] == 5);
  THVector_(muls)(z, z, 2, 5);
  CHECK(z[2] == 10);
  THVector_(copy)(z, y, 5);
  CHECK(z[4] == 5);
#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)
  THVector_(divs)(z, y, 4, 5);
  CHECK(z[0] == (real)0.5);
  THVector_(cdiv)(z, x, y, 5);
  CHECK(z[2] == (real)0.75);
#endif
  THVector_(fill)(z, 8, 5);
  CHECK(z[0] == 8 && z[4] == 8 && z[5] == 77);
}

int main(void)
{
  catchErrors();
  testElementwise();
  testEmpty();
  testOperandSizes();
  testAlongDimension();
  testSort();
  testNaN();
  testVectors();
  return checkResult();
}
