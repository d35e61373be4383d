/* The first argument of every CUDA function: on which device and stream it works, where scratch
 * memory comes from, and per-call choices. Use one state per thread. A state is not Torch7's
 * THCState: the names and arguments of the functions are, the struct is our own.
 *
 * Work is queued on the state's stream and the functions return at once; nothing waits for a
 * device. The caller's current device is the same after a call as before it. */
#ifndef THC_STATE_H
#define THC_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <TH/TH.h>

#define THC_API TH_API

typedef struct THCState THCState;

/* Where device memory comes from: CUDA's stream-ordered pool, or a caller's. Neither function may
 * raise an error. `stream` is a cudaStream_t. */
typedef struct THCAllocator {
  /* Memory on the device, aligned to 256 bytes, for work queued on the stream from now on; NULL
   * when there is none. */
  void *(*allocate)(void *context, size_t bytes, int device, void *stream);
  /* Takes memory back once the work queued on the stream so far has ended. 0, or a cudaError_t. */
  int (*release)(void *context, void *block, int device, void *stream);
} THCAllocator;

/* A state for a device, on its legacy default stream. Raises when there is no such device. */
THC_API THCState *THCState_new(int device);

/* Frees a state and its cuBLAS handle; NULL is ignored. */
THC_API void THCState_free(THCState *state);

THC_API int THCState_device(const THCState *state);

/* The cudaStream_t of all further work. Ordering it after earlier work is the caller's. */
THC_API void THCState_setStream(THCState *state, void *stream);
THC_API void *THCState_stream(const THCState *state);

/* Work queued on `later` from now on waits for what has been queued on `earlier`; both are streams
 * of the state's device. */
THC_API void THCState_orderStreams(THCState *state, void *earlier, void *later);

/* The device whose memory an address lies in; -1 for none. */
THC_API int THCState_deviceOfMemory(const void *address);

/* The allocator of scratch memory and of storages made or resized from now on; NULL goes back to
 * CUDA's pool. The allocator must outlive the state and those storages. */
THC_API void THCState_setAllocator(THCState *state, const THCAllocator *allocator, void *context);

/* Makes functions that are not deterministic refuse to run. Off by default. */
THC_API void THCState_setDeterministic(THCState *state, bool deterministic);
THC_API bool THCState_deterministic(const THCState *state);

/* Checks index values (targets, lookup and pooling indices) before the work, which waits for the
 * stream. Off by default: a bad index is then never followed, and raised by the next call with this
 * state or by THCState_synchronize. */
THC_API void THCState_setCheckIndices(THCState *state, bool check);
THC_API bool THCState_checkIndices(const THCState *state);

/* Starts the state's random numbers again, which RReLU draws: the same numbers after the same seed,
 * on every device. A new state has the seed 0. */
THC_API void THCState_setSeed(THCState *state, uint64_t seed);

/* Waits for the stream and raises what went wrong on it. */
THC_API void THCState_synchronize(THCState *state);

#endif
