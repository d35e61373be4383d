/* Counts the library's live allocations, and makes a chosen one fail, or those that are too large. */

#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <TH/THMemory.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static long liveAllocations;
static long allocationsUntilFailure; /* the one that counts this down to 0 fails */
static size_t largestAllocation = SIZE_MAX;

static bool allocationFails(size_t bytes)
{
  return --allocationsUntilFailure == 0 || bytes > largestAllocation;
}

static void *countingMalloc(void *context, size_t bytes)
{
  (void)context;
  if (allocationFails(bytes))
    return NULL;
  void *block = malloc(bytes);
  liveAllocations += block != NULL;
  return block;
}

static void *countingRealloc(void *context, void *block, size_t bytes)
{
  (void)context;
  if (allocationFails(bytes))
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

/* Makes allocations of more bytes fail. */
static inline void limitAllocations(size_t bytes)
{
  largestAllocation = bytes;
}

/* Makes the n-th allocation from here on fail; none for 0. */
static inline void failAllocation(long n)
{
  allocationsUntilFailure = n;
}

#endif
