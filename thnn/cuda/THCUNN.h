/* THCUNN: the kernels of THNN for CUDA, in float and double.
 *
 * Each function exists as THNN_Cuda<name> (float) and THNN_CudaDouble<name>. generic/THNN.h,
 * generic/THNNExtraModules.h and generic/THNNExtraSequences.h list them for both libraries; here
 * THNNState is THCState, which says where a call runs and must not be NULL, and THTensor is
 * THCTensor. generic/THCUNN.h lists those whose arguments have other names or types here. Roles,
 * shapes, indices and errors are those of the CPU's functions (THNN.h). All tensors are on the
 * state's device; a call queues its work on the state's stream and returns. */
#ifndef THCUNN_H
#define THCUNN_H

#include <stdbool.h>
#include "THC/THC.h"
#include "THNNState.h"

#define THCIndexTensor THCudaLongTensor

#define THCUNN_(NAME) TH_CONCAT_3(THNN_, CReal, NAME)

/* What the CPU's prototypes are written with, for as long as they declare functions of the
 * device. */
#pragma push_macro("THNN_")
#pragma push_macro("THNNState")
#pragma push_macro("THTensor")
#pragma push_macro("THIndexTensor")
#pragma push_macro("THIndex_t")
#undef THNN_
#undef THTensor
#undef THIndexTensor
#undef THIndex_t
#define THNN_(NAME) THCUNN_(NAME)
#define THNNState THCState
#define THTensor THCTensor
#define THIndexTensor THCIndexTensor
#define THIndex_t int64_t
#define THC_PROTOTYPES

#include "THC/types/Cuda.h"
#include "generic/THNN.h"
#include "generic/THNNExtraModules.h"
#include "generic/THCUNN.h"
#include "THC/types/End.h"

#include "THC/types/CudaDouble.h"
#include "generic/THNN.h"
#include "generic/THNNExtraModules.h"
#include "generic/THCUNN.h"
#include "THC/types/End.h"

#undef THC_PROTOTYPES
#pragma pop_macro("THNN_")
#pragma pop_macro("THNNState")
#pragma pop_macro("THTensor")
#pragma pop_macro("THIndexTensor")
#pragma pop_macro("THIndex_t")

#endif
