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

/* ---- A block that is kept for the next call --------------------------------------------------- */

/* Scratch of calls is often as large as in the call before. One freed block is kept for the next
 * request that it suffices for and that needs at least half of it: from the system, every page would
 * come as a fault, and be cleared. A layer of an LSTM with 1024 units packs a weight of 16 MB in 2.4 to
 * 4 ms, and in 27 to 38 with pages from the system of a virtual machine. Smaller blocks malloc keeps by
 * itself; 32 MB is the most that glibc's does. */
#define LEAST_KEPT ((size_t)1 << 20)
#define MOST_KEPT ((size_t)32 << 20)

/* What is stored right before a block of THTryAlloc. */
typedef struct Origin {
  void *raw;
  size_t bytes; /* of the raw block */
} Origin;

/* The kept block, and at its beginning its size. Whoever exchanges the pointer for NULL owns it. */
static void *keptBlock;

/* Where memory is checked, every block is freed. */
#if defined(__SANITIZE_ADDRESS__)
enum { KEEPS_BLOCKS = 0 };
#elif defined(__has_feature)
enum { KEEPS_BLOCKS = !__has_feature(address_sanitizer) };
#else
enum { KEEPS_BLOCKS = 1 };
#endif

static void *takeKept(void)
{
  void *block = TH_ATOMIC_LOAD(&keptBlock);
  if (!block || !TH_ATOMIC_EXCHANGE_IF(&keptBlock, &block, NULL))
    return NULL;
  return block;
}

/* Keeps a block, or the larger one of it and the kept one; frees the other. */
static void keepBlock(void *block, size_t bytes)
{
  void *other = takeKept();
  if (other) {
    size_t otherBytes;
    memcpy(&otherBytes, other, sizeof otherBytes);
    if (otherBytes > bytes) {
      void *smaller = block;
      block = other, bytes = otherBytes;
      other = smaller;
    }
    free(other);
  }
  memcpy(block, &bytes, sizeof bytes);
  void *none = NULL;
  if (!TH_ATOMIC_EXCHANGE_IF(&keptBlock, &none, block))
    free(block);
}

/* A kept block for a request, whose size becomes the block's; or NULL. */
static void *keptFor(size_t *bytes)
{
  if (*bytes < LEAST_KEPT || *bytes > MOST_KEPT)
    return NULL;
  void *block = takeKept();
  if (!block)
    return NULL;
  size_t found;
  memcpy(&found, block, sizeof found);
  if (found < *bytes || found / 2 > *bytes) {
    keepBlock(block, found);
    return NULL;
  }
  *bytes = found;
  return block;
}

static const THMemoryHooks libraryHooks = {libraryMalloc, libraryRealloc, libraryFree, NULL};
static THMemoryHooks hooks = {libraryMalloc, libraryRealloc, libraryFree, NULL};

void THSetMemoryHooks(const THMemoryHooks *replacement)
{
  free(takeKept());
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

/* Whether blocks may be kept: the program has not replaced the functions that free them. */
static bool keepsBlocks(void)
{
  return KEEPS_BLOCKS && hooks.free == libraryFree;
}

void *THTryAlloc(size_t bytes, size_t alignment)
{
  const size_t extra = alignment + sizeof(Origin);
  if (bytes > SIZE_MAX - extra)
    return NULL;
  Origin origin = {.raw = NULL, .bytes = bytes + extra};
  if (keepsBlocks())
    origin.raw = keptFor(&origin.bytes);
  if (!origin.raw)
    origin.raw = THRawAlloc(origin.bytes);
  if (!origin.raw)
    return NULL;
  char *block = THAlignUp((char *)origin.raw + sizeof origin, alignment);
  memcpy(block - sizeof origin, &origin, sizeof origin);
  return block;
}

void THTryFree(void *block)
{
  if (!block)
    return;
  Origin origin;
  memcpy(&origin, (char *)block - sizeof origin, sizeof origin);
  if (keepsBlocks() && origin.bytes >= LEAST_KEPT && origin.bytes <= MOST_KEPT)
    keepBlock(origin.raw, origin.bytes);
  else
    THRawFree(origin.raw);
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
