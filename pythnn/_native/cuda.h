/* What the extension modules for CUDA stand on besides guards: objects on devices that Python owns,
 * tensors over arrays, memory of Python's allocator, DLPack. */

#ifndef PYTHNN_CUDA_H
#define PYTHNN_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda/THCUNN.h>

#include "error.h"

/* ---- Arrays as arguments: see native.h ------------------------------------------------------- */

enum { PYTHNN_MAX_DIMENSIONS = 64 };

typedef struct pythnn_CudaSlot {
  THCudaTensor tensor; /* of any element type: their layouts are one */
  THCudaStorage storage;
  int64_t size[PYTHNN_MAX_DIMENSIONS];
  int64_t stride[PYTHNN_MAX_DIMENSIONS];
} pythnn_CudaSlot;

/* `layout` is nDimension, the number of elements that the array spans, sizes and strides. */
PYTHNN_API void pythnn_placeCuda(pythnn_CudaSlot *slot, uintptr_t data, const int64_t *layout,
                                 int device);

/* ---- Objects that Python owns: see native.h -------------------------------------------------- */

typedef struct pythnn_CudaOwned {
  void *object;
  int content; /* what the object is */
  int device;
  void *stream; /* the stream that it was made on, in whose order its memory is given back */
} pythnn_CudaOwned;

/* Element types: 0 float, 1 double, 2 int64, 3 int32. */

PYTHNN_API int pythnn_ownCudaState(pythnn_CudaOwned *owned, int device);
/* A view of a storage; of a new and empty one when that is NULL. */
PYTHNN_API int pythnn_ownCudaTensor(pythnn_CudaOwned *owned, THCState *state, int type,
                                    void *storage, ptrdiff_t offset, int nDimension,
                                    const int64_t *size, const int64_t *stride);
PYTHNN_API int pythnn_ownCudaStorage(pythnn_CudaOwned *owned, THCState *state, int type,
                                     ptrdiff_t size);
/* A storage over the memory of a Python object, of which it holds a reference. */
PYTHNN_API int pythnn_ownCudaArrayStorage(pythnn_CudaOwned *owned, THCState *state, int type,
                                          uintptr_t data, ptrdiff_t size, void *object);
PYTHNN_API int pythnn_ownCudaStorageReference(pythnn_CudaOwned *owned, THCState *state, int type,
                                              void *storage);

/* Frees, or gives up the reference; from any thread. */
PYTHNN_API void pythnn_disownCuda(pythnn_CudaOwned *owned);

/* Does nothing: a destructor of `with` that has kept `held` until then. */
PYTHNN_API void pythnn_keep(void *held, void *with);

/* ---- Memory of Python's allocator ------------------------------------------------------------ */

/* Python's part, as in THCAllocator. */
extern void *pythnn_allocateBlock(size_t bytes, int device, void *stream);
extern int pythnn_releaseBlock(void *block, int device, void *stream);

/* Has the state take device memory from Python (true) or from CUDA's pool. */
PYTHNN_API int pythnn_useAllocator(THCState *state, bool fromPython);

/* ---- DLPack ---------------------------------------------------------------------------------- */

/* The published layout of DLTensor. */
typedef struct pythnn_DLTensor {
  uintptr_t data;
  int32_t deviceType, deviceId;
  int32_t nDimension;
  uint8_t typeCode, typeBits;
  uint16_t typeLanes;
  int64_t *size;
  int64_t *stride; /* in elements; NULL when contiguous */
  uint64_t byteOffset;
} pythnn_DLTensor;

/* What a capsule named "dltensor" holds, which stays with the capsule; NULL for anything else. */
PYTHNN_API const pythnn_DLTensor *pythnn_readCapsule(void *capsule);

#endif
