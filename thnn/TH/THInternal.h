/* Functions that only the sources of libTH use. */

#ifndef TH_INTERNAL_H
#define TH_INTERNAL_H

#include "THGeneral.h"

/* malloc, realloc and free, or their hooks: they return NULL on failure and never raise. `bytes` is
 * at least 1. */
void *THRawAlloc(size_t bytes);
void *THRawRealloc(void *block, size_t bytes);
void THRawFree(void *block);

/* Raises the error of an allocation that failed. */
TH_NORETURN TH_COLD void THOutOfMemory(size_t bytes);

/* The first multiple of `alignment`, a power of two, at or above the address. */
static inline char *THAlignUp(const void *address, size_t alignment)
{
  return (char *)(((uintptr_t)address + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

/* Asks the system for large pages for a block that has not been written yet; only a hint. */
void THUseLargePages(void *block, size_t bytes);

/* The number of threads for reading and writing `bytes` bytes of arrays: 1 where another thread
 * does not pay, in a forked child, and inside a parallel region. */
int THThreadsForBytes(int64_t bytes);

/* Where part `share` begins when n elements are divided into `shares` parts, one for each thread.
 * Parts begin at cache lines if the array does. */
static inline int64_t THShareBegin(int64_t n, int share, int shares)
{
  const int64_t line = 64, lines = n / line;
  return share == shares ? n : (lines / shares * share + lines % shares * share / shares) * line;
}

/* Called before and after a fork: the child must not inherit a lock that no thread of its own
 * holds. */
void THBlasBeforeFork(void);
void THBlasAfterFork(void);

/* A handle of the library that a function belongs to, for THFindFunction; NULL when unknown. */
typedef void (*THFunction)(void);
void *THOpenLibraryOf(THFunction function);

/* A function exported by that library or by one that it depends on; NULL if there is none. */
THFunction THFindFunction(void *library, const char *name);

#endif
