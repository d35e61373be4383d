/* The first argument of every CUDA function: the device and stream that it works on, the allocator
 * of scratch memory, and options. Use one state per thread. The functions have the names and
 * arguments of Torch7's, but the struct is not Torch7's THCState.
 *
 * Functions queue work on the state's stream and return without waiting for the device. The
 * caller's current device is the same after a call as before it. */
#ifndef THC_STATE_H
#define THC_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <TH/TH.h>

#define THC_API TH_API

typedef struct THCState THCState;

/* An allocator of device memory, in place of CUDA's stream-ordered pool. Neither function may raise
 * an error. `stream` is a cudaStream_t. */
typedef struct THCAllocator {
  /* Returns memory on the device, aligned to 256 bytes, for work queued on the stream after this
   * call; NULL when there is none. */
  void *(*allocate)(void *context, size_t bytes, int device, void *stream);
  /* Frees memory once the work queued on the stream so far has ended. Returns 0 or a
   * cudaError_t. */
  int (*release)(void *context, void *block, int device, void *stream);
} THCAllocator;

/* A state for a device, on its legacy default stream. Raises when there is no such device. */
THC_API THCState *THCState_new(int device);

/* Frees a state and its cuBLAS handle; NULL is ignored. */
THC_API void THCState_free(THCState *state);

THC_API int THCState_device(const THCState *state);

/* Sets the cudaStream_t of all further work. The caller must order it after earlier work. */
THC_API void THCState_setStream(THCState *state, void *stream);
THC_API void *THCState_stream(const THCState *state);

/* Work queued on `later` from now on waits for what has been queued on `earlier`; both are streams
 * of the state's device. */
THC_API void THCState_orderStreams(THCState *state, void *earlier, void *later);

/* The device whose memory an address is in; -1 for none. */
THC_API int THCState_deviceOfMemory(const void *address);

/* Sets the allocator of scratch memory and of storages made or resized from now on; NULL restores
 * CUDA's pool. The allocator must outlive the state and those storages. */
THC_API void THCState_setAllocator(THCState *state, const THCAllocator *allocator, void *context);

/* Makes functions that are not deterministic refuse to run. Off by default. */
THC_API void THCState_setDeterministic(THCState *state, bool deterministic);
THC_API bool THCState_deterministic(const THCState *state);

/* Makes functions check index values (targets, lookup and pooling indices) before the work, and so
 * wait for the stream. Off by default: kernels then skip a bad index, and the next call with this
 * state, or THCState_synchronize, raises the error. */
THC_API void THCState_setCheckIndices(THCState *state, bool check);
THC_API bool THCState_checkIndices(const THCState *state);

/* Restarts the state's random numbers, which RReLU draws. The same seed gives the same numbers on
 * every device. A new state has the seed 0. */
THC_API void THCState_setSeed(THCState *state, uint64_t seed);

/* Waits for the stream and raises an error if work on it has failed. */
THC_API void THCState_synchronize(THCState *state);

#endif
