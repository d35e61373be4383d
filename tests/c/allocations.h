/* Counts the library's live allocations, and makes a chosen one fail. */

#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <TH/THMemory.h>

#include <stdlib.h>

static long liveAllocations;
static long allocationsUntilFailure; /* the one that counts this down to 0 fails */

static void *countingMalloc(void *context, size_t bytes)
{
  (void)context;
  if (--allocationsUntilFailure == 0)
    return NULL;
  void *block = malloc(bytes);
  liveAllocations += block != NULL;
  return block;
}

static void *countingRealloc(void *context, void *block, size_t bytes)
{
  (void)context;
  if (--allocationsUntilFailure == 0)
    return NULL;
  return realloc(block, bytes);
}

static void countingFree(void *context, void *block)
{
  (void)context;
  liveAllocations--;
  free(block);
}

/* Starts counting; call it before the library allocates anything that is freed later. */
static inline void countAllocations(void)
{
  static const THMemoryHooks hooks = {countingMalloc, countingRealloc, countingFree, NULL};
  THSetMemoryHooks(&hooks);
}

/* Makes the n-th allocation from here on fail; none for 0. */
static inline void failAllocation(long n)
{
  allocationsUntilFailure = n;
}

#endif
