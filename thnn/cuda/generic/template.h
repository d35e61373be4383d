/* The real type of a templated source, and the names built on it. Every .cu in generic/ is compiled
 * once per real type, with THC_TYPE_CUDA or THC_TYPE_CUDADOUBLE defined. */
#ifndef THCUNN_TEMPLATE_H
#define THCUNN_TEMPLATE_H

#include "cuda/THCUNN.h"
#include "cuda/THC/THCApply.cuh"
#include "call/check.h"

#if defined(THC_TYPE_CUDA)
#  include "cuda/THC/types/Cuda.h"
#elif defined(THC_TYPE_CUDADOUBLE)
#  include "cuda/THC/types/CudaDouble.h"
#else
#  error "define THC_TYPE_CUDA or THC_TYPE_CUDADOUBLE: templated files are compiled once per type"
#endif

#endif
