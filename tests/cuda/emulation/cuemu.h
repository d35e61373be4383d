/* What the parts of the emulation share. */
#ifndef CUEMU_H
#define CUEMU_H

#include <stdarg.h>
#include <stdint.h>

#include "fiber.h"
#include "include/cuda_runtime.h"

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

namespace cuemu
{

/* ---- failures (report.cpp) */

/* Says what went wrong, in which kernel, block and thread, and aborts. */
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- the scheduler (scheduler.cpp) */

struct Running {
  const char *kernel = nullptr;         /* null outside launches */
  const char *lastKernel = "no kernel"; /* for messages between launches */
  bool insideThread = false;            /* kernel code runs, not the scheduler */
  bool inAtomic = false;
  uint32_t launch = 0;      /* counts launches, from 1 */
  uint32_t blockSerial = 0; /* counts blocks of all launches */
  uint32_t block = 0;       /* linear index in the grid */
  unsigned thread = 0;      /* linear index in the block */
  uint32_t blockEpoch = 0;  /* __syncthreads passed by the block */
  uint32_t warpEpoch = 0;   /* __syncwarp passed by the thread */
  const void *arguments = nullptr;
  size_t argumentBytes = 0;
};
extern Running running;

/* The stack of the fiber that runs now. */
bool onCurrentStack(uintptr_t address);
bool onAnyFiberStack(uintptr_t address);

/* ---- shared memory (shared.cpp) */

void sharedBegin(size_t dynamicBytes); /* of a launch */
void sharedNewBlock();
void sharedCheck(); /* aborts when a byte between the arrays was overwritten */

struct SharedArray {
  const void *site;
  const char *name;
  uintptr_t first, last;
};
bool inSharedMemory(uintptr_t address);
const SharedArray *findShared(uintptr_t address);
size_t sharedBytes(); /* of the range that holds all arrays */
size_t sharedOffset(uintptr_t address);

/* ---- device memory (memory.cpp) */

struct Shadow; /* checker.cpp */

struct Allocation {
  uintptr_t first, last;         /* the bytes asked for */
  uintptr_t firstPage, lastPage; /* the pages around them */
  int device;
  bool hostVisible; /* cudaHostAlloc */
  Shadow *shadow;
};

bool inArena(uintptr_t address);
Allocation *findAllocation(uintptr_t address); /* live, holding the address */
/* Describes the nearest allocation, for messages: "4 bytes past the end of 40 bytes". */
void describe(uintptr_t address, char *text, size_t textBytes);
void openMemory();  /* kernels and copies may touch device memory from here … */
void closeMemory(); /* … to here; elsewhere a touch ends the process */
void checkGuards(); /* aborts when a byte beside an allocation was overwritten */

/* ---- the checker (checker.cpp) */

void shadowFree(Allocation *allocation);
void markWritten(uintptr_t address, size_t bytes);
void copyWritten(uintptr_t to, uintptr_t from, size_t bytes);
/* What a library call (cuBLAS) reads or writes. */
void libraryRead(const char *what, const void *pointer, size_t bytes);
void libraryWrite(const char *what, void *pointer, size_t bytes);

/* ---- runtime (runtime.cpp) */

cudaError_t setError(cudaError_t error); /* remembers and returns it */
int currentDevice();
bool hasPools();
bool launchShouldFail();
cudaError_t checkStream(cudaStream_t stream);
void noteWait(); /* here a GPU's runtime would wait for the device, or may */

enum { POISON = 0xfffa5eed }; /* fresh memory: a NaN in float and in double, a negative index */

} // namespace cuemu

#endif
