/* A quick reference for floats: the vectorised functions of doubles, and a comparison with them.
 * Compiled once per instruction set, like the loops. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

/* y = f(x), element by element. */
typedef void (*ReferenceLoop)(int64_t n, const double *x, const double *parameters, double *y);

typedef struct Reference {
  /* The function of this name; NULL for others. */
  ReferenceLoop (*loop)(const char *name);
  void (*widen)(int n, const float *x, double *y);
  /* Whether the error of one of these results may be more than `worst` units in the last place. */
  bool (*suspicious)(int n, const float *found, const double *exact, double worst);
} Reference;

extern const Reference reference_baseline, reference_avx2, reference_avx512;

#endif
