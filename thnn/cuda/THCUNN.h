/* THCUNN: the kernels of THNN for CUDA, in float and double.
 *
 * Each function exists as THNN_Cuda<name> (float) and THNN_CudaDouble<name>; generic/THCUNN.h lists
 * them. Roles, shapes, indices and errors are those of the CPU's functions (THNN.h). All tensors
 * are on the state's device; a call queues its work on the state's stream and returns. */
#ifndef THCUNN_H
#define THCUNN_H

#include <stdbool.h>
#include "THC/THC.h"

#define THCIndexTensor THCudaLongTensor
#define THCIndex_t int64_t

#define THCUNN_(NAME) TH_CONCAT_3(THNN_, CReal, NAME)

#include "THC/types/Cuda.h"
#include "generic/THCUNN.h"
#include "THC/types/End.h"

#include "THC/types/CudaDouble.h"
#include "generic/THCUNN.h"
#include "THC/types/End.h"

#endif
