/* Declarations for the sources of libTHCUNN only: the state's fields, errors, the current
 * device. */
#ifndef THC_INTERNAL_H
#define THC_INTERNAL_H

#include <cuda_runtime.h>
#include "THC.h"

/* The first bad index or value that a kernel has found. It is in host memory that the device can
 * write, so that the host sees it without waiting for the device. */
struct THCIndexReport {
  int claimed; /* 1 once a thread has started to fill in the report */
  int raised;  /* 1 once the report is complete */
  int64_t found, low, high;
  const char *function; /* a host address, which kernels only copy */
  const char *domain;   /* likewise: valid values in words; NULL for indices in [low, high] */
};

struct THCState {
  uint64_t live; /* a magic number, by which a live state is recognised */
  int device;
  cudaStream_t stream;
  const THCAllocator *allocator;
  void *allocatorContext;
  bool hasPool; /* whether the device has stream-ordered memory pools */
  bool deterministic, checkIndices;
  THCIndexReport *indexReport;       /* the report's address on the host */
  THCIndexReport *deviceIndexReport; /* the same report's address on the device */
  uint64_t seed, drawn;       /* the sequence of random numbers, and the groups drawn from it */
  int processors;             /* number of the device's multiprocessors */
  int64_t cacheBytes;         /* size of the device's L2 cache */
  struct cublasContext *blas; /* cuBLAS's handle; NULL until the first product */
};

/* A CUDA or cuBLAS call that failed. The strings are never freed. */
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

/* Records a failed call, unless an earlier failure is recorded. */
void THC_note(THCFailure *failure, const char *what, cudaError_t status);

/* Raises "<function>: <what> failed: <text> (<name>)" if there is a failure. */
void THC_raise(const char *function, THCFailure failure);

/* Raises unless `state` is a live state. */
void THC_checkState(const THCState *state, const char *function);

/* Raises an error if an earlier call has left an index report. */
void THC_raiseIndexError(THCState *state);

/* Makes the state's device current and returns the previous one, which THC_leave makes current
 * again. */
int THC_enter(const THCState *state, THCFailure *failure);
void THC_leave(int previous);

/* Device memory from the state's allocator; NULL when there is none. */
void *THC_allocate(THCState *state, size_t bytes);
void THC_release(THCState *state, const THCAllocator *allocator, void *context, void *block,
                 int device, THCFailure *failure);

#endif
