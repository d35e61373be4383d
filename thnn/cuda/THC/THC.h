/* THC: the states, storages and tensors of libTHCUNN, for C and C++ callers. */
#ifndef THC_H
#define THC_H

#include "THCState.h"
#include "THCStorage.h"
#include "THCTensor.h"

#endif
