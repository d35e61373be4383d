/* Checks every memory access of kernels. The .cu files are compiled with -fsanitize=thread, which
 * makes the compiler call __tsan_read4(address) and its siblings before each access; the functions
 * here take the place of that sanitizer's library. An access has to be
 *   - inside a live device allocation or a shared array of the block (or the thread's own stack),
 *   - of memory of the kernel's device,
 *   - when it reads, of bytes that somebody has written,
 *   - ordered by a barrier against other threads' accesses to the same bytes, unless all only read
 *     or all are atomic.
 * Host code compiled the same way has to stay off device memory. */
#include "cuemu.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <vector>

namespace cuemu
{

static bool instrumented; /* some code calls the functions below */

/* ---- who touched a word last */

enum { GRANULE = 4, ANYBODY = 0xffff, ANY_BLOCK = 0xffffffff };

struct Touch {
  uint32_t launch = 0; /* 0: nobody. For shared memory, the block's serial number */
  uint32_t block = 0;
  uint32_t blockEpoch = 0, warpEpoch = 0;
  uint16_t thread = 0;
  uint8_t bytes = 0; /* mask inside the granule */
  bool atomic = false;
};

struct Word {
  Touch write, read;
};

struct Shadow {
  std::vector<unsigned char> written; /* per byte, whether */
  std::vector<Word> words;
  explicit Shadow(size_t bytes) : written(bytes), words((bytes + GRANULE - 1) / GRANULE + 1) {}
};

static Shadow *shadowOf(Allocation *allocation)
{
  if (!allocation->shadow)
    allocation->shadow = new Shadow(allocation->last - allocation->first);
  return allocation->shadow;
}

void shadowFree(Allocation *allocation)
{
  delete allocation->shadow;
}

void markWritten(uintptr_t address, size_t bytes)
{
  Allocation *allocation = findAllocation(address);
  memset(shadowOf(allocation)->written.data() + (address - allocation->first), true, bytes);
}

void copyWritten(uintptr_t to, uintptr_t from, size_t bytes)
{
  Allocation *target = findAllocation(to), *source = findAllocation(from);
  memmove(shadowOf(target)->written.data() + (to - target->first),
          shadowOf(source)->written.data() + (from - source->first), bytes);
}

/* ---- one access */

enum Kind { READ, WRITE };

static const char *verb(Kind kind)
{
  return kind == READ ? "reads" : "writes";
}

/* The place in the library, for addr2line. */
static void place(const void *code, char *text, size_t textBytes)
{
  struct Search {
    uintptr_t code;
    char *text;
    size_t textBytes;
  } search = {(uintptr_t)code, text, textBytes};
  text[0] = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        Search *search = (Search *)data;
        for (int i = 0; i < info->dlpi_phnum; i++) {
          const auto &segment = info->dlpi_phdr[i];
          const uintptr_t first = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && search->code >= first &&
              search->code < first + segment.p_memsz) {
            snprintf(search->text, search->textBytes, " (%s+0x%zx)",
                     info->dlpi_name[0] ? info->dlpi_name : "program",
                     (size_t)(search->code - info->dlpi_addr));
            return 1;
          }
        }
        return 0;
      },
      &search);
}

/* Constants, tables and global variables: part of a loaded file. */
static bool inLoadedFile(uintptr_t address)
{
  return dl_iterate_phdr(
             [](dl_phdr_info *info, size_t, void *data) {
               const uintptr_t address = *(uintptr_t *)data;
               for (int i = 0; i < info->dlpi_phnum; i++) {
                 const auto &segment = info->dlpi_phdr[i];
                 const uintptr_t first = info->dlpi_addr + segment.p_vaddr;
                 if (segment.p_type == PT_LOAD && address - first < segment.p_memsz)
                   return 1;
               }
               return 0;
             },
             &address) != 0;
}

/* Whether `before` may have happened at the same time as the running thread's access. */
static bool unordered(const Touch &before, uint32_t launch, uint8_t bytes, bool atomic)
{
  if (before.launch != launch || !(before.bytes & bytes) || (before.atomic && atomic))
    return false;
  if (before.block != running.block)
    return true;
  if (before.blockEpoch != running.blockEpoch || before.thread == running.thread)
    return false;
  const bool sameWarp = before.thread != ANYBODY && before.thread / 32 == running.thread / 32;
  return !(sameWarp && before.warpEpoch < running.warpEpoch);
}

/* What messages call the memory: `array`, or device memory where that is NULL. */
static void nameMemory(const SharedArray *array, char *text, size_t textBytes)
{
  if (array)
    snprintf(text, textBytes, "shared memory '%s'", array->name);
  else
    snprintf(text, textBytes, "device memory");
}

[[noreturn]] static void failRace(Kind kind, const Touch &before, Kind beforeKind,
                                  const SharedArray *array, const void *code)
{
  char where[300], other[64], memory[80];
  place(code, where, sizeof where);
  nameMemory(array, memory, sizeof memory);
  if (before.block == ANY_BLOCK)
    snprintf(other, sizeof other, "threads of several blocks");
  else if (before.thread == ANYBODY)
    snprintf(other, sizeof other, "several threads of block %u", before.block);
  else
    snprintf(other, sizeof other, "thread %u of block %u", before.thread, before.block);
  fail("race: %s %s that %s %s without a barrier in between%s", verb(kind), memory, other,
       beforeKind == READ ? "read" : "wrote", where);
}

static Touch touchOf(uint32_t launch, uint8_t bytes, bool atomic)
{
  Touch touch;
  touch.launch = launch;
  touch.block = running.block;
  touch.blockEpoch = running.blockEpoch;
  touch.warpEpoch = running.warpEpoch;
  touch.thread = (uint16_t)running.thread;
  touch.bytes = bytes;
  touch.atomic = atomic;
  return touch;
}

/* Several readers become "anybody", in as small a group as holds them all. */
static void addReader(Touch *read, const Touch &now)
{
  if (read->launch != now.launch || (read->block == now.block && read->block != ANY_BLOCK &&
                                     read->blockEpoch != now.blockEpoch)) {
    *read = now;
    return;
  }
  read->bytes |= now.bytes;
  read->atomic &= now.atomic;
  if (read->block != now.block)
    read->block = ANY_BLOCK;
  if (read->thread != now.thread)
    read->thread = ANYBODY;
  read->warpEpoch = now.warpEpoch;
  read->blockEpoch = now.blockEpoch;
}

static void touchWord(Word *word, Kind kind, uint32_t launch, uint8_t bytes,
                      const SharedArray *array, const void *code)
{
  const bool atomic = running.inAtomic;
  if (unordered(word->write, launch, bytes, atomic))
    failRace(kind, word->write, WRITE, array, code);
  if (kind == WRITE && unordered(word->read, launch, bytes, atomic))
    failRace(kind, word->read, READ, array, code);
  const Touch now = touchOf(launch, bytes, atomic);
  if (kind == WRITE)
    word->write = now;
  else
    addReader(&word->read, now);
}

/* Touches `bytes` bytes of the shadow from `first` on; what is checked begins at `origin`. */
static void touchBytes(Shadow *shadow, size_t origin, size_t first, size_t bytes, Kind kind,
                       uint32_t launch, const SharedArray *array, const void *code)
{
  for (size_t i = first; i < first + bytes; i++) {
    if (kind == WRITE) {
      shadow->written[i] = true;
    } else if (!shadow->written[i]) {
      char where[300], memory[80];
      place(code, where, sizeof where);
      nameMemory(array, memory, sizeof memory);
      fail("reads %s that nobody has written: byte %zu%s", memory, i - origin, where);
    }
  }
  for (size_t at = first; at < first + bytes;) {
    const size_t word = at / GRANULE, end = (word + 1) * GRANULE;
    uint8_t mask = 0;
    for (; at < end && at < first + bytes; at++)
      mask |= (uint8_t)(1 << at % GRANULE);
    touchWord(&shadow->words[word], kind, launch, mask, array, code);
  }
}

static void touchDevice(uintptr_t address, size_t bytes, Kind kind, const void *code)
{
  Allocation *allocation = findAllocation(address);
  if (!allocation || bytes > allocation->last - address) {
    char where[160], at[300];
    describe(allocation ? allocation->last : address, where, sizeof where);
    place(code, at, sizeof at);
    fail("%s %zu bytes outside device memory: %s%s", verb(kind), bytes, where, at);
  }
  if (address % bytes != 0 && (bytes & (bytes - 1)) == 0)
    fail("%s %zu bytes at a misaligned address", verb(kind), bytes);
  if (allocation->device != currentDevice() && !allocation->hostVisible)
    fail("%s memory of device %d", verb(kind), allocation->device);
  Shadow *shadow = shadowOf(allocation);
  if (allocation->hostVisible) /* the host writes there too, unseen */
    return;
  touchBytes(shadow, 0, address - allocation->first, bytes, kind, running.launch, nullptr, code);
}

static void touchShared(uintptr_t address, size_t bytes, Kind kind, const void *code)
{
  static Shadow shadow(sharedBytes());
  static uint32_t block;
  const SharedArray *array = findShared(address);
  if (!array || bytes > array->last - address) {
    char where[300];
    place(code, where, sizeof where);
    fail("%s %zu bytes outside shared memory%s%s%s", verb(kind), bytes,
         array ? ", over the end of " : "", array ? array->name : "", where);
  }
  if (block != running.blockSerial) {
    block = running.blockSerial;
    shadow.written.assign(shadow.written.size(), false);
  }
  touchBytes(&shadow, sharedOffset(array->first), sharedOffset(address), bytes, kind,
             running.blockSerial, array, code);
}

/* In a kernel: everything that is neither device nor shared memory. */
static void touchOther(uintptr_t address, size_t bytes, Kind kind, const void *code)
{
  if (onCurrentStack(address))
    return;
  if (address - (uintptr_t)running.arguments < running.argumentBytes && kind == READ)
    return;
  if (inLoadedFile(address))
    return;
  char where[300];
  place(code, where, sizeof where);
  fail("%s %zu bytes of %s%s", verb(kind), bytes,
       onAnyFiberStack(address) ? "another thread's local variables" : "host memory", where);
}

static void touch(const void *pointer, size_t bytes, Kind kind, const void *code)
{
  const uintptr_t address = (uintptr_t)pointer;
  if (!running.insideThread) {
    if (inArena(address)) {
      const Allocation *allocation = findAllocation(address);
      if (!allocation || !allocation->hostVisible) {
        char where[160];
        describe(address, where, sizeof where);
        fail("host code touches device memory: %s", where);
      }
    }
    return;
  }
  if (address - (uintptr_t)&builtins < sizeof builtins)
    return;
  if (inArena(address))
    touchDevice(address, bytes, kind, code);
  else if (inSharedMemory(address))
    touchShared(address, bytes, kind, code);
  else
    touchOther(address, bytes, kind, code);
}

/* Bytes without an alignment that they would have to have. */
static void touchRange(const void *first, size_t bytes, Kind kind, const void *code)
{
  for (size_t i = 0; i < bytes; i++)
    touch((const char *)first + i, 1, kind, code);
}

/* ---- what others report */

void atomicBegin(void *address, size_t bytes)
{
  running.inAtomic = true;
  if (running.insideThread && !inArena((uintptr_t)address) && !inSharedMemory((uintptr_t)address))
    fail("an atomic function on %zu bytes that are neither device nor shared memory", bytes);
}

void atomicEnd()
{
  running.inAtomic = false;
}

static Allocation *libraryRange(const char *what, const void *pointer, size_t bytes)
{
  const uintptr_t address = (uintptr_t)pointer;
  Allocation *allocation = inArena(address) ? findAllocation(address) : nullptr;
  if (!allocation)
    fail("%s: %p is not device memory", what, pointer);
  if (bytes > allocation->last - address) {
    char where[160];
    describe(address + bytes, where, sizeof where);
    fail("%s: goes outside device memory: %s", what, where);
  }
  return allocation;
}

void libraryRead(const char *what, const void *pointer, size_t bytes)
{
  if (bytes == 0)
    return;
  Allocation *allocation = libraryRange(what, pointer, bytes);
  const size_t first = (uintptr_t)pointer - allocation->first;
  if (instrumented)
    for (size_t i = first; i < first + bytes; i++)
      if (!shadowOf(allocation)->written[i])
        fail("%s: reads device memory that nobody has written: byte %zu", what, i);
}

void libraryWrite(const char *what, void *pointer, size_t bytes)
{
  if (bytes == 0)
    return;
  libraryRange(what, pointer, bytes);
  markWritten((uintptr_t)pointer, bytes);
}

} // namespace cuemu

int cuemu_checked(void)
{
  return cuemu::instrumented;
}

using namespace cuemu;

#ifdef CUEMU_ASAN
/* That sanitizer finds some accesses first and does not know the kernel. */
extern "C" void __asan_set_error_report_callback(void (*callback)(const char *));

static void onSanitizerReport(const char *)
{
  if (running.kernel)
    fprintf(stderr, "cuemu: kernel '%s', block (%u,%u,%u), thread (%u,%u,%u)\n", running.kernel,
            builtins.blockIdx.x, builtins.blockIdx.y, builtins.blockIdx.z, builtins.threadIdx.x,
            builtins.threadIdx.y, builtins.threadIdx.z);
  else
    fprintf(stderr, "cuemu: after kernel '%s'\n", running.lastKernel);
}

__attribute__((constructor)) static void watchSanitizer()
{
  __asan_set_error_report_callback(onSanitizerReport);
}
#endif

/* ---- what the compiler's instrumentation calls */

extern "C" {

void __tsan_init()
{
  instrumented = true;
}

void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}

#define CUEMU_HOOKS(bytes)                                                                         \
  void __tsan_read##bytes(void *address)                                                           \
  {                                                                                                \
    touch(address, bytes, READ, __builtin_return_address(0));                                      \
  }                                                                                                \
  void __tsan_write##bytes(void *address)                                                          \
  {                                                                                                \
    touch(address, bytes, WRITE, __builtin_return_address(0));                                     \
  }                                                                                                \
  void __tsan_unaligned_read##bytes(void *address)                                                 \
  {                                                                                                \
    touch(address, bytes, READ, __builtin_return_address(0));                                      \
  }                                                                                                \
  void __tsan_unaligned_write##bytes(void *address)                                                \
  {                                                                                                \
    touch(address, bytes, WRITE, __builtin_return_address(0));                                     \
  }                                                                                                \
  void __tsan_volatile_read##bytes(void *address)                                                  \
  {                                                                                                \
    touch(address, bytes, READ, __builtin_return_address(0));                                      \
  }                                                                                                \
  void __tsan_volatile_write##bytes(void *address)                                                 \
  {                                                                                                \
    touch(address, bytes, WRITE, __builtin_return_address(0));                                     \
  }
CUEMU_HOOKS(1)
CUEMU_HOOKS(2)
CUEMU_HOOKS(4)
CUEMU_HOOKS(8)
CUEMU_HOOKS(16)
#undef CUEMU_HOOKS

/* Copies of structs, and what clang makes of memset and memcpy. */
void __tsan_read_range(void *address, unsigned long bytes)
{
  touchRange(address, bytes, READ, __builtin_return_address(0));
}

void __tsan_write_range(void *address, unsigned long bytes)
{
  touchRange(address, bytes, WRITE, __builtin_return_address(0));
}

void *__tsan_memset(void *to, int value, unsigned long bytes)
{
  touchRange(to, bytes, WRITE, __builtin_return_address(0));
  return memset(to, value, bytes);
}

void *__tsan_memmove(void *to, const void *from, unsigned long bytes)
{
  touchRange(from, bytes, READ, __builtin_return_address(0));
  touchRange(to, bytes, WRITE, __builtin_return_address(0));
  return memmove(to, from, bytes);
}

void *__tsan_memcpy(void *to, const void *from, unsigned long bytes)
{
  return __tsan_memmove(to, from, bytes);
}

/* Atomic operations of host code: reference counts, and the guards of local statics, which have 8
 * bits or, on ARM, 64. */
int __tsan_atomic32_load(const volatile int *address, int)
{
  return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}

void __tsan_atomic32_store(volatile int *address, int value, int)
{
  __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
}

int __tsan_atomic32_fetch_add(volatile int *address, int value, int)
{
  return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
}

int64_t __tsan_atomic64_load(const volatile int64_t *address, int)
{
  return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}

char __tsan_atomic8_load(const volatile char *address, int)
{
  return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}
}
