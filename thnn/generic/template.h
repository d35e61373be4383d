/* What a templated source file sees: the real type of this pass and the names built on it.
 * Every file in generic/ is compiled once per real type, with THNN_REAL_FLOAT or
 * THNN_REAL_DOUBLE defined (planTensor.c also with THNN_REAL_LONG and THNN_REAL_INT). */
#ifndef THNN_TEMPLATE_H
#define THNN_TEMPLATE_H

#include <THNNExtra.h>
#include "call/check.h"
#include "call/plan.h"
#include "simd/tuning.h"
#include "work/caches.h"
#include "work/threads.h"
#include "simd/vector/prefetch.h"

#undef real
#undef Real
#undef accreal

#if defined(THNN_REAL_FLOAT)
#  define real float
#  define Real Float
#  define accreal double
/* Untemplated functions of a module's file, its shape check above all, are compiled in one pass. */
#  define THNN_ONCE
#elif defined(THNN_REAL_DOUBLE)
#  define real double
#  define Real Double
#  define accreal double
#elif defined(THNN_REAL_LONG)
#  define real int64_t
#  define Real Long
#elif defined(THNN_REAL_INT)
#  define real int
#  define Real Int
#else
#  error                                                                                           \
      "define THNN_REAL_FLOAT or THNN_REAL_DOUBLE: templated files are compiled once per real type"
#endif

/* Torch7's headers define the same macros and leave them defined; so does this library's own TH. */
#ifndef THTensor
#  define THTensor TH_CONCAT_3(TH, Real, Tensor)
#endif
#ifndef THTensor_
#  define THTensor_(NAME) TH_CONCAT_4(TH, Real, Tensor_, NAME)
#endif
#ifndef THBlas_
#  define THBlas_(NAME) TH_CONCAT_4(TH, Real, Blas_, NAME)
#endif
#ifndef THVector_
#  define THVector_(NAME) TH_CONCAT_4(TH, Real, Vector_, NAME)
#endif
#ifndef THNN_
#  define THNN_(NAME) TH_CONCAT_3(THNN_, Real, NAME)
#endif

/* Sources that sum up products are compiled once more, with THNN_REPRODUCIBLE, for states that ask
 * for reproducible results. In that pass all functions have other names, THNN_(simd) is a table
 * with the same loops on every processor, nothing depends on the instruction set in use, and BLAS
 * is not called. A function of the first pass that such a computation begins with hands over to its
 * namesake of the second pass:
 *
 *     THNN_REPRODUCIBLY(state, matrix_multiply, (state, m, n, ...))
 *
 * calls the namesake and returns; THNN_REPRODUCIBLY_GET returns what the namesake returns. */
#define THNN_REPRODUCIBLE_(NAME) TH_CONCAT_3(THNN_Reproducible, Real, NAME)
#if defined(THNN_REPRODUCIBLE)
#  undef THNN_ONCE
#  undef THNN_
#  define THNN_(NAME) THNN_REPRODUCIBLE_(NAME)
#  define THNN_REPRODUCIBLY(state, NAME, ARGUMENTS) (void)(state);
#  define THNN_REPRODUCIBLY_GET(state, NAME, ARGUMENTS) (void)(state);
enum { THNN_USES_BLAS = 0 };
#else
#  define THNN_REPRODUCIBLY(state, NAME, ARGUMENTS)                                                \
    if (THNN_State_reproducible(state)) {                                                          \
      extern __typeof__(THNN_(NAME)) THNN_REPRODUCIBLE_(NAME);                                     \
      THNN_REPRODUCIBLE_(NAME) ARGUMENTS;                                                          \
      return;                                                                                      \
    }
#  define THNN_REPRODUCIBLY_GET(state, NAME, ARGUMENTS)                                            \
    if (THNN_State_reproducible(state)) {                                                          \
      extern __typeof__(THNN_(NAME)) THNN_REPRODUCIBLE_(NAME);                                     \
      return THNN_REPRODUCIBLE_(NAME) ARGUMENTS;                                                   \
    }
enum { THNN_USES_BLAS = 1 };
#endif

#if defined(THNN_REAL_FLOAT) || defined(THNN_REAL_DOUBLE)
#  include "simd/simd.h"
#  include <float.h>
#  if defined(THNN_REAL_FLOAT)
#    define THNN_LOWEST (-FLT_MAX) /* the lowest finite real */
#  else
#    define THNN_LOWEST (-DBL_MAX)
#  endif

/* The loops for a call with this state, for functions that are compiled once. */
static inline const Simd *simdFor(const THNNState *state)
{
  extern Simd THNN_REPRODUCIBLE_(simd);
  return THNN_State_reproducible(state) ? &THNN_REPRODUCIBLE_(simd) : &THNN_(simd);
}

/* Reals in a vector. */
static inline int64_t vectorLanes(void)
{
  return THNN_(simd).products.lanes;
}
#endif

#endif
