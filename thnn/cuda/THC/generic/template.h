/* The template macros of one type: files in THC/generic are compiled once per type, with
 * THC_TYPE_CUDA, THC_TYPE_CUDADOUBLE, THC_TYPE_CUDALONG or THC_TYPE_CUDAINT defined. */
#ifndef THC_GENERIC_TEMPLATE_H
#define THC_GENERIC_TEMPLATE_H

#include "../THCInternal.h"

#if defined(THC_TYPE_CUDA)
#  include "../types/Cuda.h"
#elif defined(THC_TYPE_CUDADOUBLE)
#  include "../types/CudaDouble.h"
#elif defined(THC_TYPE_CUDALONG)
#  include "../types/CudaLong.h"
#elif defined(THC_TYPE_CUDAINT)
#  include "../types/CudaInt.h"
#else
#  error "define one of THC_TYPE_…: templated files are compiled once per type"
#endif

/* Gives a reference up like THCStorage_(free), but records a failure instead of raising it. */
void THCStorage_(drop)(THCState *state, THCStorage *storage, THCFailure *failure);

#endif
