/* Elementary functions and constants that CUDA does not provide, without overflow or
 * cancellation. */
#ifndef THCUNN_ELEMENTARY_CUH
#define THCUNN_ELEMENTARY_CUH

#include <float.h>
#include <math.h>

#include "cuda/generic/template.h"

namespace
{

/* The lowest finite number. */
#if defined(THC_REAL_IS_FLOAT)
constexpr real LOWEST = -FLT_MAX;
#else
constexpr real LOWEST = -DBL_MAX;
#endif

/* 1 / (1 + e^-x) */
__device__ inline real sigmoid(real x)
{
  return 1 / (1 + exp(-x));
}

/* log(1 + e^x) */
__device__ inline real softplus(real x)
{
  return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

/* log(1 / (1 + e^-x)) */
__device__ inline real logSigmoid(real x)
{
  return (x < 0 ? x : 0) - log1p(exp(-fabs(x)));
}

} // namespace

#endif
