/* How the coefficients of transforms lie in scratch memory. */
#ifndef THNN_CONVOLUTION_COEFFICIENTS_H
#define THNN_CONVOLUTION_COEFFICIENTS_H

#include "generic/template.h"

#include <THNNSimd.h>
#include "work/sizes.h"

/* The distance between the areas of two successive coefficients, of `elements` elements each. It is
 * a cache line more than that, since areas that are a large power of two apart would map to the
 * same cache sets. */
static inline int64_t coefficientStep(int64_t elements)
{
  return elements + 64 / (int64_t)sizeof(real);
}

/* Reals rounded up to whole vectors, which transforms write. */
static inline int64_t wholeVectors(int64_t reals)
{
  return roundUp(reals, vectorLanes());
}

#endif
