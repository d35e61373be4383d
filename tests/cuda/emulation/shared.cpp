/* Shared memory of the block that runs: arrays with guard bytes between them. */
#include "cuemu.h"

#include <vector>

#ifdef CUEMU_ASAN
#  include <sanitizer/asan_interface.h>
#else
#  define ASAN_POISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#  define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

namespace cuemu
{

enum { LIMIT = 48 << 10, GUARD = 64, MAXIMUM_ARRAYS = 32 };
static const unsigned char GUARD_BYTE = 0xcb;

alignas(GUARD) static unsigned char memory[LIMIT + (MAXIMUM_ARRAYS + 1) * 2 * GUARD];
static size_t used;         /* bytes of `memory` */
static size_t asked;        /* bytes of arrays */
static size_t dynamicBytes; /* of this launch */
static std::vector<SharedArray> arrays;
static const char dynamicSite = 0;

void sharedBegin(size_t bytes)
{
  dynamicBytes = bytes;
}

void sharedNewBlock()
{
  ASAN_UNPOISON_MEMORY_REGION(memory, sizeof memory);
  arrays.clear();
  used = 0;
  asked = 0;
}

static void fillGuard(size_t first, size_t last)
{
  memset(memory + first, GUARD_BYTE, last - first);
  ASAN_POISON_MEMORY_REGION(memory + first, last - first);
}

static void *newArray(const void *site, size_t bytes, const char *name)
{
  asked += bytes;
  if (asked > LIMIT || arrays.size() == MAXIMUM_ARRAYS)
    fail("shared memory for '%s': %zu bytes in all, of %d", name, asked, LIMIT);
  const size_t first = used + GUARD, last = first + bytes;
  const size_t end = (last + 2 * GUARD - 1) / GUARD * GUARD;
  fillGuard(used, first);
  const unsigned poison = POISON;
  for (size_t i = 0; i < bytes; i++)
    memory[first + i] = ((const unsigned char *)&poison)[i % 4];
  fillGuard(last, end);
  used = end;
  arrays.push_back({site, name, (uintptr_t)memory + first, (uintptr_t)memory + last});
  return memory + first;
}

void *sharedArray(const void *site, size_t bytes, const char *name)
{
  for (const SharedArray &array : arrays)
    if (array.site == site)
      return (void *)array.first;
  return newArray(site, bytes, name);
}

void *dynamicShared(size_t element, const char *name)
{
  if (dynamicBytes < element)
    fail("the kernel uses dynamic shared memory '%s' and was launched with %zu bytes of it", name,
         dynamicBytes);
  return sharedArray(&dynamicSite, dynamicBytes, name);
}

void sharedCheck()
{
  ASAN_UNPOISON_MEMORY_REGION(memory, used);
  size_t at = 0;
  for (size_t i = 0; i <= arrays.size(); i++) {
    const size_t end = i < arrays.size() ? arrays[i].first - (uintptr_t)memory : used;
    for (; at < end; at++)
      if (memory[at] != GUARD_BYTE)
        fail("wrote outside shared memory, near '%s'",
             arrays[i < arrays.size() ? i : arrays.size() - 1].name);
    if (i < arrays.size())
      at = arrays[i].last - (uintptr_t)memory;
  }
}

bool inSharedMemory(uintptr_t address)
{
  return address >= (uintptr_t)memory && address < (uintptr_t)memory + sizeof memory;
}

size_t sharedBytes()
{
  return sizeof memory;
}

size_t sharedOffset(uintptr_t address)
{
  return address - (uintptr_t)memory;
}

const SharedArray *findShared(uintptr_t address)
{
  for (const SharedArray &array : arrays)
    if (address >= array.first && address < array.last)
      return &array;
  return nullptr;
}

} // namespace cuemu
