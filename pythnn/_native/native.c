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

/* How an array of numpy begins. Extensions are compiled with this, so that it stays as it is as long
 * as numpy's binary interface does. */
typedef struct NumpyArray {
  PyObject head;
  void *data;
  int nDimension;
  int64_t *size, *stride;
  PyObject *base, *elementType;
  int flags;
} NumpyArray;

static bool isExpected(const NumpyArray *array, const pythnn_Expected *expected)
{
  if ((array->flags & expected->flags) != expected->flags)
    return false;
  if (!expected->elementType)
    return true;
  return (intptr_t)array->elementType == expected->elementType &&
         array->nDimension == expected->nDimension &&
         memcmp(array->size, expected->size, (size_t)array->nDimension * sizeof(int64_t)) == 0;
}

bool pythnn_readsArray(intptr_t array, const void *data, const pythnn_Expected *expected)
{
  const NumpyArray *const found = (const NumpyArray *)array;
  return found->data == data && found->flags == expected->flags && isExpected(found, expected);
}

/* Finds the addresses of arrays. Returns false if one is not as expected. */
static bool findData(const pythnn_Prepared *prepared)
{
  for (int i = 0; i < prepared->arrayCount; i++) {
    const NumpyArray *const array = (const NumpyArray *)prepared->arrays[i];
    if ((intptr_t)Py_TYPE(&array->head) != prepared->type ||
        !isExpected(array, prepared->expected + i))
      return false;
    prepared->data[i] = array->data;
  }
  return true;
}

int pythnn_runPrepared(const pythnn_Prepared *prepared)
{
  if (!findData(prepared))
    return PYTHNN_CHANGED;
  pythnn_Tensor *const end = prepared->tensors + prepared->tensorCount;
  for (pythnn_Tensor *t = prepared->tensors; t < end; t++) {
    const char *data = (const char *)prepared->data[t->array] + t->offset;
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

/* ---- Calls that are recorded ----------------------------------------------------------------- */

static bool isAsSeen(const pythnn_Seen *seen)
{
  const THFloatTensor *tensor = seen->tensor; /* of any element type: their layouts are one */
  const int nDimension = (int)seen->layout[0];
  const size_t bytes = (size_t)nDimension * sizeof(int64_t);
  const int64_t *size = seen->layout + 2;
  return tensor->storage == seen->storage && tensor->nDimension == nDimension &&
         tensor->storageOffset == seen->layout[1] && memcmp(tensor->size, size, bytes) == 0 &&
         memcmp(tensor->stride, size + nDimension, bytes) == 0;
}

/* Whether the memory is an array's, or arrays look at it. */
static bool isShared(const THFloatStorage *storage)
{
  if (!storage || !storage->data)
    return false;
  return storage->allocator != &THBlockAllocator || THBlock_count(storage->data) > 1;
}

/* Gives a tensor, and all that share its storage, a new one of the same size. */
static void renew(const pythnn_Seen *of, pythnn_Recording *const *family, int familyCount)
{
  THFloatTensor *const first = of->tensor;
  THFloatStorage *const old = first->storage;
  THFloatStorage *const fresh = types[of->type]->newStorage(old->size);
  for (int i = 0; i < familyCount; i++) {
    pythnn_Seen *const end = family[i]->seen + family[i]->seenCount;
    for (pythnn_Seen *seen = family[i]->seen; seen < end; seen++) {
      THFloatTensor *const tensor = seen->tensor;
      if (seen->storage != old)
        continue;
      seen->storage = fresh;
      if (tensor->storage == old) { /* not yet by another recording */
        types[of->type]->retainStorage(fresh);
        tensor->storage = fresh;
        types[of->type]->freeStorage(old);
      }
    }
  }
  types[of->type]->freeStorage(fresh);
}

static int renewResults(const pythnn_Recording *recording, pythnn_Recording *const *family,
                        int familyCount)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard))
    for (int i = 0; i < recording->resultCount; i++) {
      const pythnn_Seen *const result = recording->seen + recording->results[i];
      if (isShared(((const THFloatTensor *)result->tensor)->storage))
        renew(result, family, familyCount);
    }
  return pythnn_leave(&guard);
}

int pythnn_repeat(const pythnn_Recording *recording, pythnn_Recording *const *family,
                  int familyCount)
{
  for (int i = 0; i < recording->seenCount; i++)
    if (!isAsSeen(recording->seen + i))
      return PYTHNN_CHANGED;
  const int code = renewResults(recording, family, familyCount);
  return code ? code : pythnn_runSteps(recording->steps, recording->stepCount);
}

int pythnn_moveStorage(void *storage, int references, void *data, size_t elementSize, void *object)
{
  THFloatStorage *const moved = storage; /* of any element type: their layouts are one */
  if (moved->refcount != references || (uintptr_t)data % elementSize != 0)
    return PYTHNN_CHANGED;
  void *const before = moved->allocatorContext;
  retainObject(object);
  moved->data = data;
  moved->allocatorContext = object;
  releaseObject(before, NULL);
  return PYTHNN_OK;
}

/* ---- Lifetimes ------------------------------------------------------------------------------- */

void pythnn_keep(void *held, void *with)
{
  (void)held, (void)with;
}
