/* The one source that calls functions beyond C11 and POSIX. */

#define _GNU_SOURCE
#include "THInternal.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(THFunction) == sizeof(void *), "dlsym returns functions as void *");

void *THOpenLibraryOf(THFunction function)
{
  void *address;
  memcpy(&address, &function, sizeof address);
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname)
    return NULL;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

void THUseLargePages(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *first = THAlignUp(block, page), *end = (char *)block + bytes;
  if (first < end)
    madvise(first, (size_t)(end - first) / page * page, MADV_HUGEPAGE);
#else
  (void)block, (void)bytes;
#endif
}

THFunction THFindFunction(void *library, const char *name)
{
  void *address = library ? dlsym(library, name) : NULL;
  THFunction function;
  memcpy(&function, &address, sizeof function);
  return function;
}
