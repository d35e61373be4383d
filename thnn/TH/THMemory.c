/* Memory: hooks, functions that raise on failure, and aligned blocks that do not. */

#include "THMemory.h"
#include "THAllocator.h"
#include "THInternal.h"

#include <stdlib.h>
#include <string.h>

/* Vector loops are slower on an array that does not start at a cache line, since loads then cross
 * from one line to the next. Large blocks of malloc never start at one (their header does), so
 * blocks of at least LARGE bytes are aligned here. */
#define LARGE 4096
#define LARGE_ALIGNMENT 64

/* Blocks of at least this many bytes ask for large pages: fewer page faults when they are first
 * written, fewer TLB misses afterwards. */
#define HUGE (4 << 20)

static bool isAligned(const void *block)
{
  return (uintptr_t)block % LARGE_ALIGNMENT == 0;
}

static void *libraryMalloc(void *context, size_t bytes)
{
  (void)context;
  if (bytes < LARGE || bytes > SIZE_MAX - LARGE_ALIGNMENT)
    return malloc(bytes);
  const size_t size = (bytes + LARGE_ALIGNMENT - 1) & ~(size_t)(LARGE_ALIGNMENT - 1);
  void *block = aligned_alloc(LARGE_ALIGNMENT, size);
  if (block && size >= HUGE)
    THUseLargePages(block, size);
  return block;
}

static void *libraryRealloc(void *context, void *block, size_t bytes)
{
  void *grown = realloc(block, bytes);
  if (!grown || bytes < LARGE || isAligned(grown))
    return grown;
  void *aligned = libraryMalloc(context, bytes);
  if (!aligned)
    return grown;
  memcpy(aligned, grown, bytes);
  free(grown);
  return aligned;
}

static void libraryFree(void *context, void *block)
{
  (void)context;
  free(block);
}

static const THMemoryHooks libraryHooks = {libraryMalloc, libraryRealloc, libraryFree, NULL};
static THMemoryHooks hooks = {libraryMalloc, libraryRealloc, libraryFree, NULL};

void THSetMemoryHooks(const THMemoryHooks *replacement)
{
  hooks = replacement ? *replacement : libraryHooks;
}

void *THRawAlloc(size_t bytes)
{
  return hooks.malloc(hooks.context, bytes);
}

void *THRawRealloc(void *block, size_t bytes)
{
  return block ? hooks.realloc(hooks.context, block, bytes) : THRawAlloc(bytes);
}

void THRawFree(void *block)
{
  if (block)
    hooks.free(hooks.context, block);
}

void THOutOfMemory(size_t bytes)
{
  THMemoryError("not enough memory: could not allocate %zu bytes", bytes);
}

void *THAlloc(ptrdiff_t bytes)
{
  THArgCheck(bytes >= 0, 1, "cannot allocate a negative number of bytes (%td)", bytes);
  if (bytes == 0)
    return NULL;
  void *block = THRawAlloc((size_t)bytes);
  if (!block)
    THOutOfMemory((size_t)bytes);
  return block;
}

void *THRealloc(void *block, ptrdiff_t bytes)
{
  THArgCheck(bytes >= 0, 2, "cannot allocate a negative number of bytes (%td)", bytes);
  if (bytes == 0) {
    THRawFree(block);
    return NULL;
  }
  void *resized = THRawRealloc(block, (size_t)bytes);
  if (!resized)
    THOutOfMemory((size_t)bytes);
  return resized;
}

void THFree(void *block)
{
  THRawFree(block);
}

void *THTryAlloc(size_t bytes, size_t alignment)
{
  /* The address of the raw block is stored right before the aligned one. */
  size_t extra = alignment + sizeof(void *);
  if (bytes > SIZE_MAX - extra)
    return NULL;
  char *raw = THRawAlloc(bytes + extra);
  if (!raw)
    return NULL;
  char *block = THAlignUp(raw + sizeof(void *), alignment);
  memcpy(block - sizeof(void *), &raw, sizeof(void *));
  return block;
}

void THTryFree(void *block)
{
  if (!block)
    return;
  void *raw;
  memcpy(&raw, (char *)block - sizeof(void *), sizeof(void *));
  THRawFree(raw);
}

static void *defaultMalloc(void *context, ptrdiff_t bytes)
{
  (void)context;
  return THAlloc(bytes);
}

static void *defaultRealloc(void *context, void *block, ptrdiff_t bytes)
{
  (void)context;
  return THRealloc(block, bytes);
}

static void defaultFree(void *context, void *block)
{
  (void)context;
  THFree(block);
}

THAllocator THDefaultAllocator = {defaultMalloc, defaultRealloc, defaultFree};
