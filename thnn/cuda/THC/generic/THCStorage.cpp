#include "template.h"

#include <string.h>
#include <TH/THMemory.h>
#include <TH/THPortability.h>

static THCStorage *newStorage(real *data, ptrdiff_t size, char flag, const THCState *state)
{
  THCStorage *storage = (THCStorage *)THAlloc(sizeof *storage);
  memset(storage, 0, sizeof *storage);
  storage->data = data;
  storage->size = size;
  storage->refcount = 1;
  storage->flag = flag;
  storage->allocator = state->allocator;
  storage->allocatorContext = state->allocatorContext;
  storage->device = state->device;
  return storage;
}

THCStorage *THCStorage_(new)(THCState *state)
{
  THC_checkState(state, "THCStorage_new");
  return newStorage(nullptr, 0, TH_STORAGE_REFCOUNTED | TH_STORAGE_RESIZABLE | TH_STORAGE_FREEMEM,
                    state);
}

THCStorage *THCStorage_(newWithData)(THCState *state, real *data, ptrdiff_t size)
{
  THC_checkState(state, "THCStorage_newWithData");
  return newStorage(data, size, TH_STORAGE_REFCOUNTED, state);
}

void THCStorage_(retain)(THCState *state, THCStorage *storage)
{
  (void)state;
  if (storage && (storage->flag & TH_STORAGE_REFCOUNTED))
    TH_ATOMIC_FETCH_ADD(&storage->refcount, 1);
}

static void checkDevice(const char *function, const THCState *state, const THCStorage *storage)
{
  THArgCheck(storage->device == state->device, 2,
             "%s: the storage is on device %d, the state works on device %d", function,
             storage->device, state->device);
}

static void freeData(THCState *state, THCStorage *storage, THCFailure *failure)
{
  const int previous = THC_enter(state, failure);
  THC_release(state, storage->allocator, storage->allocatorContext, storage->data, storage->device,
              failure);
  THC_leave(previous);
}

void THCStorage_(drop)(THCState *state, THCStorage *storage, THCFailure *failure)
{
  if (!storage || !(storage->flag & TH_STORAGE_REFCOUNTED) ||
      TH_ATOMIC_FETCH_ADD(&storage->refcount, -1) != 1)
    return;
  if (storage->data && (storage->flag & TH_STORAGE_FREEMEM))
    freeData(state, storage, failure);
  THFree(storage);
}

void THCStorage_(free)(THCState *state, THCStorage *storage)
{
  if (!storage || !(storage->flag & TH_STORAGE_REFCOUNTED))
    return;
  const char *function = "THCStorage_free";
  THC_checkState(state, function);
  checkDevice(function, state, storage);
  THCFailure failure = THC_noFailure();
  THCStorage_(drop)(state, storage, &failure);
  THC_raise(function, failure);
}

/* Allocates a block of `size` elements that begins with the storage's; NULL on failure. */
static real *grow(THCState *state, const THCStorage *storage, ptrdiff_t size, THCFailure *failure)
{
  const int previous = THC_enter(state, failure);
  real *data = nullptr;
  if (!failure->what)
    data = (real *)THC_allocate(state, (size_t)size * sizeof(real));
  const ptrdiff_t kept = storage->size < size ? storage->size : size;
  if (data && kept > 0)
    THC_note(failure, "cudaMemcpyAsync",
             cudaMemcpyAsync(data, storage->data, (size_t)kept * sizeof(real),
                             cudaMemcpyDeviceToDevice, state->stream));
  THC_leave(previous);
  return data;
}

/* Resizes the storage. Returns false, and leaves the storage as it was, when there is no memory. */
static bool tryResize(THCState *state, THCStorage *storage, ptrdiff_t size, THCFailure *failure)
{
  real *data = size > 0 ? grow(state, storage, size, failure) : nullptr;
  if (size > 0 && !data)
    return false;
  if (storage->data && (storage->flag & TH_STORAGE_FREEMEM))
    freeData(state, storage, failure);
  storage->data = data;
  storage->size = size;
  storage->flag |= TH_STORAGE_FREEMEM;
  storage->allocator = state->allocator;
  storage->allocatorContext = state->allocatorContext;
  return true;
}

static void checkSize(const char *function, int position, ptrdiff_t size)
{
  THArgCheck(size >= 0 && size <= PTRDIFF_MAX / (ptrdiff_t)sizeof(real), position,
             "%s: %td elements do not fit into memory", function, size);
}

/* Raises an error if tryResize has failed. */
static void checkResized(const char *function, const THCState *state, ptrdiff_t size, bool resized,
                         THCFailure failure)
{
  THC_raise(function, failure);
  if (!resized)
    THMemoryError("%s: not enough memory on device %d for %td elements of %zu bytes", function,
                  state->device, size, sizeof(real));
}

THCStorage *THCStorage_(newWithSize)(THCState *state, ptrdiff_t size)
{
  const char *function = "THCStorage_newWithSize";
  THC_checkState(state, function);
  checkSize(function, 2, size);
  THCStorage *storage = THCStorage_(new)(state);
  THCFailure failure = THC_noFailure();
  const bool resized = tryResize(state, storage, size, &failure);
  if (!resized)
    THFree(storage);
  checkResized(function, state, size, resized, failure);
  return storage;
}

void THCStorage_(resize)(THCState *state, THCStorage *storage, ptrdiff_t size)
{
  const char *function = "THCStorage_resize";
  THC_checkState(state, function);
  THArgCheck(storage->flag & TH_STORAGE_RESIZABLE, 2, "%s: the storage is not resizable", function);
  checkDevice(function, state, storage);
  checkSize(function, 3, size);
  THCFailure failure = THC_noFailure();
  const bool resized = tryResize(state, storage, size, &failure);
  checkResized(function, state, size, resized, failure);
}

static void copyAndWait(const char *function, THCState *state, void *to, const void *from,
                        ptrdiff_t elements, cudaMemcpyKind kind)
{
  THC_checkState(state, function);
  THCFailure failure = THC_noFailure();
  const int previous = THC_enter(state, &failure);
  if (elements > 0) {
    THC_note(&failure, "cudaMemcpyAsync",
             cudaMemcpyAsync(to, from, (size_t)elements * sizeof(real), kind, state->stream));
    THC_note(&failure, "cudaStreamSynchronize", cudaStreamSynchronize(state->stream));
  }
  THC_leave(previous);
  THC_raise(function, failure);
}

void THCStorage_(copyFromHost)(THCState *state, THCStorage *storage, const real *from)
{
  copyAndWait("THCStorage_copyFromHost", state, storage->data, from, storage->size,
              cudaMemcpyHostToDevice);
}

void THCStorage_(copyToHost)(THCState *state, const THCStorage *storage, real *to)
{
  copyAndWait("THCStorage_copyToHost", state, to, storage->data, storage->size,
              cudaMemcpyDeviceToHost);
}
