/* What the tests of modules share: the real type of the program, tensors from values, comparison.
 * Sizes stand in parentheses; values are repeated as often as needed:
 *
 *     Tensor *weight = TENSOR_OF((2, 3), 1);            all ones
 *     MODULE(Abs_updateOutput)(NULL, input, output);
 *     EXPECT(output, (2, 3), 1, 2, 3, 4, 5, 6);
 *     return finish();                                  frees all of them */
#ifndef MODULE_H
#define MODULE_H

#include <float.h>
#include <math.h>
#include <string.h>

#include <THNN.h>

#include "../check.h"

#if defined(TEST_REAL_FLOAT)
typedef float Real;
typedef THFloatTensor Tensor;
#  define TENSOR(NAME) THFloatTensor_##NAME
#  define MODULE(NAME) THNN_Float##NAME
static const double EPSILON = FLT_EPSILON;
#else
typedef double Real;
typedef THDoubleTensor Tensor;
#  define TENSOR(NAME) THDoubleTensor_##NAME
#  define MODULE(NAME) THNN_Double##NAME
static const double EPSILON = DBL_EPSILON;
#endif

/* How many roundings, each of half an epsilon, a value may be off by: the tests' sums have up to
 * eight terms, and an elementary function counts as eight. */
enum { ROUNDINGS = 16 };

typedef struct Numbers {
  int count;
  const double *values;
} Numbers;

#define NUMBERS(...)                                                                               \
  (Numbers)                                                                                        \
  {                                                                                                \
    (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (const double[])                      \
    {                                                                                              \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
#define TENSOR_OF(SIZES, ...) tensorOf(NUMBERS SIZES, NUMBERS(__VA_ARGS__))
#define INDICES_OF(SIZES, ...) indicesOf(NUMBERS SIZES, NUMBERS(__VA_ARGS__))
#define EXPECT(TENSOR, SIZES, ...)                                                                 \
  checkThat(hasValues(TENSOR, NUMBERS SIZES, NUMBERS(__VA_ARGS__)),                                \
            #TENSOR " is " #SIZES ": " #__VA_ARGS__, __FILE__, __LINE__)
#define EXPECT_INDICES(TENSOR, ...)                                                                \
  checkThat(hasIndices(TENSOR, NUMBERS(__VA_ARGS__)), #TENSOR " is " #__VA_ARGS__, __FILE__,       \
            __LINE__)

enum { MOST_TENSORS = 64, MOST_DIMENSIONS = 6 };
static Tensor *tensors[MOST_TENSORS];
static THLongTensor *indexTensors[MOST_TENSORS];
static int tensorCount, indexTensorCount;

static inline Tensor *emptyTensor(void)
{
  return tensors[tensorCount++] = TENSOR(new)();
}

static inline THLongTensor *emptyIndices(void)
{
  return indexTensors[indexTensorCount++] = THLongTensor_new();
}

static inline Tensor *tensorOf(Numbers sizes, Numbers numbers)
{
  int64_t size[MOST_DIMENSIONS];
  for (int d = 0; d < sizes.count; d++)
    size[d] = (int64_t)sizes.values[d];
  Tensor *tensor = emptyTensor();
  TENSOR(resizeNd)(tensor, sizes.count, size, NULL);
  for (int64_t i = 0; i < TENSOR(nElement)(tensor); i++)
    TENSOR(data)(tensor)[i] = (Real)numbers.values[i % numbers.count];
  return tensor;
}

static inline THLongTensor *indicesOf(Numbers sizes, Numbers numbers)
{
  int64_t size[MOST_DIMENSIONS];
  for (int d = 0; d < sizes.count; d++)
    size[d] = (int64_t)sizes.values[d];
  THLongTensor *tensor = emptyIndices();
  THLongTensor_resizeNd(tensor, sizes.count, size, NULL);
  for (int64_t i = 0; i < THLongTensor_nElement(tensor); i++)
    THLongTensor_data(tensor)[i] = (int64_t)numbers.values[i % numbers.count];
  return tensor;
}

/* Whether a tensor has this shape and these values. */
static inline int hasValues(const Tensor *tensor, Numbers sizes, Numbers numbers)
{
  if (TENSOR(nDimension)(tensor) != sizes.count || !TENSOR(isContiguous)(tensor))
    return 0;
  for (int d = 0; d < sizes.count; d++)
    if (TENSOR(size)(tensor, d) != (int64_t)sizes.values[d])
      return 0;
  for (int64_t i = 0; i < TENSOR(nElement)(tensor); i++) {
    const double wanted = numbers.values[i % numbers.count];
    const double limit = ROUNDINGS * EPSILON / 2 * (1 + fabs(wanted));
    if (!(fabs(TENSOR(data)(tensor)[i] - wanted) <= limit))
      return 0;
  }
  return 1;
}

static inline int hasIndices(const THLongTensor *tensor, Numbers numbers)
{
  if (THLongTensor_nElement(tensor) != numbers.count)
    return 0;
  for (int i = 0; i < numbers.count; i++)
    if (THLongTensor_data(tensor)[i] != (int64_t)numbers.values[i])
      return 0;
  return 1;
}

/* Frees all tensors; the exit status. */
static inline int finish(void)
{
  while (tensorCount > 0)
    TENSOR(free)(tensors[--tensorCount]);
  while (indexTensorCount > 0)
    THLongTensor_free(indexTensors[--indexTensorCount]);
  return checkResult();
}

#endif
