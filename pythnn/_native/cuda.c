#include <Python.h>

#include "cuda.h"
#include "guard.h"

#include <pthread.h>
#include <string.h>
#include <call/plan.h>

/* ---- Arrays as arguments --------------------------------------------------------------------- */

void pythnn_placeCuda(pythnn_CudaSlot *slot, uintptr_t data, const int64_t *layout, int device)
{
  const int nDimension = (int)layout[0];
  const size_t bytes = (size_t)nDimension * sizeof(int64_t);
  memcpy(slot->size, layout + 2, bytes);
  memcpy(slot->stride, layout + 2 + nDimension, bytes);
  slot->storage =
      (THCudaStorage){.data = (float *)data, .size = layout[1], .refcount = 1, .device = device};
  slot->tensor = (THCudaTensor){.size = slot->size,
                                .stride = slot->stride,
                                .nDimension = nDimension,
                                .storage = &slot->storage,
                                .refcount = 1,
                                .flag = THNN_TENSOR_FIXED_SIZE};
}

/* ---- Objects that Python owns ---------------------------------------------------------------- */

/* What differs between the element types. */
typedef struct Type {
  void *(*newTensor)(THCState *state, void *storage, ptrdiff_t offset, int nDimension,
                     const int64_t *size, const int64_t *stride);
  void *(*newStorage)(THCState *state, ptrdiff_t size);
  void *(*newArrayStorage)(THCState *state, uintptr_t data, ptrdiff_t size,
                           const THCAllocator *allocator, void *object);
  void (*retainStorage)(THCState *state, void *storage);
  void (*freeTensor)(THCState *state, void *tensor);
  void (*freeStorage)(THCState *state, void *storage);
} Type;

#include <cuda/THC/types/Cuda.h>
#include "cudaTyped.h"
#include <cuda/THC/types/End.h>

#include <cuda/THC/types/CudaDouble.h>
#include "cudaTyped.h"
#include <cuda/THC/types/End.h>

#include <cuda/THC/types/CudaLong.h>
#include "cudaTyped.h"
#include <cuda/THC/types/End.h>

#include <cuda/THC/types/CudaInt.h>
#include "cudaTyped.h"
#include <cuda/THC/types/End.h>

static const Type *const types[] = {&typeCuda, &typeCudaDouble, &typeCudaLong, &typeCudaInt};

/* After the interpreter's end the object's memory is gone with it. */
static int releaseObject(void *object, void *block, int device, void *stream)
{
  (void)block, (void)device, (void)stream;
  if (!Py_IsInitialized())
    return 0;
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DecRef(object);
  PyGILState_Release(state);
  return 0;
}

static void *refuseToAllocate(void *object, size_t bytes, int device, void *stream)
{
  (void)object, (void)bytes, (void)device, (void)stream;
  return NULL;
}

static const THCAllocator arrayAllocator = {refuseToAllocate, releaseObject};

static void retainObject(void *object)
{
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_IncRef(object);
  PyGILState_Release(state);
}

/* What a pythnn_CudaOwned holds; tensors and storages plus their element type. */
enum { NOTHING, STATE, TENSOR = 16, STORAGE = 32 };

/* A state for each device to free with, in whatever thread that happens. Making an object on the
 * device makes it, so that freeing cannot fail for want of one. The lock is recursive: giving
 * memory back runs Python, which may collect other objects. */
enum { MAX_DEVICES = 256 };
static THCState *freeing[MAX_DEVICES];
static pthread_mutex_t freeingLock;
static pthread_once_t freeingOnce = PTHREAD_ONCE_INIT;

static void initializeFreeing(void)
{
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&freeingLock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

/* Raises when there is no such device. */
static void prepareFreeing(int device)
{
  pthread_once(&freeingOnce, initializeFreeing);
  THArgCheck(device < MAX_DEVICES, 1, "pythnn: device %d is beyond the %d that it knows", device,
             MAX_DEVICES);
  pthread_mutex_lock(&freeingLock);
  const bool known = freeing[device] != NULL;
  pthread_mutex_unlock(&freeingLock);
  if (known)
    return;
  THCState *state = THCState_new(device);
  pthread_mutex_lock(&freeingLock);
  if (!freeing[device]) {
    freeing[device] = state;
    state = NULL;
  }
  pthread_mutex_unlock(&freeingLock);
  THCState_free(state);
}

static void own(pythnn_CudaOwned *owned, THCState *state, int content, void *object)
{
  owned->device = THCState_device(state);
  owned->stream = THCState_stream(state);
  owned->object = object;
  owned->content = content;
}

int pythnn_ownCudaState(pythnn_CudaOwned *owned, int device)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard)) {
    THCState *state = THCState_new(device);
    own(owned, state, STATE, state);
    prepareFreeing(device);
  }
  return pythnn_leave(&guard);
}

int pythnn_ownCudaTensor(pythnn_CudaOwned *owned, THCState *state, int type, void *storage,
                         ptrdiff_t offset, int nDimension, const int64_t *size,
                         const int64_t *stride)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard))
    own(owned, state, TENSOR + type,
        types[type]->newTensor(state, storage, offset, nDimension, size, stride));
  return pythnn_leave(&guard);
}

int pythnn_ownCudaStorage(pythnn_CudaOwned *owned, THCState *state, int type, ptrdiff_t size)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard))
    own(owned, state, STORAGE + type, types[type]->newStorage(state, size));
  return pythnn_leave(&guard);
}

int pythnn_ownCudaArrayStorage(pythnn_CudaOwned *owned, THCState *state, int type, uintptr_t data,
                               ptrdiff_t size, void *object)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard)) {
    own(owned, state, STORAGE + type,
        types[type]->newArrayStorage(state, data, size, &arrayAllocator, object));
    retainObject(object);
  }
  return pythnn_leave(&guard);
}

int pythnn_ownCudaStorageReference(pythnn_CudaOwned *owned, THCState *state, int type,
                                   void *storage)
{
  types[type]->retainStorage(state, storage);
  own(owned, state, STORAGE + type, storage);
  return PYTHNN_OK;
}

static void release(const pythnn_CudaOwned *owned)
{
  if (owned->content == STATE) {
    THCState_free(owned->object);
    return;
  }
  THCState *state = freeing[owned->device];
  THCState_setStream(state, owned->stream);
  if (owned->content >= STORAGE)
    types[owned->content - STORAGE]->freeStorage(state, owned->object);
  else
    types[owned->content - TENSOR]->freeTensor(state, owned->object);
}

void pythnn_disownCuda(pythnn_CudaOwned *owned)
{
  if (owned->content == NOTHING)
    return;
  pthread_mutex_lock(&freeingLock);
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard))
    release(owned);
  pythnn_leave(&guard);
  pthread_mutex_unlock(&freeingLock);
  owned->content = NOTHING;
}

void pythnn_keep(void *held, void *with)
{
  (void)held, (void)with;
}

/* ---- Memory of Python's allocator ------------------------------------------------------------ */

/* Takes memory for storages and for kernels' scratch. After the interpreter's end there is none:
 * the caller gets an error. */
static void *allocateBlock(void *context, size_t bytes, int device, void *stream)
{
  (void)context;
  return Py_IsInitialized() ? pythnn_allocateBlock(bytes, device, stream) : NULL;
}

static int releaseBlock(void *context, void *block, int device, void *stream)
{
  (void)context;
  return Py_IsInitialized() ? pythnn_releaseBlock(block, device, stream) : 0;
}

int pythnn_useAllocator(THCState *state, bool fromPython)
{
  static const THCAllocator python = {allocateBlock, releaseBlock};
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard))
    THCState_setAllocator(state, fromPython ? &python : NULL, NULL);
  return pythnn_leave(&guard);
}

/* ---- DLPack ---------------------------------------------------------------------------------- */

const pythnn_DLTensor *pythnn_readCapsule(void *capsule)
{
  const PyGILState_STATE state = PyGILState_Ensure();
  const pythnn_DLTensor *tensor = NULL;
  if (PyCapsule_IsValid(capsule, "dltensor"))
    tensor = PyCapsule_GetPointer(capsule, "dltensor");
  PyGILState_Release(state);
  return tensor;
}
