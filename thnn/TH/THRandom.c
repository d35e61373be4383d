/* MT19937 (Matsumoto and Nishimura, 1998) and the distributions drawn from it. */

#include "THRandom.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#ifdef __linux__
#  include <sys/random.h>
#endif

#define LENGTH TH_RANDOM_STATE_LENGTH
#define MIDDLE 397
#define TWIST 0x9908b0dfu
#define TWO_PI 6.283185307179586476925286766559

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(offsetof(THGenerator, left) == 8 && offsetof(THGenerator, next) == 16 &&
                   offsetof(THGenerator, state) == 24 && offsetof(THGenerator, normal_x) == 5016 &&
                   offsetof(THGenerator, normal_is_valid) == 5040 && sizeof(THGenerator) == 5048,
               "the layout is Torch7's");
#endif

/* Whether the operating system gave random numbers without a file: that takes half the time. */
static bool drawFromSystem(uint64_t *seed)
{
#ifdef __linux__
  return getrandom(seed, sizeof *seed, GRND_NONBLOCK) == (ssize_t)sizeof *seed;
#else
  (void)seed;
  return false;
#endif
}

/* A seed from the operating system, or from the clocks where the system gives no random numbers. */
static uint64_t systemSeed(void)
{
  uint64_t seed = 0;
  if (drawFromSystem(&seed))
    return seed & 0xffffffffu;
  FILE *source = fopen("/dev/urandom", "rb");
  if (source)
    setvbuf(source, NULL, _IONBF, 0); /* a buffer would be filled with 4 KB of random numbers */
  bool read = source && fread(&seed, sizeof seed, 1, source) == 1;
  if (source)
    fclose(source);
  if (!read)
    seed = (uint64_t)time(NULL) * 1000003u + (uint64_t)clock();
  return seed & 0xffffffffu;
}

THGenerator *THGenerator_new(void)
{
  THGenerator *self = THAlloc(sizeof(THGenerator));
  THRandom_seed(self);
  return self;
}

THGenerator *THGenerator_copy(THGenerator *self, THGenerator *from)
{
  *self = *from;
  return self;
}

void THGenerator_free(THGenerator *self)
{
  THFree(self);
}

int THGenerator_isValid(THGenerator *self)
{
  return self->seeded == 1 && self->left > 0 && self->left <= LENGTH && self->next <= LENGTH;
}

uint64_t THRandom_seed(THGenerator *generator)
{
  uint64_t seed = systemSeed();
  THRandom_manualSeed(generator, seed);
  return seed;
}

void THRandom_manualSeed(THGenerator *generator, uint64_t seed)
{
  *generator = (THGenerator){.the_initial_seed = seed, .left = 1, .seeded = 1};
  uint32_t value = (uint32_t)seed;
  generator->state[0] = value;
  for (uint32_t i = 1; i < LENGTH; i++) {
    value = 1812433253u * (value ^ (value >> 30)) + i;
    generator->state[i] = value;
  }
}

uint64_t THRandom_initialSeed(THGenerator *generator)
{
  return generator->the_initial_seed;
}

/* MT19937's recurrence: the new value of a place from its old value, the next place's, and the one
 * MIDDLE places further on. */
static uint64_t recur(uint64_t old, uint64_t next, uint64_t distant)
{
  uint64_t mixed = (old & 0x80000000u) | (next & 0x7fffffffu);
  return distant ^ (mixed >> 1) ^ (-(next & 1) & TWIST);
}

/* Computes the next LENGTH numbers; indices wrap around at LENGTH. */
static void refill(THGenerator *generator)
{
  uint64_t *state = generator->state;
  for (int i = 0; i < LENGTH - MIDDLE; i++)
    state[i] = recur(state[i], state[i + 1], state[i + MIDDLE]);
  for (int i = LENGTH - MIDDLE; i < LENGTH - 1; i++)
    state[i] = recur(state[i], state[i + 1], state[i + MIDDLE - LENGTH]);
  state[LENGTH - 1] = recur(state[LENGTH - 1], state[0], state[MIDDLE - 1]);
  generator->left = LENGTH;
  generator->next = 0;
}

/* 32 random bits, like THRandom_random but inlined into the distributions. */
static inline uint32_t draw(THGenerator *generator)
{
  if (--generator->left == 0)
    refill(generator);
  uint32_t value = (uint32_t)generator->state[generator->next++];
  value ^= value >> 11;
  value ^= (value << 7) & 0x9d2c5680u;
  value ^= (value << 15) & 0xefc60000u;
  return value ^ (value >> 18);
}

uint64_t THRandom_random(THGenerator *generator)
{
  return draw(generator);
}

/* Uniform in [0, 1). */
static double unit(THGenerator *generator)
{
  return draw(generator) * (1.0 / 4294967296.0);
}

double THRandom_uniform(THGenerator *generator, double a, double b)
{
  return unit(generator) * (b - a) + a;
}

/* Box and Muller's method: a random direction and a random radius give two normal numbers. */
double THRandom_normal(THGenerator *generator, double mean, double stdv)
{
  THArgCheck(stdv > 0, 3, "the standard deviation must be positive, found %g", stdv);
  bool second = generator->normal_is_valid;
  if (!second) {
    generator->normal_x = unit(generator);
    generator->normal_y = unit(generator);
    generator->normal_rho = sqrt(-2 * log(1 - generator->normal_y));
  }
  generator->normal_is_valid = !second;
  double angle = TWO_PI * generator->normal_x;
  return generator->normal_rho * (second ? sin(angle) : cos(angle)) * stdv + mean;
}

double THRandom_exponential(THGenerator *generator, double lambda)
{
  return -1 / lambda * log(1 - unit(generator));
}

double THRandom_cauchy(THGenerator *generator, double median, double sigma)
{
  return median + sigma * tan(TWO_PI / 2 * (unit(generator) - 0.5));
}

double THRandom_logNormal(THGenerator *generator, double mean, double stdv)
{
  THArgCheck(stdv > 0, 3, "the standard deviation must be positive, found %g", stdv);
  return exp(THRandom_normal(generator, mean, stdv));
}

int THRandom_geometric(THGenerator *generator, double p)
{
  THArgCheck(p > 0 && p < 1, 2, "p must lie strictly between 0 and 1, found %g", p);
  return (int)(log(1 - unit(generator)) / log(p) + 1);
}

int THRandom_bernoulli(THGenerator *generator, double p)
{
  THArgCheck(p >= 0 && p <= 1, 2, "p must lie between 0 and 1, found %g", p);
  return unit(generator) <= p;
}
