/* Arithmetic on tensors of any strides: element by element, sums, extremes. */

#include "internal.h"

#include <math.h>

/* Raises an error about the operand, argument `position`, unless it has as many elements as the
 * tensor. */
static void checkCount(const THTensor *tensor, const THTensor *operand, int position)
{
  THArgCheck(THTensor_(nElement)(tensor) == THTensor_(nElement)(operand), position,
             "a tensor of %td elements is needed, this one has %td", THTensor_(nElement)(tensor),
             THTensor_(nElement)(operand));
}

/* ---- Element by element
 *
 * Each operation is a loop over a run of elements: tensor k's are data[k][i * stride[k]], i < n.
 * The strides are copied to local variables because the compiler must assume that an int64_t result
 * overlaps them. */

#define OPERANDS 4

typedef struct Run {
  int64_t n;
  real *data[OPERANDS];
  int64_t stride[OPERANDS];
  real value; /* the operation's scalar argument */
} Run;

typedef void (*Operation)(const Run *run);

/* Whether parts of the run may be computed in any order: it is dense, and no part of the result is
 * an operand of another part. */
static bool isDivisible(const Run *run, int count)
{
  for (int k = 0; k < count; k++)
    if (run->stride[k] != 1 || !THTensor_(areApart)(run->data[0], run->data[k], run->n))
      return false;
  return true;
}

/* Does the operation on a run, which threads share where that pays. */
static void share(Operation operation, const Run *run, int count)
{
  const int64_t bytes = run->n * count * (int64_t)sizeof(real);
  const int threads = THThreadsForBytes(bytes);
  if (threads == 1 || !isDivisible(run, count)) {
    operation(run);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int i = 0; i < threads; i++) {
    const int64_t begin = THShareBegin(run->n, i, threads);
    Run part = *run;
    part.n = THShareBegin(run->n, i + 1, threads) - begin;
    for (int k = 0; k < count; k++)
      part.data[k] += begin;
    operation(&part);
  }
}

/* Calls the operation for every run of the tensors, which have the same number of elements. */
static void walk(Operation operation, real value, int count, THTensor *const *tensors)
{
  int64_t left = THTensor_(nElement)(tensors[0]);
  if (left == 0)
    return;
  THCursor at[OPERANDS];
  for (int k = 0; k < count; k++)
    THTensor_(startCursor)(&at[k], tensors[k]);
  Run run = {.value = value};
  while (left > 0) {
    run.n = left;
    for (int k = 0; k < count; k++) {
      run.data[k] = THTensor_(data)(tensors[k]) + at[k].offset;
      run.stride[k] = at[k].stride;
      run.n = at[k].left < run.n ? at[k].left : run.n;
    }
    share(operation, &run, count);
    for (int k = 0; k < count; k++)
      THCursor_advance(&at[k], run.n);
    left -= run.n;
  }
}

/* Resizes the result, tensors[0], and computes it from the operands, which follow it. */
static void apply(Operation operation, real value, int count, THTensor *const *tensors)
{
  THTensor_(resizeAs)(tensors[0], tensors[1]);
  walk(operation, value, count, tensors);
}

static void fillRun(const Run *run)
{
  real *r = run->data[0];
  const real value = run->value;
  const int64_t n = run->n, rs = run->stride[0];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = value;
}

void THTensor_(fill)(THTensor *result, real value)
{
  walk(fillRun, value, 1, &result);
}

void THTensor_(zero)(THTensor *result)
{
  THTensor_(fill)(result, 0);
}

static void addRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1], value = run->value;
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = t[i * ts] + value;
}

void THTensor_(add)(THTensor *result, THTensor *tensor, real value)
{
  apply(addRun, value, 2, (THTensor *[]){result, tensor});
}

void THTensor_(sub)(THTensor *result, THTensor *tensor, real value)
{
  THTensor_(add)(result, tensor, -value);
}

static void mulRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1], value = run->value;
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = t[i * ts] * value;
}

void THTensor_(mul)(THTensor *result, THTensor *tensor, real value)
{
  apply(mulRun, value, 2, (THTensor *[]){result, tensor});
}

static void caddRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1], *s = run->data[2], value = run->value;
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1], ss = run->stride[2];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = t[i * ts] + value * s[i * ss];
}

void THTensor_(cadd)(THTensor *result, THTensor *tensor, real value, THTensor *source)
{
  checkCount(tensor, source, 4);
  apply(caddRun, value, 3, (THTensor *[]){result, tensor, source});
}

void THTensor_(csub)(THTensor *result, THTensor *tensor, real value, THTensor *source)
{
  THTensor_(cadd)(result, tensor, -value, source);
}

static void cmulRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1], *s = run->data[2];
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1], ss = run->stride[2];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = t[i * ts] * s[i * ss];
}

void THTensor_(cmul)(THTensor *result, THTensor *tensor, THTensor *source)
{
  checkCount(tensor, source, 3);
  apply(cmulRun, 0, 3, (THTensor *[]){result, tensor, source});
}

static void addcmulRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1], *s = run->data[2], *u = run->data[3], value = run->value;
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1], ss = run->stride[2],
                us = run->stride[3];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = t[i * ts] + value * s[i * ss] * u[i * us];
}

void THTensor_(addcmul)(THTensor *result, THTensor *tensor, real value, THTensor *source1,
                        THTensor *source2)
{
  checkCount(tensor, source1, 4);
  checkCount(tensor, source2, 5);
  apply(addcmulRun, value, 4, (THTensor *[]){result, tensor, source1, source2});
}

static void absRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1];
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = t[i * ts] > 0 ? t[i * ts] : 0 - t[i * ts];
}

void THTensor_(abs)(THTensor *result, THTensor *tensor)
{
  apply(absRun, 0, 2, (THTensor *[]){result, tensor});
}

#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)

static void divRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1], value = run->value;
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = t[i * ts] / value;
}

void THTensor_(div)(THTensor *result, THTensor *tensor, real value)
{
  apply(divRun, value, 2, (THTensor *[]){result, tensor});
}

static void cdivRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1], *s = run->data[2];
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1], ss = run->stride[2];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = t[i * ts] / s[i * ss];
}

void THTensor_(cdiv)(THTensor *result, THTensor *tensor, THTensor *source)
{
  checkCount(tensor, source, 3);
  apply(cdivRun, 0, 3, (THTensor *[]){result, tensor, source});
}

static void addcdivRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1], *s = run->data[2], *u = run->data[3], value = run->value;
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1], ss = run->stride[2],
                us = run->stride[3];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = t[i * ts] + value * s[i * ss] / u[i * us];
}

void THTensor_(addcdiv)(THTensor *result, THTensor *tensor, real value, THTensor *source1,
                        THTensor *source2)
{
  checkCount(tensor, source1, 4);
  checkCount(tensor, source2, 5);
  apply(addcdivRun, value, 4, (THTensor *[]){result, tensor, source1, source2});
}

static void sqrtRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1];
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = (real)sqrt(t[i * ts]);
}

void THTensor_(sqrt)(THTensor *result, THTensor *tensor)
{
  apply(sqrtRun, 0, 2, (THTensor *[]){result, tensor});
}

static void sigmoidRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1];
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = (real)(1 / (1 + exp(-(double)t[i * ts])));
}

void THTensor_(sigmoid)(THTensor *result, THTensor *tensor)
{
  apply(sigmoidRun, 0, 2, (THTensor *[]){result, tensor});
}

static void tanhRun(const Run *run)
{
  real *r = run->data[0];
  const real *t = run->data[1];
  const int64_t n = run->n, rs = run->stride[0], ts = run->stride[1];
  for (int64_t i = 0; i < n; i++)
    r[i * rs] = (real)tanh(t[i * ts]);
}

void THTensor_(tanh)(THTensor *result, THTensor *tensor)
{
  apply(tanhRun, 0, 2, (THTensor *[]){result, tensor});
}

#endif

/* ---- Over all elements */

accreal THTensor_(sumall)(THTensor *tensor)
{
  accreal sum = 0;
  const real *t = THTensor_(data)(tensor);
  int64_t left = THTensor_(nElement)(tensor);
  THCursor at;
  THTensor_(startCursor)(&at, tensor);
  while (left > 0) {
    int64_t run = at.left;
    for (int64_t i = 0; i < run; i++)
      sum += t[at.offset + i * at.stride];
    THCursor_advance(&at, run);
    left -= run;
  }
  return sum;
}

accreal THTensor_(dot)(THTensor *tensor, THTensor *source)
{
  checkCount(tensor, source, 2);
  accreal sum = 0;
  const real *t = THTensor_(data)(tensor), *s = THTensor_(data)(source);
  int64_t left = THTensor_(nElement)(tensor);
  THCursor atT, atS;
  THTensor_(startCursor)(&atT, tensor);
  THTensor_(startCursor)(&atS, source);
  while (left > 0) {
    int64_t run = THCursor_common(&atT, &atS);
    for (int64_t i = 0; i < run; i++)
      sum += (accreal)t[atT.offset + i * atT.stride] * s[atS.offset + i * atS.stride];
    THCursor_advance(&atT, run);
    THCursor_advance(&atS, run);
    left -= run;
  }
  return sum;
}

int THTensor_(equal)(THTensor *tensor, THTensor *other)
{
  if (!THTensor_(isSameSizeAs)(tensor, other))
    return 0;
  const real *t = THTensor_(data)(tensor), *o = THTensor_(data)(other);
  int64_t left = THTensor_(nElement)(tensor);
  THCursor atT, atO;
  THTensor_(startCursor)(&atT, tensor);
  THTensor_(startCursor)(&atO, other);
  while (left > 0) {
    int64_t run = THCursor_common(&atT, &atO);
    for (int64_t i = 0; i < run; i++)
      if (t[atT.offset + i * atT.stride] != o[atO.offset + i * atO.stride])
        return 0;
    THCursor_advance(&atT, run);
    THCursor_advance(&atO, run);
    left -= run;
  }
  return 1;
}

/* The largest element (sign 1) or the smallest (sign -1); NaN if there is one. */
static real extreme(THTensor *tensor, int sign)
{
  int64_t left = THTensor_(nElement)(tensor);
  THArgCheck(left > 0, 1, "an empty tensor has no smallest or largest element");
  const real *t = THTensor_(data)(tensor);
  real best = t[0];
  THCursor at;
  THTensor_(startCursor)(&at, tensor);
  while (left > 0) {
    int64_t run = at.left;
    for (int64_t i = 0; i < run; i++) {
      real x = t[at.offset + i * at.stride];
      if (isnan((double)x))
        return x;
      if (sign > 0 ? x > best : x < best)
        best = x;
    }
    THCursor_advance(&at, run);
    left -= run;
  }
  return best;
}

real THTensor_(minall)(THTensor *tensor)
{
  return extreme(tensor, -1);
}

real THTensor_(maxall)(THTensor *tensor)
{
  return extreme(tensor, 1);
}

/* ---- Along one dimension */

void THTensor_(sum)(THTensor *result, THTensor *tensor, int dimension, int keepDimension)
{
  THArgCheck(result != tensor, 1, "the result cannot be the tensor itself");
  THTensor_(checkDimension)(tensor, dimension, 3);
  THArgCheck(tensor->nDimension <= TH_CURSOR_DIMENSIONS, 2,
             "at most %d dimensions, this one has %d", TH_CURSOR_DIMENSIONS, tensor->nDimension);
  int64_t size[TH_CURSOR_DIMENSIONS];
  int n = 0;
  for (int d = 0; d < tensor->nDimension; d++) {
    if (d != dimension)
      size[n++] = tensor->size[d];
    else if (keepDimension || tensor->nDimension == 1)
      size[n++] = 1;
  }
  THTensor_(resizeNd)(result, n, size, NULL);

  real *r = THTensor_(data)(result);
  const real *t = THTensor_(data)(tensor);
  const int64_t length = tensor->size[dimension], stride = tensor->stride[dimension];
  int64_t left = THTensor_(nElement)(result);
  THCursor atR, atT;
  THTensor_(startCursor)(&atR, result);
  THTensor_(startLines)(&atT, tensor, dimension);
  for (; left > 0; left--) {
    accreal sum = 0;
    for (int64_t i = 0; i < length; i++)
      sum += t[atT.offset + i * stride];
    r[atR.offset] = (real)sum;
    THCursor_advance(&atR, 1);
    THCursor_advance(&atT, 1);
  }
}

void THTensor_(cumsum)(THTensor *result, THTensor *tensor, int dimension)
{
  THTensor_(checkDimension)(tensor, dimension, 3);
  THTensor_(resizeAs)(result, tensor);
  real *r = THTensor_(data)(result);
  const real *t = THTensor_(data)(tensor);
  const int64_t length = tensor->size[dimension];
  const int64_t rs = result->stride[dimension], ts = tensor->stride[dimension];
  int64_t left = THTensor_(nElement)(tensor) / length;
  THCursor atR, atT;
  THTensor_(startLines)(&atR, result, dimension);
  THTensor_(startLines)(&atT, tensor, dimension);
  for (; left > 0; left--) {
    accreal sum = 0;
    for (int64_t i = 0; i < length; i++) {
      sum += t[atT.offset + i * ts];
      r[atR.offset + i * rs] = (real)sum;
    }
    THCursor_advance(&atR, 1);
    THCursor_advance(&atT, 1);
  }
}
