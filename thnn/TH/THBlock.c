/* Reference-counted data blocks: a header of one cache line, then the data. */

#include "THBlock.h"
#include "THInternal.h"

#include <string.h>

typedef struct Header {
  int64_t count;   /* number of references; atomic */
  size_t capacity; /* size of the data in bytes */
  void *raw;       /* the allocation; the header is at its first aligned address */
} Header;

/* Bytes that a block has besides its data: the header, and room to align it. */
#define OVERHEAD ((size_t)2 * TH_BLOCK_ALIGNMENT)

_Static_assert(sizeof(Header) <= TH_BLOCK_ALIGNMENT, "the header must fit before the data");

static Header *headerOf(const void *data)
{
  return (Header *)((char *)data - TH_BLOCK_ALIGNMENT);
}

static char *dataIn(void *raw)
{
  return THAlignUp(raw, TH_BLOCK_ALIGNMENT) + TH_BLOCK_ALIGNMENT;
}

/* Writes the header of a block with one reference; returns its data. */
static void *formatBlock(void *raw, size_t capacity)
{
  void *data = dataIn(raw);
  *headerOf(data) = (Header){1, capacity, raw};
  return data;
}

static void *blockMalloc(void *context, ptrdiff_t bytes)
{
  (void)context;
  if (bytes <= 0)
    return NULL;
  void *raw = THRawAlloc((size_t)bytes + OVERHEAD);
  return raw ? formatBlock(raw, (size_t)bytes) : NULL;
}

static void blockFree(void *context, void *data)
{
  (void)context;
  THBlock_release(data);
}

/* Reallocates a block that nobody else refers to. */
static void *reallocOwned(void *data, size_t bytes)
{
  Header header = *headerOf(data);
  size_t place = (size_t)((char *)data - (char *)header.raw);
  char *raw = THRawRealloc(header.raw, bytes + OVERHEAD);
  if (!raw)
    return NULL;
  char *moved = dataIn(raw);
  if (moved != raw + place)
    memmove(moved, raw + place, bytes < header.capacity ? bytes : header.capacity);
  return formatBlock(raw, bytes);
}

static void *blockRealloc(void *context, void *data, ptrdiff_t bytes)
{
  if (!data)
    return blockMalloc(context, bytes);
  if (bytes <= 0) {
    THBlock_release(data);
    return NULL;
  }
  if (THBlock_count(data) == 1)
    return reallocOwned(data, (size_t)bytes);

  size_t capacity = headerOf(data)->capacity;
  if ((size_t)bytes <= capacity)
    return data;
  void *fresh = blockMalloc(context, bytes);
  if (!fresh)
    return NULL;
  memcpy(fresh, data, capacity);
  THBlock_release(data);
  return fresh;
}

THAllocator THBlockAllocator = {blockMalloc, blockRealloc, blockFree};

void THBlock_retain(void *data)
{
  if (data)
    TH_ATOMIC_FETCH_ADD(&headerOf(data)->count, 1);
}

void THBlock_release(void *data)
{
  if (data && TH_ATOMIC_FETCH_ADD(&headerOf(data)->count, -1) == 1)
    THRawFree(headerOf(data)->raw);
}

int64_t THBlock_count(const void *data)
{
  return data ? TH_ATOMIC_LOAD(&headerOf(data)->count) : 0;
}
