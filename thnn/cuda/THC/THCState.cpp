#include "THCInternal.h"
#include "THCBlas.h"

#include <stdio.h>
#include <string.h>
#include "call/check.h"

/* ---- Errors --------------------------------------------------------------------------------- */

void THC_note(THCFailure *failure, const char *what, cudaError_t status)
{
  if (status == cudaSuccess)
    return;
  cudaGetLastError(); /* clears the error, so that the next call does not see it */
  if (failure->what)
    return;
  failure->what = what;
  failure->name = cudaGetErrorName(status);
  failure->text = cudaGetErrorString(status);
}

void THC_raise(const char *function, THCFailure failure)
{
  if (failure.what)
    THError("%s: %s failed: %s (%s)", function, failure.what, failure.text, failure.name);
}

/* ---- CUDA's memory --------------------------------------------------------------------------- */

static void *poolAllocate(void *context, size_t bytes, int device, void *stream)
{
  (void)context;
  (void)device;
  void *block = nullptr;
  if (cudaMallocAsync(&block, bytes, (cudaStream_t)stream) == cudaSuccess)
    return block;
  cudaGetLastError();
  return nullptr;
}

static int poolRelease(void *context, void *block, int device, void *stream)
{
  (void)context;
  (void)device;
  return cudaFreeAsync(block, (cudaStream_t)stream);
}

static const THCAllocator pool = {poolAllocate, poolRelease};

/* The allocator for devices without pools (some virtual GPUs). cudaFree waits for the device. */
static void *plainAllocate(void *context, size_t bytes, int device, void *stream)
{
  (void)context;
  (void)device;
  (void)stream;
  void *block = nullptr;
  if (cudaMalloc(&block, bytes) == cudaSuccess)
    return block;
  cudaGetLastError();
  return nullptr;
}

static int plainRelease(void *context, void *block, int device, void *stream)
{
  (void)context;
  (void)device;
  (void)stream;
  return cudaFree(block);
}

static const THCAllocator plain = {plainAllocate, plainRelease};

static const THCAllocator *defaultAllocator(const THCState *state)
{
  return state->hasPool ? &pool : &plain;
}

void *THC_allocate(THCState *state, size_t bytes)
{
  return state->allocator->allocate(state->allocatorContext, bytes, state->device, state->stream);
}

void THC_release(THCState *state, const THCAllocator *allocator, void *context, void *block,
                 int device, THCFailure *failure)
{
  THC_note(failure, "freeing device memory",
           (cudaError_t)allocator->release(context, block, device, state->stream));
}

/* ---- The current device --------------------------------------------------------------------- */

int THC_enter(const THCState *state, THCFailure *failure)
{
  int previous = state->device;
  THC_note(failure, "cudaGetDevice", cudaGetDevice(&previous));
  if (previous != state->device)
    THC_note(failure, "cudaSetDevice", cudaSetDevice(state->device));
  return previous;
}

void THC_leave(int previous)
{
  int current = previous;
  if (cudaGetDevice(&current) == cudaSuccess && current != previous)
    cudaSetDevice(previous);
}

/* ---- The state ------------------------------------------------------------------------------ */

static const uint64_t LIVE = 0x746863756e6e7374u;

void THC_checkState(const THCState *state, const char *function)
{
  if (!state || state->live != LIVE)
    THNN_reject(function, "state", 1, "a state made by THCState_new",
                state ? "something else" : "NULL");
}

static int attribute(THCFailure *failure, cudaDeviceAttr which, int device)
{
  int value = 0;
  THC_note(failure, "cudaDeviceGetAttribute", cudaDeviceGetAttribute(&value, which, device));
  return value;
}

static void newIndexReport(THCState *state, THCFailure *failure)
{
  void *host = nullptr, *device = nullptr;
  THC_note(failure, "cudaHostAlloc",
           cudaHostAlloc(&host, sizeof(THCIndexReport), cudaHostAllocMapped));
  if (!host)
    return;
  memset(host, 0, sizeof(THCIndexReport));
  THC_note(failure, "cudaHostGetDevicePointer", cudaHostGetDevicePointer(&device, host, 0));
  state->indexReport = (THCIndexReport *)host;
  state->deviceIndexReport = (THCIndexReport *)device;
}

/* Frees the state and what it holds on the device. */
static void dispose(THCState *state)
{
  THCFailure ignored = THC_noFailure();
  const int previous = THC_enter(state, &ignored);
  THC_destroyBlas(state);
  if (state->indexReport)
    cudaFreeHost(state->indexReport);
  THC_leave(previous);
  state->live = 0;
  THFree(state);
}

THCState *THCState_new(int device)
{
  const char *function = "THCState_new";
  int count = 0;
  THCFailure failure = THC_noFailure();
  THC_note(&failure, "cudaGetDeviceCount", cudaGetDeviceCount(&count));
  THC_raise(function, failure);
  if (device < 0 || device >= count) {
    char expected[32], found[16];
    snprintf(expected, sizeof expected, "0 to %d", count - 1);
    snprintf(found, sizeof found, "%d", device);
    THNN_reject(function, "device", 1, expected, found);
  }

  THCState *state = (THCState *)THAlloc(sizeof *state);
  memset(state, 0, sizeof *state);
  state->live = LIVE;
  state->device = device;
  const int previous = THC_enter(state, &failure);
  state->processors = attribute(&failure, cudaDevAttrMultiProcessorCount, device);
  state->cacheBytes = attribute(&failure, cudaDevAttrL2CacheSize, device);
  state->hasPool = attribute(&failure, cudaDevAttrMemoryPoolsSupported, device) != 0;
  state->allocator = defaultAllocator(state);
  newIndexReport(state, &failure);
  THC_leave(previous);
  if (failure.what)
    dispose(state);
  THC_raise(function, failure);
  return state;
}

void THCState_free(THCState *state)
{
  if (!state)
    return;
  THC_checkState(state, "THCState_free");
  dispose(state);
}

int THCState_device(const THCState *state)
{
  THC_checkState(state, "THCState_device");
  return state->device;
}

void THCState_setStream(THCState *state, void *stream)
{
  THC_checkState(state, "THCState_setStream");
  state->stream = (cudaStream_t)stream;
}

void *THCState_stream(const THCState *state)
{
  THC_checkState(state, "THCState_stream");
  return state->stream;
}

void THCState_orderStreams(THCState *state, void *earlier, void *later)
{
  const char *function = "THCState_orderStreams";
  THC_checkState(state, function);
  THCFailure failure = THC_noFailure();
  const int previous = THC_enter(state, &failure);
  cudaEvent_t event = nullptr;
  THC_note(&failure, "cudaEventCreateWithFlags",
           cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  if (!failure.what)
    THC_note(&failure, "cudaEventRecord", cudaEventRecord(event, (cudaStream_t)earlier));
  if (!failure.what)
    THC_note(&failure, "cudaStreamWaitEvent", cudaStreamWaitEvent((cudaStream_t)later, event, 0));
  if (event)
    THC_note(&failure, "cudaEventDestroy", cudaEventDestroy(event));
  THC_leave(previous);
  THC_raise(function, failure);
}

int THCState_deviceOfMemory(const void *address)
{
  cudaPointerAttributes attributes;
  const cudaError_t status = cudaPointerGetAttributes(&attributes, address);
  if (status != cudaSuccess)
    cudaGetLastError();
  const bool there = status == cudaSuccess && (attributes.type == cudaMemoryTypeDevice ||
                                               attributes.type == cudaMemoryTypeManaged);
  return there ? attributes.device : -1;
}

void THCState_setAllocator(THCState *state, const THCAllocator *allocator, void *context)
{
  THC_checkState(state, "THCState_setAllocator");
  state->allocator = allocator ? allocator : defaultAllocator(state);
  state->allocatorContext = allocator ? context : nullptr;
}

void THCState_setDeterministic(THCState *state, bool deterministic)
{
  THC_checkState(state, "THCState_setDeterministic");
  state->deterministic = deterministic;
}

bool THCState_deterministic(const THCState *state)
{
  THC_checkState(state, "THCState_deterministic");
  return state->deterministic;
}

void THCState_setCheckIndices(THCState *state, bool check)
{
  THC_checkState(state, "THCState_setCheckIndices");
  state->checkIndices = check;
}

bool THCState_checkIndices(const THCState *state)
{
  THC_checkState(state, "THCState_checkIndices");
  return state->checkIndices;
}

void THCState_setSeed(THCState *state, uint64_t seed)
{
  THC_checkState(state, "THCState_setSeed");
  state->seed = seed;
  state->drawn = 0;
}

void THC_raiseIndexError(THCState *state)
{
  volatile THCIndexReport *report = state->indexReport;
  if (!report->raised)
    return;
  const long long found = report->found, low = report->low, high = report->high;
  const char *function = report->function, *domain = report->domain;
  report->raised = 0;
  report->claimed = 0;
  if (domain)
    THError("%s: a value of an earlier call was outside its range: expected %s", function, domain);
  THError("%s: an index of an earlier call was outside its range: expected %lld to %lld, found "
          "%lld",
          function, low, high, found);
}

void THCState_synchronize(THCState *state)
{
  const char *function = "THCState_synchronize";
  THC_checkState(state, function);
  THCFailure failure = THC_noFailure();
  const int previous = THC_enter(state, &failure);
  THC_note(&failure, "cudaStreamSynchronize", cudaStreamSynchronize(state->stream));
  THC_leave(previous);
  THC_raise(function, failure);
  THC_raiseIndexError(state);
}
