#include <Python.h>

#include "native.h"
#include "guard.h"

#include <string.h>
#include <call/plan.h>

/* ---- Arrays as arguments --------------------------------------------------------------------- */

int pythnn_place(pythnn_Slot *slot, const void *data, const int64_t *layout, size_t elementSize)
{
  if ((uintptr_t)data % elementSize != 0)
    return 1;
  const int nDimension = (int)layout[0];
  const size_t bytes = (size_t)nDimension * sizeof(int64_t);
  memcpy(slot->size, layout + 2, bytes);
  memcpy(slot->stride, layout + 2 + nDimension, bytes);
  slot->storage = (THFloatStorage){.data = (float *)data, .size = layout[1], .refcount = 1};
  slot->tensor = (THFloatTensor){.size = slot->size,
                                 .stride = slot->stride,
                                 .nDimension = nDimension,
                                 .storage = &slot->storage,
                                 .refcount = 1,
                                 .flag = THNN_TENSOR_FIXED_SIZE};
  return 0;
}

int pythnn_runPrepared(const pythnn_Prepared *prepared)
{
  pythnn_Tensor *const end = prepared->tensors + prepared->tensorCount;
  for (pythnn_Tensor *t = prepared->tensors; t < end; t++) {
    const char *data = (const char *)prepared->arrays[t->array] + t->offset;
    if ((uintptr_t)data % t->elementSize != 0)
      return PYTHNN_MISALIGNED;
    const int nDimension = (int)t->layout[0];
    t->storage = (THFloatStorage){.data = (float *)data, .size = t->layout[1], .refcount = 1};
    t->tensor = (THFloatTensor){.size = t->layout + 2,
                                .stride = t->layout + 2 + nDimension,
                                .nDimension = nDimension,
                                .storage = &t->storage,
                                .refcount = 1,
                                .flag = THNN_TENSOR_FIXED_SIZE};
  }
  return pythnn_runSteps(prepared->steps, prepared->stepCount);
}

/* ---- Objects that Python owns ---------------------------------------------------------------- */

static void *refuseMalloc(void *context, ptrdiff_t bytes)
{
  (void)context, (void)bytes;
  THError("memory of an array cannot be resized");
}

static void *refuseRealloc(void *context, void *block, ptrdiff_t bytes)
{
  (void)block;
  return refuseMalloc(context, bytes);
}

/* After the interpreter's end the object's memory is gone with it. */
static void releaseObject(void *object, void *block)
{
  (void)block;
  if (!Py_IsInitialized())
    return;
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DecRef(object);
  PyGILState_Release(state);
}

static THAllocator arrayAllocator = {refuseMalloc, refuseRealloc, releaseObject};

static void retainObject(void *object)
{
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_IncRef(object);
  PyGILState_Release(state);
}

/* What differs between the element types. */
typedef struct Type {
  void *(*newTensor)(void);
  void *(*newView)(void *tensor);
  void *(*newStorage)(ptrdiff_t size);
  void *(*newArrayStorage)(void *data, ptrdiff_t size, void *object);
  void (*setStorage)(void *tensor, void *storage, int nDimension, int64_t *size);
  void (*retainStorage)(void *storage);
  void (*freeTensor)(void *tensor);
  void (*freeStorage)(void *storage);
} Type;

#include <TH/types/Float.h>
#include "ownTyped.h"
#include <TH/types/End.h>

#include <TH/types/Double.h>
#include "ownTyped.h"
#include <TH/types/End.h>

#include <TH/types/Long.h>
#include "ownTyped.h"
#include <TH/types/End.h>

#include <TH/types/Int.h>
#include "ownTyped.h"
#include <TH/types/End.h>

static const Type *const types[] = {&typeFloat, &typeDouble, &typeLong, &typeInt};

/* What a pythnn_Owned holds; tensors and storages plus their element type. */
enum { NOTHING, BLOCK, STATE, GENERATOR, TENSOR = 16, STORAGE = 32 };

int pythnn_ownTensor(pythnn_Owned *owned, int type, int nDimension, int64_t *size)
{
  pythnn_Guard guard;
  void *volatile storage = NULL;
  if (PYTHNN_PROTECT(guard)) {
    owned->object = types[type]->newTensor();
    owned->content = TENSOR + type;
    storage = types[type]->newStorage(0);
    types[type]->setStorage(owned->object, storage, nDimension, size);
  }
  const int code = pythnn_leave(&guard);
  types[type]->freeStorage(storage);
  return code;
}

int pythnn_ownView(pythnn_Owned *owned, int type, void *tensor)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard)) {
    owned->object = types[type]->newView(tensor);
    owned->content = TENSOR + type;
  }
  return pythnn_leave(&guard);
}

int pythnn_ownStorage(pythnn_Owned *owned, int type, ptrdiff_t size)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard)) {
    owned->object = types[type]->newStorage(size);
    owned->content = STORAGE + type;
  }
  return pythnn_leave(&guard);
}

int pythnn_ownArrayStorage(pythnn_Owned *owned, int type, void *data, ptrdiff_t size, void *object)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard)) {
    owned->object = types[type]->newArrayStorage(data, size, object);
    owned->content = STORAGE + type;
    retainObject(object);
  }
  return pythnn_leave(&guard);
}

int pythnn_ownStorageReference(pythnn_Owned *owned, int type, void *storage)
{
  types[type]->retainStorage(storage);
  owned->object = storage;
  owned->content = STORAGE + type;
  return PYTHNN_OK;
}

int pythnn_ownBlock(pythnn_Owned *owned, void *data)
{
  THBlock_retain(data);
  owned->object = data;
  owned->content = BLOCK;
  return PYTHNN_OK;
}

int pythnn_ownState(pythnn_Owned *owned)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard)) {
    owned->object = THNN_State_new();
    owned->content = STATE;
  }
  return pythnn_leave(&guard);
}

int pythnn_ownGenerator(pythnn_Owned *owned)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard)) {
    owned->object = THGenerator_new();
    owned->content = GENERATOR;
  }
  return pythnn_leave(&guard);
}

static void release(int content, void *object)
{
  if (content >= STORAGE)
    types[content - STORAGE]->freeStorage(object);
  else if (content >= TENSOR)
    types[content - TENSOR]->freeTensor(object);
  else if (content == BLOCK)
    THBlock_release(object);
  else if (content == STATE)
    THNN_State_free(object);
  else if (content == GENERATOR)
    THGenerator_free(object);
}

void pythnn_disown(pythnn_Owned *owned)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard))
    release(owned->content, owned->object);
  pythnn_leave(&guard);
  owned->content = NOTHING;
}

void pythnn_keep(void *held, void *with)
{
  (void)held, (void)with;
}
