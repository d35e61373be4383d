/* What Debian's libgcc asks of glibc, answered for musl. Each library that is linked with this has its own. */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* ---- The unwinder's: which object has a place of the code, and where its table of frames is */

/* glibc's, of <dlfcn.h>. */
struct dl_find_object {
  unsigned long long flags;
  void *mapStart, *mapEnd, *linkMap, *ehFrame;
  unsigned long long reserved[7];
};

struct search {
  ElfW(Addr) place;
  struct dl_find_object *found;
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
  (void)size;
  const struct search *search = data;
  const ElfW(Addr) place = search->place - info->dlpi_addr;
  struct dl_find_object *found = search->found;
  found->mapStart = found->ehFrame = NULL;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    char *start = (char *)info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME)
      found->ehFrame = start;
    if (part->p_type == PT_LOAD && place - part->p_vaddr < part->p_memsz) {
      found->mapStart = start;
      found->mapEnd = start + part->p_memsz;
    }
  }
  return found->mapStart && found->ehFrame;
}

/* 0 if there is one. */
HIDDEN int _dl_find_object(void *place, struct dl_find_object *found)
{
  *found = (struct dl_find_object){0};
  struct search search = {(ElfW(Addr))place, found};
  return dl_iterate_phdr(look, &search) ? 0 : -1;
}

/* ---- Of atomic operations on aarch64: what the processor has */

#ifdef __aarch64__
HIDDEN unsigned long __getauxval(unsigned long type)
{
  return getauxval(type);
}
#endif
