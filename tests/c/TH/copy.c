/* Copies: strided, transposed, reshaped, of every type. */

#include "real.h"

/* The value at n indices, found the slow way. */
static real at(const THTensor *tensor, const int64_t *index)
{
  ptrdiff_t offset = tensor->storageOffset;
  for (int d = 0; d < tensor->nDimension; d++)
    offset += index[d] * tensor->stride[d];
  return tensor->storage->data[offset];
}

/* Whether the elements of both tensors are the same in the order of their indices. */
static int sameElements(const THTensor *a, const THTensor *b)
{
  int64_t indexA[8] = {0}, indexB[8] = {0};
  for (int64_t left = THTensor_(nElement)(a); left > 0; left--) {
    if (at(a, indexA) != at(b, indexB))
      return 0;
    for (int d = a->nDimension - 1; d >= 0 && ++indexA[d] == a->size[d]; d--)
      indexA[d] = 0;
    for (int d = b->nDimension - 1; d >= 0 && ++indexB[d] == b->size[d]; d--)
      indexB[d] = 0;
  }
  return 1;
}

/* A tensor of 35 x 2 x 37 elements (more than one tile), its dimensions laid out in this order. */
static THTensor *newPermuted(int first, int second, int third, int first_value)
{
  const int64_t size[] = {35, 2, 37};
  int64_t stride[3];
  stride[third] = 1;
  stride[second] = size[third];
  stride[first] = size[third] * size[second];
  THTensor *tensor = THTensor_(newWithStorage3d)(NULL, 0, size[0], stride[0], size[1], stride[1],
                                                 size[2], stride[2]);
  countUp(tensor, first_value);
  return tensor;
}

static void testPermutations(void)
{
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      THTensor *to = newPermuted(orders[i][0], orders[i][1], orders[i][2], -5000);
      THTensor *from = newPermuted(orders[j][0], orders[j][1], orders[j][2], 7);
      THTensor_(copy)(to, from);
      CHECK(sameElements(to, from));
      CHECK(at(to, (int64_t[]){34, 1, 36}) == 7 + 35 * 2 * 37 - 1);
      THTensor_(free)(to);
      THTensor_(free)(from);
    }
  }
}

static void testGapsStay(void)
{
  THTensor *whole = newCounting(4, 5, 6);
  THTensor *part = THTensor_(newNarrow)(whole, 2, 1, 3);
  THTensor_(narrow)(part, NULL, 1, 2, 2);
  THTensor *source = newCounting(4, 2, 3);
  THTensor_(copy)(part, source);
  CHECK(sameElements(part, source));
  CHECK(THTensor_(get3d)(whole, 3, 1, 1) == 3 * 30 + 6 + 1);
  CHECK(THTensor_(get3d)(whole, 3, 2, 0) == 3 * 30 + 12);
  CHECK(THTensor_(get3d)(whole, 3, 2, 4) == 3 * 30 + 12 + 4);
  THTensor_(free)(source);
  THTensor_(free)(part);
  THTensor_(free)(whole);
}

static void testOtherSizes(void)
{
  THTensor *from = newPermuted(2, 0, 1, 1);
  THTensor *to = THTensor_(newWithStorage2d)(NULL, 3, 37, 71, 70, 1);
  THTensor_(copy)(to, from);
  CHECK(sameElements(to, from));
  THTensor_(resize2d)(to, 37, 69);
  CHECK_RAISES(THTensor_(copy)(to, from), "2553 elements is needed, this one has 2590");
  CHECK(checkArgument == 2);
  THTensor_(free)(to);
  THTensor_(free)(from);
}

static void testExpandedSource(void)
{
  THTensor *row = newCounting(1, 1, 40);
  THTensor *from = THTensor_(newWithStorage2d)(row->storage, 0, 50, 0, 40, 1);
  THTensor *to = THTensor_(newWithSize2d)(50, 40);
  THTensor_(copy)(to, from);
  CHECK(sameElements(to, from) && THTensor_(get2d)(to, 49, 39) == 39);
  THTensor_(transpose)(from, NULL, 0, 1);
  THTensor_(transpose)(to, NULL, 0, 1);
  countUp(to, 0);
  THTensor_(copy)(to, from);
  CHECK(sameElements(to, from));
  THTensor_(free)(row);
  THTensor_(free)(from);
  THTensor_(free)(to);
}

static void testSingleElementsAndNone(void)
{
  THTensor *one = newCounting(1, 1, 1);
  THTensor *other = THTensor_(newWithSize1d)(1);
  THTensor_(set1d)(other, 0, 9);
  THTensor_(copy)(one, other);
  CHECK(THTensor_(get3d)(one, 0, 0, 0) == 9);
  THTensor_(free)(one);
  one = THTensor_(new)();
  THTensor *empty = THTensor_(new)();
  THTensor_(copy)(one, empty);
  CHECK_RAISES(THTensor_(copy)(one, other), "0 elements is needed, this one has 1");
  THTensor_(free)(empty);
  THTensor_(free)(other);
  THTensor_(free)(one);
}

/* Dimensions of size 1 are no limit, however many. */
static void testManyDimensions(void)
{
  int64_t size[100], stride[100];
  for (int d = 0; d < 100; d++) {
    size[d] = 1;
    stride[d] = 1000 + d;
  }
  size[20] = 2;
  stride[20] = 1;
  size[80] = 3;
  stride[80] = 2;
  THTensor *to = THTensor_(new)(), *from = newCounting(1, 2, 3);
  THTensor_(resizeNd)(to, 100, size, stride);
  THTensor_(copy)(to, from);
  THTensor_(squeeze)(to, NULL);
  THTensor_(squeeze)(from, NULL);
  CHECK(THTensor_(equal)(to, from));
  THTensor_(free)(to);
  THTensor_(free)(from);
}

static void testTypes(void)
{
  THTensor *to = newPermuted(2, 1, 0, 0);
  THTensor *expected = newPermuted(0, 1, 2, -3);
  THFloatTensor *floats = THFloatTensor_newWithSize2d(70, 37);
  THDoubleTensor *doubles = THDoubleTensor_newWithSize2d(70, 37);
  THLongTensor *longs = THLongTensor_newWithSize2d(70, 37);
  THIntTensor *ints = THIntTensor_newWithSize2d(70, 37);
  for (int i = 0; i < 70 * 37; i++) {
    floats->storage->data[i] = (float)(i - 3);
    doubles->storage->data[i] = i - 3;
    longs->storage->data[i] = i - 3;
    ints->storage->data[i] = i - 3;
  }
  THTensor_(copyFloat)(to, floats);
  CHECK(sameElements(to, expected));
  countUp(to, 0);
  THTensor_(copyDouble)(to, doubles);
  CHECK(sameElements(to, expected));
  countUp(to, 0);
  THTensor_(copyLong)(to, longs);
  CHECK(sameElements(to, expected));
  countUp(to, 0);
  THTensor_(copyInt)(to, ints);
  CHECK(sameElements(to, expected));
  doubles->storage->data[0] = 2.75;
  THTensor_(copyDouble)(to, doubles);
  CHECK((double)at(to, (int64_t[]){0, 0, 0}) == ((real)0.5 == 0 ? 2 : 2.75));
  THDoubleTensor_resize1d(doubles, 3);
  CHECK_RAISES(THTensor_(copyDouble)(to, doubles), "this one has 3");
  THFloatTensor_free(floats);
  THDoubleTensor_free(doubles);
  THLongTensor_free(longs);
  THIntTensor_free(ints);
  THTensor_(free)(expected);
  THTensor_(free)(to);
}

int main(void)
{
  catchErrors();
  testPermutations();
  testGapsStay();
  testOtherSizes();
  testExpandedSource();
  testSingleElementsAndNone();
  testManyDimensions();
  testTypes();
  return checkResult();
}
