/* Arithmetic and copies of large tensors, which threads share: the same bits for any number of
 * threads, and one thread where another does not pay or parts depend on each other. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "real.h"

#include <string.h>

#include "../regions.h"

enum { LARGE = (1 << 20) + 37, SMALL = 1 << 10 };

/* A tensor of n numbers between -10 and 10 out of a series that repeats after 191, from number
 * `first` on. */
static THTensor *newNumbers(int64_t n, int first)
{
  THTensor *tensor = THTensor_(newWithSize1d)(n);
  for (int64_t i = 0; i < n; i++)
    tensor->storage->data[i] = (real)((double)((i + first) % 191 - 95) / 9.5);
  return tensor;
}

typedef void (*Computation)(THTensor *result, THTensor *tensor, THTensor *operand);

static void fill(THTensor *result, THTensor *tensor, THTensor *operand)
{
  (void)tensor, (void)operand;
  THTensor_(fill)(result, 3);
}

static void zero(THTensor *result, THTensor *tensor, THTensor *operand)
{
  (void)tensor, (void)operand;
  THTensor_(zero)(result);
}

static void copy(THTensor *result, THTensor *tensor, THTensor *operand)
{
  (void)operand;
  THTensor_(copy)(result, tensor);
}

static void mul(THTensor *result, THTensor *tensor, THTensor *operand)
{
  (void)operand;
  THTensor_(mul)(result, tensor, (real)1.7);
}

static void cadd(THTensor *result, THTensor *tensor, THTensor *operand)
{
  THTensor_(cadd)(result, tensor, (real)1.7, operand);
}

static void mulInPlace(THTensor *result, THTensor *tensor, THTensor *operand)
{
  (void)operand;
  THTensor_(copy)(result, tensor);
  THTensor_(mul)(result, result, (real)1.7);
}

static const Computation COMPUTATIONS[] = {fill, zero, copy, mul, cadd, mulInPlace};

/* The parallel regions that a computation starts with a number of threads. */
static int regionsOf(Computation compute, int threads, THTensor *result, THTensor *tensor,
                     THTensor *operand)
{
  THSetNumThreads(threads);
  const int before = regions;
  compute(result, tensor, operand);
  return regions - before;
}

static void testLarge(void)
{
  THTensor *tensor = newNumbers(LARGE, 0), *operand = newNumbers(LARGE, 57);
  THTensor *expected = newNumbers(LARGE, 1), *result = newNumbers(LARGE, 2);
  for (size_t i = 0; i < sizeof COMPUTATIONS / sizeof *COMPUTATIONS; i++) {
    CHECK(regionsOf(COMPUTATIONS[i], 1, expected, tensor, operand) == 0);
    for (int threads = 2; threads <= 3; threads++) {
      memset(result->storage->data, 0x55, LARGE * sizeof(real));
      CHECK(regionsOf(COMPUTATIONS[i], threads, result, tensor, operand) > 0 || !COUNTS);
      CHECK(memcmp(result->storage->data, expected->storage->data, LARGE * sizeof(real)) == 0);
    }
  }
  THTensor_(free)(tensor);
  THTensor_(free)(operand);
  THTensor_(free)(expected);
  THTensor_(free)(result);
}

static void testSmall(void)
{
  THTensor *tensor = newNumbers(SMALL, 0), *operand = newNumbers(SMALL, 57);
  THTensor *result = newNumbers(SMALL, 2);
  for (size_t i = 0; i < sizeof COMPUTATIONS / sizeof *COMPUTATIONS; i++)
    CHECK(regionsOf(COMPUTATIONS[i], 3, result, tensor, operand) == 0);
  THTensor_(free)(tensor);
  THTensor_(free)(operand);
  THTensor_(free)(result);
}

/* In the callers' own regions each of them does all of its work. */
static void testNested(void)
{
  enum { CALLERS = 2 };
  THSetNumThreads(3);
  THTensor *tensor = newNumbers(LARGE, 0), *result[CALLERS];
  for (int i = 0; i < CALLERS; i++)
    result[i] = newNumbers(LARGE, 1);
  const int before = regions;
#pragma omp parallel for num_threads(CALLERS) schedule(static, 1)
  for (int i = 0; i < CALLERS; i++)
    THTensor_(copy)(result[i], tensor);
  CHECK(regions <= before + 1); /* that of this function */
  for (int i = 0; i < CALLERS; i++) {
    CHECK(THTensor_(equal)(result[i], tensor));
    THTensor_(free)(result[i]);
  }
  THTensor_(free)(tensor);
}

/* Where a part of the result is an operand of another part. */
static void testOverlapping(void)
{
  THTensor *numbers = newNumbers(LARGE, 0), *expected = newNumbers(LARGE - 1, 0);
  THTensor *after = THTensor_(newNarrow)(numbers, 0, 1, LARGE - 1);
  THTensor *before = THTensor_(newNarrow)(numbers, 0, 0, LARGE - 1);
  CHECK(regionsOf(copy, 3, after, before, NULL) == 0);
  CHECK(THTensor_(equal)(after, expected));
  CHECK(regionsOf(mul, 3, after, before, NULL) == 0);
  THTensor_(free)(after);
  THTensor_(free)(before);
  THTensor_(free)(numbers);
  THTensor_(free)(expected);
}

int main(void)
{
  catchErrors();
  testLarge();
  testSmall();
  testNested();
  testOverlapping();
  return checkResult();
}
