/* What a source of this folder sees: the real type of this pass and the names built on it.
 * Sources are compiled once per real type (THNN_REAL_FLOAT, THNN_REAL_DOUBLE) and, all but
 * dispatch.c, once per instruction set (THNN_SIMD_LEVEL=baseline, avx2, avx512 or wide; some also
 * narrow). */
#ifndef THNN_SIMD_TEMPLATE_H
#define THNN_SIMD_TEMPLATE_H

#if defined(THNN_REAL_FLOAT)
#  define real float
#  define Real Float
#elif defined(THNN_REAL_DOUBLE)
#  define real double
#  define Real Double
#else
#  error                                                                                           \
      "define THNN_REAL_FLOAT or THNN_REAL_DOUBLE: templated files are compiled once per real type"
#endif

#define SIMD_PASTE_(A, B, C, D) A##B##C##D
#define SIMD_PASTE(A, B, C, D) SIMD_PASTE_(A, B, C, D)

#define THNN_(NAME) SIMD_PASTE(THNN_, Real, NAME, )

/* The table of one topic at one level, such as THNN_FloatSimdPointwise_avx2. */
#define SIMD_TABLE(TOPIC, LEVEL) SIMD_PASTE(THNN_(Simd##TOPIC), _, LEVEL, )

/* The table of reproducible calls. Sources that are compiled for them see it as THNN_(simd). */
#define THNN_REPRODUCIBLE_SIMD SIMD_PASTE(THNN_Reproducible, Real, simd, )

/* For helpers whose arguments must be constants where they are called. */
#define INLINE static inline __attribute__((always_inline))

#include "simd/simd.h"

#endif
