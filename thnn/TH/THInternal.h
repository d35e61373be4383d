/* What the sources of libTH share among themselves. */

#ifndef TH_INTERNAL_H
#define TH_INTERNAL_H

#include "THGeneral.h"

/* malloc, realloc and free, or their hooks: NULL on failure, never an error. At least one byte. */
void *THRawAlloc(size_t bytes);
void *THRawRealloc(void *block, size_t bytes);
void THRawFree(void *block);

/* Raises the error of an allocation that failed. */
TH_NORETURN TH_COLD void THOutOfMemory(size_t bytes);

/* bytes, raised to a multiple of alignment (a power of two), as an address. */
static inline char *THAlignUp(const void *address, size_t alignment)
{
  return (char *)(((uintptr_t)address + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

/* Asks for large pages under a block that was allocated and not touched yet; a hint. */
void THUseLargePages(void *block, size_t bytes);

/* Around a fork, so that the child does not inherit a lock that nobody there will release. */
void THBlasBeforeFork(void);
void THBlasAfterFork(void);

/* The library that a function belongs to, for THFindFunction; NULL when unknown. */
typedef void (*THFunction)(void);
void *THOpenLibraryOf(THFunction function);

/* A function exported by that library or by one that it depends on; NULL if there is none. */
THFunction THFindFunction(void *library, const char *name);

#endif
