#include "reference.h"

#include <math.h>
#include <string.h>

#include "simd/vector/template.h"

#define TABLE(TOPIC) SIMD_TABLE(TOPIC, THNN_SIMD_LEVEL)

extern const SimdElementary TABLE(Elementary);
extern const SimdActivation TABLE(Activation);

static ReferenceLoop loop(const char *name)
{
  const struct {
    const char *name;
    ReferenceLoop loop;
  } loops[] = {
      {"exp", TABLE(Elementary).exp},         {"expm1", TABLE(Elementary).expm1},
      {"log", TABLE(Elementary).log},         {"log1p", TABLE(Elementary).log1p},
      {"sigmoid", TABLE(Elementary).sigmoid}, {"logSigmoid", TABLE(Elementary).logSigmoid},
      {"tanh", TABLE(Elementary).tanh},       {"softPlus", TABLE(Activation).softPlus},
      {"elu", TABLE(Activation).elu},         {"power", TABLE(Elementary).power},
  };
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
    if (!strcmp(loops[i].name, name))
      return loops[i].loop;
  return NULL;
}

static void widen(int n, const float *x, double *y)
{
#pragma omp simd
  for (int i = 0; i < n; i++)
    y[i] = (double)x[i];
}

typedef union Pattern {
  double value;
  uint64_t bits;
} Pattern;

static bool suspicious(int n, const float *found, const double *exact, double worst)
{
  int some = 0;
#pragma omp simd reduction(| : some)
  for (int i = 0; i < n; i++) {
    const Pattern value = {(double)found[i]}, wanted = {exact[i]};
    Pattern power; /* the largest power of two that is not above the result */
    power.bits = wanted.bits & 0x7ff0000000000000u;
    const double unit = power.value * 0x1p-23 > 0x1p-149 ? power.value * 0x1p-23 : 0x1p-149;
    const int same = value.bits == wanted.bits; /* zeros must have the same sign */
    const int near = (fabs(value.value - wanted.value) <= worst * unit) & (wanted.value != 0) &
                     (fabs(wanted.value) < 0x1p128);
    const int overflown = (fabs(value.value) > 0x1p128) & (value.value * wanted.value >= 0x1p129);
    const int undefined = (value.value != value.value) & (wanted.value != wanted.value);
    some |= !(same | near | overflown | undefined);
  }
  return some;
}

const Reference SIMD_PASTE(reference_, THNN_SIMD_LEVEL, , ) = {loop, widen, suspicious};
