/* Random tensors: the elements are drawn in the order of their indices. */

#include "internal.h"

typedef double (*Distribution)(THGenerator *generator, double a, double b);

static void draw(THTensor *self, THGenerator *generator, Distribution distribution, double a,
                 double b)
{
  int64_t left = THTensor_(nElement)(self);
  real *data = THTensor_(data)(self);
  THCursor at;
  THTensor_(startCursor)(&at, self);
  while (left > 0) {
    int64_t run = at.left;
    for (int64_t i = 0; i < run; i++)
      data[at.offset + i * at.stride] = (real)distribution(generator, a, b);
    THCursor_advance(&at, run);
    left -= run;
  }
}

static double bernoulli(THGenerator *generator, double p, double unused)
{
  (void)unused;
  return THRandom_bernoulli(generator, p);
}

void THTensor_(bernoulli)(THTensor *self, THGenerator *generator, double p)
{
  draw(self, generator, bernoulli, p, 0);
}

static double geometric(THGenerator *generator, double p, double unused)
{
  (void)unused;
  return THRandom_geometric(generator, p);
}

void THTensor_(geometric)(THTensor *self, THGenerator *generator, double p)
{
  draw(self, generator, geometric, p, 0);
}

void THTensor_(randperm)(THTensor *result, THGenerator *generator, int64_t n)
{
  THArgCheck(n > 0, 3, "the number of elements must be positive, found %lld", (long long)n);
  THTensor_(resize1d)(result, n);
  real *r = THTensor_(data)(result);
  const int64_t stride = result->stride[0];
  for (int64_t i = 0; i < n; i++)
    r[i * stride] = (real)i;
  for (int64_t i = 0; i < n - 1; i++) {
    int64_t other = i + (int64_t)(THRandom_random(generator) % (uint64_t)(n - i));
    real value = r[i * stride];
    r[i * stride] = r[other * stride];
    r[other * stride] = value;
  }
}

#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)

void THTensor_(uniform)(THTensor *self, THGenerator *generator, double a, double b)
{
  draw(self, generator, THRandom_uniform, a, b);
}

void THTensor_(normal)(THTensor *self, THGenerator *generator, double mean, double stdv)
{
  draw(self, generator, THRandom_normal, mean, stdv);
}

static double exponential(THGenerator *generator, double lambda, double unused)
{
  (void)unused;
  return THRandom_exponential(generator, lambda);
}

void THTensor_(exponential)(THTensor *self, THGenerator *generator, double lambda)
{
  draw(self, generator, exponential, lambda, 0);
}

void THTensor_(cauchy)(THTensor *self, THGenerator *generator, double median, double sigma)
{
  draw(self, generator, THRandom_cauchy, median, sigma);
}

void THTensor_(logNormal)(THTensor *self, THGenerator *generator, double mean, double stdv)
{
  draw(self, generator, THRandom_logNormal, mean, stdv);
}

#endif
