/* Storages in device memory: THCudaStorage (float), THCudaDoubleStorage, THCudaLongStorage,
 * THCudaIntStorage. The struct begins like TH's; `data` is a device address. */
#ifndef THC_STORAGE_H
#define THC_STORAGE_H

#include "THCState.h"

#define THCStorage TH_CONCAT_3(TH, CReal, Storage)
#define THCStorage_(NAME) TH_CONCAT_4(TH, CReal, Storage_, NAME)

#include "types/Cuda.h"
#include "generic/THCStorage.h"
#include "types/End.h"

#include "types/CudaDouble.h"
#include "generic/THCStorage.h"
#include "types/End.h"

#include "types/CudaLong.h"
#include "generic/THCStorage.h"
#include "types/End.h"

#include "types/CudaInt.h"
#include "generic/THCStorage.h"
#include "types/End.h"

#endif
