/* Random numbers: the sequences of MT19937, and the distributions. */

#include "../check.h"

#include <float.h>
#include <math.h>

/* numpy.random.RandomState(seed).bytes(...) as 32-bit numbers: numbers 0, 1, 2, 623, 624, 1999 */
static const int places[] = {0, 1, 2, 623, 624, 1999};
static const struct {
  uint64_t seed;
  uint32_t numbers[6];
} sequences[] = {
    {0u, {2357136044u, 2546248239u, 3071714933u, 3791854820u, 341544762u, 3856691381u}},
    {1u, {1791095845u, 4282876139u, 3093770124u, 2006116153u, 1104314680u, 138279050u}},
    {123u, {2991312382u, 3062119789u, 1228959102u, 1058258670u, 1280954235u, 3623448910u}},
    {4294967295u, {419326371u, 479346978u, 3918654476u, 1027084080u, 3860652269u, 1762272365u}},
};

static THGenerator *generator;

static void testSequences(void)
{
  for (size_t s = 0; s < sizeof sequences / sizeof *sequences; s++) {
    THRandom_manualSeed(generator, sequences[s].seed);
    CHECK(THRandom_initialSeed(generator) == sequences[s].seed);
    for (int i = 0, k = 0; i < 2000; i++) {
      uint64_t number = THRandom_random(generator);
      if (i == places[k])
        CHECK(number == sequences[s].numbers[k++]);
    }
  }
}

static void testCopy(void)
{
  THGenerator *copy = THGenerator_new();
  THRandom_manualSeed(generator, 5);
  for (int i = 0; i < 1001; i++)
    THRandom_normal(generator, 0, 1);
  CHECK(THGenerator_copy(copy, generator) == copy && THGenerator_isValid(copy));
  for (int i = 0; i < 1000; i++)
    CHECK(THRandom_normal(generator, 0, 1) == THRandom_normal(copy, 0, 1));
  THRandom_manualSeed(generator, 5);
  CHECK(THRandom_normal(generator, 0, 1) != THRandom_normal(copy, 0, 1));
  copy->left = 0;
  CHECK(!THGenerator_isValid(copy));
  THGenerator_free(copy);
}

static void testSystemSeed(void)
{
  uint64_t seed = THRandom_seed(generator);
  CHECK(seed == THRandom_initialSeed(generator) && seed <= UINT32_MAX);
  uint64_t first = THRandom_random(generator);
  CHECK(THRandom_seed(generator) != seed || THRandom_seed(generator) != seed);
  THRandom_manualSeed(generator, seed);
  CHECK(THRandom_random(generator) == first);
}

/* Whether 32 roundings, of numbers that are not much larger than the result, can explain the
 * difference. An elementary function counts as eight. */
static int isNear(double found, double wanted)
{
  return fabs(found - wanted) <= 32 * DBL_EPSILON / 2 * (1 + fabs(wanted));
}

/* The first draws for seed 123, by the formulas in THRandom.h from numpy's numbers. */
static void testDistributions(void)
{
  THRandom_manualSeed(generator, 123);
  CHECK(THRandom_uniform(generator, 0, 1) == 0.6964691872708499);
  CHECK(THRandom_uniform(generator, -2, 3) == 1.5647766070906073);
  CHECK(isNear(THRandom_normal(generator, 0, 1), -0.23812953316813365));
  CHECK(isNear(THRandom_normal(generator, 1, 2), 3.061236686654567));
  CHECK(isNear(THRandom_exponential(generator, 4), 0.06432102047282715));
  CHECK(isNear(THRandom_cauchy(generator, 1, 2), 2.367341455527267));
  CHECK(isNear(THRandom_logNormal(generator, 1, 0.5), 1.2766147716253695));
  CHECK(THRandom_geometric(generator, 0.5) == 2);
  CHECK(THRandom_bernoulli(generator, 0.2) == 0);
  CHECK(THRandom_bernoulli(generator, 0.8) == 1);
  CHECK(THRandom_bernoulli(generator, 0.5) == 0);
}

static int near(double value, double expected)
{
  return fabs(value - expected) < 0.02;
}

static void testMoments(void)
{
  enum { DRAWS = 200000 };
  double uniform = 0, normal = 0, square = 0, exponential = 0, bernoulli = 0, geometric = 0;
  double positive = 0, logNormal = 0;
  THRandom_manualSeed(generator, 1);
  for (int i = 0; i < DRAWS; i++) {
    uniform += THRandom_uniform(generator, -1, 3) / DRAWS;
    double x = THRandom_normal(generator, 2, 0.5);
    normal += x / DRAWS;
    square += (x - 2) * (x - 2) / DRAWS;
    exponential += THRandom_exponential(generator, 4) / DRAWS;
    bernoulli += (double)THRandom_bernoulli(generator, 0.3) / DRAWS;
    geometric += (double)THRandom_geometric(generator, 0.25) / DRAWS;
    positive += (THRandom_cauchy(generator, 1, 2) > 3) / (double)DRAWS;
    logNormal += log(THRandom_logNormal(generator, 1, 0.5)) / DRAWS;
  }
  CHECK(near(uniform, 1) && near(normal, 2) && near(square, 0.25) && near(exponential, 0.25));
  CHECK(near(bernoulli, 0.3) && near(geometric, 4.0 / 3) && near(positive, 0.25));
  CHECK(near(logNormal, 1));
  CHECK_RAISES(THRandom_normal(generator, 0, 0), "standard deviation");
  CHECK_RAISES(THRandom_logNormal(generator, 0, -1), "standard deviation");
  CHECK_RAISES(THRandom_geometric(generator, 1), "strictly between 0 and 1");
  CHECK_RAISES(THRandom_bernoulli(generator, NAN), "between 0 and 1");
}

/* The distributions of two numbers, and those of one. */
typedef void (*Fill)(THDoubleTensor *self, THGenerator *generator, double a, double b);
typedef double (*Draw)(THGenerator *generator, double a, double b);
typedef void (*FillOfOne)(THDoubleTensor *self, THGenerator *generator, double p);

static double drawExponential(THGenerator *from, double lambda, double unused)
{
  (void)unused;
  return THRandom_exponential(from, lambda);
}

static double drawGeometric(THGenerator *from, double p, double unused)
{
  (void)unused;
  return (double)THRandom_geometric(from, p);
}

/* Whether a tensor has what is drawn from here on for seed 10, in the order of its indices. */
static void checkDrawn(const THDoubleTensor *tensor, Draw draw, double a, double b)
{
  THRandom_manualSeed(generator, 10);
  for (int i = 0; i < 12; i++)
    CHECK(THDoubleTensor_get2d(tensor, i / 4, i % 4) == draw(generator, a, b));
}

static void testDoubleTensors(void)
{
  static const Fill fills[] = {THDoubleTensor_uniform, THDoubleTensor_normal, THDoubleTensor_cauchy,
                               THDoubleTensor_logNormal};
  static const Draw draws[] = {THRandom_uniform, THRandom_normal, THRandom_cauchy,
                               THRandom_logNormal};
  static const FillOfOne fillsOfOne[] = {THDoubleTensor_exponential, THDoubleTensor_geometric};
  static const Draw drawsOfOne[] = {drawExponential, drawGeometric};
  THDoubleTensor *tensor = THDoubleTensor_newWithStorage2d(NULL, 0, 3, 1, 4, 3);
  for (int i = 0; i < 4; i++) {
    THRandom_manualSeed(generator, 10);
    fills[i](tensor, generator, 0.25, 2);
    checkDrawn(tensor, draws[i], 0.25, 2);
  }
  for (int i = 0; i < 2; i++) {
    THRandom_manualSeed(generator, 10);
    fillsOfOne[i](tensor, generator, 0.25);
    checkDrawn(tensor, drawsOfOne[i], 0.25, 0);
  }
  THDoubleTensor_free(tensor);
}

/* Tensors are filled in the order of their indices, whatever their strides. */
static void testTensors(void)
{
  THFloatTensor *floats = THFloatTensor_newWithStorage2d(NULL, 0, 3, 1, 4, 3);
  THRandom_manualSeed(generator, 7);
  THFloatTensor_normal(floats, generator, 1, 2);
  THRandom_manualSeed(generator, 7);
  for (int i = 0; i < 12; i++)
    CHECK(THFloatTensor_get2d(floats, i / 4, i % 4) == (float)THRandom_normal(generator, 1, 2));
  THRandom_manualSeed(generator, 8);
  THFloatTensor_uniform(floats, generator, 1, 2);
  THRandom_manualSeed(generator, 8);
  for (int i = 0; i < 12; i++)
    CHECK(THFloatTensor_get2d(floats, i / 4, i % 4) == (float)THRandom_uniform(generator, 1, 2));
  THRandom_manualSeed(generator, 9);
  THFloatTensor_bernoulli(floats, generator, 0.5);
  THRandom_manualSeed(generator, 9);
  for (int i = 0; i < 12; i++)
    CHECK(THFloatTensor_get2d(floats, i / 4, i % 4) == (float)THRandom_bernoulli(generator, 0.5));
  THFloatTensor_free(floats);

  /* What Lua Torch's torch.randperm(6) gives for seed 99, counted from 0. */
  static const int64_t permutation[] = {3, 5, 0, 1, 2, 4};
  THLongTensor *longs = THLongTensor_new();
  THRandom_manualSeed(generator, 99);
  THLongTensor_randperm(longs, generator, 6);
  CHECK(longs->nDimension == 1 && longs->size[0] == 6);
  for (int i = 0; i < 6; i++)
    CHECK(THLongTensor_get1d(longs, i) == permutation[i]);
  CHECK_RAISES(THLongTensor_randperm(longs, generator, 0), "positive");
  THLongTensor_free(longs);
}

int main(void)
{
  catchErrors();
  generator = THGenerator_new();
  CHECK(THGenerator_isValid(generator));
  testSequences();
  testCopy();
  testSystemSeed();
  testDistributions();
  testMoments();
  testTensors();
  testDoubleTensors();
  THGenerator_free(generator);
  return checkResult();
}
