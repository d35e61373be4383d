/* Tensors in device memory: THCudaTensor (float), THCudaDoubleTensor, THCudaLongTensor,
 * THCudaIntTensor, with the layout of TH's. */
#ifndef THC_TENSOR_H
#define THC_TENSOR_H

#include "THCStorage.h"

#define THCTensor TH_CONCAT_3(TH, CReal, Tensor)
#define THCTensor_(NAME) TH_CONCAT_4(TH, CReal, Tensor_, NAME)

#include "types/Cuda.h"
#include "generic/THCTensor.h"
#include "types/End.h"

#include "types/CudaDouble.h"
#include "generic/THCTensor.h"
#include "types/End.h"

#include "types/CudaLong.h"
#include "generic/THCTensor.h"
#include "types/End.h"

#include "types/CudaInt.h"
#include "generic/THCTensor.h"
#include "types/End.h"

#endif
