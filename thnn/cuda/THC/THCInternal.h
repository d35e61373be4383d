/* What the sources of libTHCUNN share: the state's fields, errors, the current device. */
#ifndef THC_INTERNAL_H
#define THC_INTERNAL_H

#include <cuda_runtime.h>
#include "THC.h"

/* The first bad index or value of kernels that ran so far. It lies in host memory that the device writes
 * to, so that the host sees it without waiting. */
struct THCIndexReport {
  int claimed; /* by the thread that fills the rest */
  int raised;  /* the rest is there */
  int64_t found, low, high;
  const char *function; /* of the host; kernels only pass the address on */
  const char *domain;   /* what values should have been; NULL: indices from low to high */
};

struct THCState {
  uint64_t live; /* tells a state from anything else */
  int device;
  cudaStream_t stream;
  const THCAllocator *allocator;
  void *allocatorContext;
  bool hasPool; /* the device has stream-ordered memory pools */
  bool deterministic, checkIndices;
  THCIndexReport *indexReport;       /* the host's address */
  THCIndexReport *deviceIndexReport; /* the same memory, the device's address */
  uint64_t seed, drawn;       /* of the random numbers: where they start, how many have been used */
  int processors;             /* multiprocessors of the device */
  int64_t cacheBytes;         /* its L2 cache */
  struct cublasContext *blas; /* NULL until the first product */
};

/* A CUDA or cuBLAS call that did not succeed. All strings live forever. */
struct THCFailure {
  const char *what; /* the call or the kernel; NULL while nothing has failed */
  const char *name; /* "cudaErrorInvalidValue" */
  const char *text; /* "invalid argument" */
};

static inline THCFailure THC_noFailure()
{
  THCFailure none = {nullptr, nullptr, nullptr};
  return none;
}

/* Keeps the first failure. */
void THC_note(THCFailure *failure, const char *what, cudaError_t status);

/* Raises "<function>: <what> failed: <text> (<name>)" if there is a failure. */
void THC_raise(const char *function, THCFailure failure);

/* Raises unless `state` is a live state. */
void THC_checkState(const THCState *state, const char *function);

/* Raises an index error that an earlier call left. */
void THC_raiseIndexError(THCState *state);

/* Makes the state's device current; THC_leave goes back to the one before. */
int THC_enter(const THCState *state, THCFailure *failure);
void THC_leave(int previous);

/* Device memory from the state's allocator; NULL when there is none. */
void *THC_allocate(THCState *state, size_t bytes);
void THC_release(THCState *state, const THCAllocator *allocator, void *context, void *block,
                 int device, THCFailure *failure);

#endif
