/* Functions of this library that Lua Torch's cunn does not have: their modules exist only on the
 * CPU in the original. */
#ifndef THCUNN_EXTRA_H
#define THCUNN_EXTRA_H

#include "THCUNN.h"

#include "THC/types/Cuda.h"
#include "generic/THCUNNExtra.h"
#include "THC/types/End.h"

#include "THC/types/CudaDouble.h"
#include "generic/THCUNNExtra.h"
#include "THC/types/End.h"

#endif
