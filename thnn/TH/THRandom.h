/* Random numbers: MT19937. For a given seed the sequences are those of Torch7. */

#ifndef TH_RANDOM_H
#define TH_RANDOM_H

#include "THGeneral.h"

#define TH_RANDOM_STATE_LENGTH 624

typedef struct THGenerator {
  uint64_t the_initial_seed;
  int left;                               /* number of unused values in `state`, plus one */
  int seeded;                             /* 1 once seeded */
  uint64_t next;                          /* index of the next value in `state` */
  uint64_t state[TH_RANDOM_STATE_LENGTH]; /* 32-bit values */
  double normal_x; /* x, y and rho make the last pair of normal numbers: x and y are the uniform
                    * numbers that were drawn, rho is the radius */
  double normal_y;
  double normal_rho;
  int normal_is_valid; /* 1 while the pair's second number is still to be drawn */
} THGenerator;

/* A new generator, seeded by the operating system. */
TH_API THGenerator *THGenerator_new(void);
TH_API THGenerator *THGenerator_copy(THGenerator *self, THGenerator *from); /* returns self */
TH_API void THGenerator_free(THGenerator *self);
TH_API int THGenerator_isValid(THGenerator *self);

/* Seeds from the operating system and returns the seed. */
TH_API uint64_t THRandom_seed(THGenerator *generator);

/* Seeds with the low 32 bits of `seed`. */
TH_API void THRandom_manualSeed(THGenerator *generator, uint64_t seed);
TH_API uint64_t THRandom_initialSeed(THGenerator *generator);

/* 32 random bits. */
TH_API uint64_t THRandom_random(THGenerator *generator);

/* Uniform in [a, b): one 32-bit number per draw. */
TH_API double THRandom_uniform(THGenerator *generator, double a, double b);

/* Normal: two uniform numbers for every second draw. */
TH_API double THRandom_normal(THGenerator *generator, double mean, double stdv);

/* Density lambda * exp(-lambda * x). */
TH_API double THRandom_exponential(THGenerator *generator, double lambda);
TH_API double THRandom_cauchy(THGenerator *generator, double median, double sigma);

/* exp of a normal number with this mean and standard deviation. */
TH_API double THRandom_logNormal(THGenerator *generator, double mean, double stdv);

/* P(k) = (1 - p) * p^(k - 1), k = 1, 2, … */
TH_API int THRandom_geometric(THGenerator *generator, double p);

/* 1 with probability p, else 0. */
TH_API int THRandom_bernoulli(THGenerator *generator, double p);

#endif
