/* Hooks for libTH's memory that count blocks and can fail: see THSetMemoryHooks. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static int64_t blocks, untilFailure;

/* Blocks allocated and not freed since counting began. */
int64_t liveBlocks(void)
{
  return __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);
}

void startCounting(void)
{
  __atomic_store_n(&blocks, 0, __ATOMIC_RELEASE);
}

/* The n-th allocation from now on (from 1) fails, and all after it; 0: none. */
void failFrom(int64_t n)
{
  __atomic_store_n(&untilFailure, n, __ATOMIC_RELEASE);
}

static int fails(void)
{
  const int64_t left = __atomic_load_n(&untilFailure, __ATOMIC_ACQUIRE);
  if (left > 1)
    __atomic_fetch_add(&untilFailure, -1, __ATOMIC_ACQ_REL);
  return left == 1;
}

static void count(int64_t change)
{
  __atomic_fetch_add(&blocks, change, __ATOMIC_ACQ_REL);
}

void *countingMalloc(void *context, size_t bytes)
{
  (void)context;
  void *block = fails() ? NULL : malloc(bytes);
  if (block)
    count(1);
  return block;
}

void *countingRealloc(void *context, void *block, size_t bytes)
{
  (void)context;
  void *moved = fails() ? NULL : realloc(block, bytes);
  if (moved && !block)
    count(1);
  return moved;
}

void countingFree(void *context, void *block)
{
  (void)context;
  if (block)
    count(-1);
  free(block);
}
