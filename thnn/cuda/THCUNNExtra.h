/* All functions for CUDA: THCUNN.h, and those that take addresses on the device. */
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
