/* Elementary functions that CUDA's mathematics does not have, without overflow or cancellation. */
#ifndef THCUNN_ELEMENTARY_CUH
#define THCUNN_ELEMENTARY_CUH

#include <math.h>

#include "template.h"

/* 1 / (1 + e^-x) */
static __device__ inline real sigmoid(real x)
{
  return 1 / (1 + exp(-x));
}

/* log(1 + e^x) */
static __device__ inline real softplus(real x)
{
  return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

/* log(1 / (1 + e^-x)) */
static __device__ inline real logSigmoid(real x)
{
  return (x < 0 ? x : 0) - log1p(exp(-fabs(x)));
}

#endif
