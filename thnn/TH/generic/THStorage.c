/* Storages: reference-counted arrays. */

#include "template.h"
#include "../THMemory.h"

#include <string.h>

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(offsetof(THStorage, size) == 8 && offsetof(THStorage, refcount) == 16 &&
                   offsetof(THStorage, flag) == 20 && offsetof(THStorage, allocator) == 24 &&
                   offsetof(THStorage, view) == 40 && sizeof(THStorage) == 48,
               "the layout is Torch7's");
#endif

/* The number of bytes of `size` elements; raises an error if it is negative or overflows. */
static ptrdiff_t byteCount(ptrdiff_t size)
{
  ptrdiff_t bytes;
  if (size < 0)
    THError("a storage cannot have a negative size (%td)", size);
  if (TH_MULTIPLY_OVERFLOWS(size, (ptrdiff_t)sizeof(real), &bytes))
    THMemoryError("not enough memory: a storage of %td elements is too large", size);
  return bytes;
}

/* Allocates data. Zero bytes give NULL; raises an error when there is no memory. */
static real *allocateData(ptrdiff_t bytes, THAllocator *allocator, void *allocatorContext)
{
  if (bytes == 0)
    return NULL;
  real *data = allocator->malloc(allocatorContext, bytes);
  if (!data)
    THOutOfMemory((size_t)bytes);
  return data;
}

/* A new storage with this data, or NULL when there is no memory for the struct. */
static THStorage *wrapData(real *data, ptrdiff_t size, THAllocator *allocator,
                           void *allocatorContext)
{
  THStorage *storage = THRawAlloc(sizeof(THStorage));
  if (storage)
    *storage = (THStorage){
        .data = data,
        .size = size,
        .refcount = 1,
        .flag = TH_STORAGE_REFCOUNTED | TH_STORAGE_RESIZABLE | TH_STORAGE_FREEMEM,
        .allocator = allocator,
        .allocatorContext = allocatorContext,
    };
  return storage;
}

THStorage *THStorage_(newWithAllocator)(ptrdiff_t size, THAllocator *allocator,
                                        void *allocatorContext)
{
  real *data = allocateData(byteCount(size), allocator, allocatorContext);
  THStorage *storage = wrapData(data, size, allocator, allocatorContext);
  if (!storage) {
    if (data)
      allocator->free(allocatorContext, data);
    THOutOfMemory(sizeof(THStorage));
  }
  return storage;
}

THStorage *THStorage_(newWithSize)(ptrdiff_t size)
{
  return THStorage_(newWithAllocator)(size, &THDefaultAllocator, NULL);
}

THStorage *THStorage_(new)(void)
{
  return THStorage_(newWithSize)(0);
}

THStorage *THStorage_(newWithDataAndAllocator)(real *data, ptrdiff_t size, THAllocator *allocator,
                                               void *allocatorContext)
{
  byteCount(size);
  THStorage *storage = wrapData(data, size, allocator, allocatorContext);
  if (!storage)
    THOutOfMemory(sizeof(THStorage));
  return storage;
}

THStorage *THStorage_(newWithData)(real *data, ptrdiff_t size)
{
  return THStorage_(newWithDataAndAllocator)(data, size, &THDefaultAllocator, NULL);
}

void THStorage_(retain)(THStorage *storage)
{
  if (storage && (storage->flag & TH_STORAGE_REFCOUNTED))
    TH_ATOMIC_FETCH_ADD(&storage->refcount, 1);
}

void THStorage_(free)(THStorage *storage)
{
  if (!storage || !(storage->flag & TH_STORAGE_REFCOUNTED))
    return;
  if (TH_ATOMIC_FETCH_ADD(&storage->refcount, -1) != 1)
    return;
  if ((storage->flag & TH_STORAGE_FREEMEM) && storage->data)
    storage->allocator->free(storage->allocatorContext, storage->data);
  if (storage->flag & TH_STORAGE_VIEW)
    THStorage_(free)(storage->view);
  THRawFree(storage);
}

void THStorage_(setFlag)(THStorage *storage, const char flag)
{
  storage->flag |= flag;
}

void THStorage_(clearFlag)(THStorage *storage, const char flag)
{
  storage->flag &= (char)~flag;
}

real *THStorage_(data)(const THStorage *storage)
{
  return storage->data;
}

ptrdiff_t THStorage_(size)(const THStorage *storage)
{
  return storage->size;
}

size_t THStorage_(elementSize)(void)
{
  return sizeof(real);
}

/* Raises an error unless 0 <= index < size. */
static void checkIndex(const THStorage *storage, ptrdiff_t index)
{
  THArgCheck(index >= 0 && index < storage->size, 2,
             "index %td is out of range: the storage has %td elements", index, storage->size);
}

void THStorage_(set)(THStorage *storage, ptrdiff_t index, real value)
{
  checkIndex(storage, index);
  storage->data[index] = value;
}

real THStorage_(get)(const THStorage *storage, ptrdiff_t index)
{
  checkIndex(storage, index);
  return storage->data[index];
}

/* Moves the data to a new allocation, for storages that realloc cannot serve. */
static real *moveData(const THStorage *storage, ptrdiff_t size, ptrdiff_t bytes)
{
  real *data = allocateData(bytes, storage->allocator, storage->allocatorContext);
  ptrdiff_t kept = size < storage->size ? size : storage->size;
  if (kept > 0)
    memcpy(data, storage->data, (size_t)kept * sizeof(real));
  if ((storage->flag & TH_STORAGE_FREEMEM) && storage->data)
    storage->allocator->free(storage->allocatorContext, storage->data);
  return data;
}

void THStorage_(resize)(THStorage *storage, ptrdiff_t size)
{
  if (!(storage->flag & TH_STORAGE_RESIZABLE))
    THError("Trying to resize storage that is not resizable");
  ptrdiff_t bytes = byteCount(size);
  real *data;
  if (storage->allocator->realloc && (storage->flag & TH_STORAGE_FREEMEM)) {
    data = storage->allocator->realloc(storage->allocatorContext, storage->data, bytes);
    if (!data && bytes > 0)
      THOutOfMemory((size_t)bytes);
  } else {
    data = moveData(storage, size, bytes);
  }
  storage->data = data;
  storage->size = size;
  storage->flag |= TH_STORAGE_FREEMEM;
}

void THStorage_(fill)(THStorage *storage, real value)
{
  THVector_(fill)(storage->data, value, storage->size);
}

void THStorage_(swap)(THStorage *first, THStorage *second)
{
  THStorage old = *first;
  *first = *second;
  *second = old;
  second->refcount = first->refcount;
  first->refcount = old.refcount;
}

void THStorage_(copy)(THStorage *storage, THStorage *source)
{
  THArgCheck(storage->size == source->size, 2, "sizes do not match: %td and %td elements",
             storage->size, source->size);
  THStorage_(rawCopy)(storage, source->data);
}

void THStorage_(rawCopy)(THStorage *storage, real *source)
{
  if (storage->size > 0)
    memmove(storage->data, source, (size_t)storage->size * sizeof(real));
}
