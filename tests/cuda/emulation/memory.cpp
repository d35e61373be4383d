/* Device memory: a reserved range of addresses in which every allocation lies between guard pages,
 * flush with the one after it. Addresses are never used twice, so a freed block stays out of
 * reach. Outside kernels and copies nobody can touch it: host code that follows a device pointer
 * ends the process, as it would on a GPU. */
#include "cuemu.h"

#include <map>
#include <mutex>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef CUEMU_ASAN
#  include <sanitizer/asan_interface.h>
#else
#  define ASAN_POISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#  define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

namespace cuemu
{

static const size_t ARENA_BYTES = (size_t)256 << 30;
static const size_t ALIGNMENT = 16;
static const unsigned char GUARD_BYTE = 0xcb;

static uintptr_t arena, next;
static size_t page;
static std::map<uintptr_t, Allocation *> live; /* by first page */
static std::recursive_mutex memoryMutex;
static int open;
static int64_t failIn;

/* ---- faults */

static struct sigaction previousAction[NSIG];

static void onFault(int signal, siginfo_t *info, void *context)
{
  const uintptr_t address = (uintptr_t)info->si_addr;
  if (inArena(address)) {
    char where[160];
    describe(address, where, sizeof where);
    if (running.insideThread || open > 0)
      fail("access outside device memory: %s", where);
    fail("host code touches device memory: %s", where);
  }
  if (running.insideThread && onAnyFiberStack(address + page))
    fail("the thread's stack is full, or it accesses memory at %p", info->si_addr);
  const struct sigaction &previous = previousAction[signal];
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    if (running.insideThread)
      fail("access to %p, which is not memory", info->si_addr);
    ::signal(signal, SIG_DFL); /* the access happens again and ends the process */
  }
}

static void watchFaults()
{
  static char stack[64 << 10];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &previousAction[SIGSEGV]);
  sigaction(SIGBUS, &action, &previousAction[SIGBUS]);
}

/* ---- allocations */

static void reserve()
{
  page = (size_t)sysconf(_SC_PAGESIZE);
  void *memory =
      mmap(nullptr, ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    perror("cuemu: no address range for device memory");
    abort();
  }
  arena = next = (uintptr_t)memory;
  watchFaults();
}

bool inArena(uintptr_t address)
{
  return address - arena < ARENA_BYTES && arena != 0;
}

static void protect(const Allocation *allocation, bool accessible)
{
  mprotect((void *)allocation->firstPage, allocation->lastPage - allocation->firstPage,
           accessible || allocation->hostVisible ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void openMemory()
{
  std::lock_guard<std::recursive_mutex> lock(memoryMutex);
  if (open++ == 0)
    for (auto &entry : live)
      protect(entry.second, true);
}

void closeMemory()
{
  std::lock_guard<std::recursive_mutex> lock(memoryMutex);
  if (--open == 0)
    for (auto &entry : live)
      protect(entry.second, false);
}

static void poison(const Allocation *allocation)
{
  unsigned char *at = (unsigned char *)allocation->firstPage;
  memset(at, GUARD_BYTE, allocation->first - allocation->firstPage);
  ASAN_POISON_MEMORY_REGION(at, allocation->first - allocation->firstPage);
  const unsigned word = POISON;
  const size_t bytes = allocation->last - allocation->first;
  for (size_t i = 0; i < bytes; i += 4)
    memcpy((char *)allocation->first + i, &word, bytes - i < 4 ? bytes - i : 4);
  memset((void *)allocation->last, GUARD_BYTE, allocation->lastPage - allocation->last);
  ASAN_POISON_MEMORY_REGION((void *)allocation->last, allocation->lastPage - allocation->last);
}

static cudaError_t allocate(void **pointer, size_t bytes, bool hostVisible)
{
  std::lock_guard<std::recursive_mutex> lock(memoryMutex);
  if (!arena)
    reserve();
  if (!pointer)
    return setError(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0)
    return cudaSuccess;
  if (failIn > 0 && --failIn == 0)
    return setError(cudaErrorMemoryAllocation);
  const size_t pages = (bytes + ALIGNMENT + page - 1) / page * page;
  if (pages < bytes || pages + 2 * page > arena + ARENA_BYTES - next)
    return setError(cudaErrorMemoryAllocation);
  Allocation *allocation = new Allocation();
  allocation->firstPage = next + page;
  allocation->lastPage = allocation->firstPage + pages;
  allocation->first = (allocation->lastPage - bytes) / ALIGNMENT * ALIGNMENT;
  allocation->last = allocation->first + bytes;
  allocation->device = currentDevice();
  allocation->hostVisible = hostVisible;
  if (mprotect((void *)allocation->firstPage, pages, PROT_READ | PROT_WRITE) != 0) {
    delete allocation;
    return setError(cudaErrorMemoryAllocation);
  }
  next = allocation->lastPage;
  poison(allocation);
  protect(allocation, open > 0);
  live[allocation->firstPage] = allocation;
  *pointer = (void *)allocation->first;
  return cudaSuccess;
}

Allocation *findAllocation(uintptr_t address)
{
  auto after = live.upper_bound(address);
  if (after == live.begin())
    return nullptr;
  Allocation *allocation = (--after)->second;
  if (address < allocation->first || address >= allocation->last)
    return nullptr;
  return allocation;
}

static cudaError_t release(void *pointer)
{
  std::lock_guard<std::recursive_mutex> lock(memoryMutex);
  if (!pointer)
    return cudaSuccess;
  Allocation *allocation = findAllocation((uintptr_t)pointer);
  if (!allocation || allocation->first != (uintptr_t)pointer)
    fail("cudaFree of %p, which is not the start of an allocation", pointer);
  live.erase(allocation->firstPage);
  void *pages = (void *)allocation->firstPage;
  const size_t bytes = allocation->lastPage - allocation->firstPage;
  ASAN_UNPOISON_MEMORY_REGION(pages, bytes);
  mmap(pages, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  shadowFree(allocation);
  delete allocation;
  return cudaSuccess;
}

static long long distance(uintptr_t from, uintptr_t to)
{
  return (long long)(to - from);
}

void describe(uintptr_t address, char *text, size_t textBytes)
{
  const Allocation *nearest = nullptr;
  long long best = 0;
  for (const auto &entry : live) {
    const Allocation *candidate = entry.second;
    const long long away = address < candidate->first ? distance(address, candidate->first)
                                                      : distance(candidate->last, address);
    if (!nearest || away < best) {
      nearest = candidate;
      best = away;
    }
  }
  if (!nearest)
    snprintf(text, textBytes, "no allocation is alive");
  else if (address < nearest->first)
    snprintf(text, textBytes, "%lld bytes before an allocation of %lld bytes",
             distance(address, nearest->first), distance(nearest->first, nearest->last));
  else if (address >= nearest->last)
    snprintf(text, textBytes, "%lld bytes past the end of an allocation of %lld bytes",
             distance(nearest->last, address), distance(nearest->first, nearest->last));
  else
    snprintf(text, textBytes, "byte %lld of an allocation of %lld bytes",
             distance(nearest->first, address), distance(nearest->first, nearest->last));
}

void checkGuards()
{
  for (const auto &entry : live) {
    const Allocation *allocation = entry.second;
    ASAN_UNPOISON_MEMORY_REGION((void *)allocation->firstPage,
                                allocation->lastPage - allocation->firstPage);
    uintptr_t bad = 0;
    for (uintptr_t at = allocation->firstPage; at < allocation->first; at++)
      if (*(unsigned char *)at != GUARD_BYTE)
        bad = at;
    for (uintptr_t at = allocation->last; at < allocation->lastPage; at++)
      if (*(unsigned char *)at != GUARD_BYTE)
        bad = at;
    if (bad) {
      char where[160];
      describe(bad, where, sizeof where);
      fail("wrote outside device memory: %s", where);
    }
    ASAN_POISON_MEMORY_REGION((void *)allocation->firstPage,
                              allocation->first - allocation->firstPage);
    ASAN_POISON_MEMORY_REGION((void *)allocation->last, allocation->lastPage - allocation->last);
  }
}

/* ---- copies */

/* Whether [pointer, bytes) is host memory, or inside one live allocation. */
static bool isHost(const char *what, const void *pointer, size_t bytes)
{
  const uintptr_t address = (uintptr_t)pointer;
  if (!inArena(address))
    return true;
  const Allocation *allocation = findAllocation(address);
  if (!allocation || bytes > allocation->last - address) {
    char where[160];
    describe(allocation ? allocation->last : address, where, sizeof where);
    fail("%s of %zu bytes leaves device memory: %s", what, bytes, where);
  }
  return allocation->hostVisible;
}

static cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  std::lock_guard<std::recursive_mutex> lock(memoryMutex);
  if (bytes == 0)
    return cudaSuccess;
  const bool toHost = isHost("cudaMemcpy to", to, bytes);
  const bool fromHost = isHost("cudaMemcpy from", from, bytes);
  const bool wrong = (kind == cudaMemcpyHostToDevice && (toHost || !fromHost)) ||
                     (kind == cudaMemcpyDeviceToHost && (!toHost || fromHost)) ||
                     (kind == cudaMemcpyDeviceToDevice && (toHost || fromHost));
  if (wrong)
    fail("cudaMemcpy's kind %d does not fit its pointers", (int)kind);
  openMemory();
  memmove(to, from, bytes);
  if (!toHost && !fromHost)
    copyWritten((uintptr_t)to, (uintptr_t)from, bytes);
  else if (!toHost)
    markWritten((uintptr_t)to, bytes);
  closeMemory();
  return cudaSuccess;
}

static cudaError_t fill(void *pointer, int value, size_t bytes)
{
  std::lock_guard<std::recursive_mutex> lock(memoryMutex);
  if (bytes == 0)
    return cudaSuccess;
  if (isHost("cudaMemset", pointer, bytes))
    fail("cudaMemset of host memory");
  openMemory();
  memset(pointer, value, bytes);
  markWritten((uintptr_t)pointer, bytes);
  closeMemory();
  return cudaSuccess;
}

void checkPointerArgument(const char *kernel, int index, const void *pointer)
{
  std::lock_guard<std::recursive_mutex> lock(memoryMutex);
  const uintptr_t address = (uintptr_t)pointer;
  if (!pointer)
    return;
  running.lastKernel = kernel;
  if (!inArena(address))
    fail("argument %d of the launch is a host pointer", index);
  const Allocation *allocation = findAllocation(address);
  if (!allocation)
    allocation = findAllocation(address - 1); /* one past the end */
  if (!allocation) {
    char where[160];
    describe(address, where, sizeof where);
    fail("argument %d of the launch is not device memory: %s", index, where);
  }
  if (allocation->device != currentDevice() && !allocation->hostVisible)
    fail("argument %d of the launch is memory of device %d, the launch is on device %d", index,
         allocation->device, currentDevice());
}

} // namespace cuemu

using namespace cuemu;

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
  noteWait();
  return allocate(pointer, bytes, false);
}

cudaError_t cudaFree(void *pointer)
{
  noteWait();
  return release(pointer);
}

static cudaError_t checkPool(cudaStream_t stream)
{
  return hasPools() ? checkStream(stream) : cudaErrorNotSupported;
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
  const cudaError_t status = checkPool(stream);
  return status == cudaSuccess ? allocate(pointer, bytes, false) : setError(status);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
  const cudaError_t status = checkPool(stream);
  return status == cudaSuccess ? release(pointer) : setError(status);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned)
{
  noteWait();
  return allocate(pointer, bytes, true);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned)
{
  *device = host;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
  std::lock_guard<std::recursive_mutex> lock(memoryMutex);
  const Allocation *allocation = findAllocation((uintptr_t)pointer);
  void *address = const_cast<void *>(pointer);
  *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, nullptr};
  if (allocation && allocation->hostVisible)
    *attributes = {cudaMemoryTypeHost, allocation->device, address, address};
  else if (allocation)
    *attributes = {cudaMemoryTypeDevice, allocation->device, address, nullptr};
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void *pointer)
{
  noteWait();
  return release(pointer);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  noteWait();
  return copy(to, from, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
  const cudaError_t status = checkStream(stream);
  if (kind != cudaMemcpyDeviceToDevice)
    noteWait(); /* of memory that is not page-locked */
  return status == cudaSuccess ? copy(to, from, bytes, kind) : setError(status);
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
  noteWait();
  return fill(pointer, value, bytes);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
  const cudaError_t status = checkStream(stream);
  return status == cudaSuccess ? fill(pointer, value, bytes) : setError(status);
}

void cuemu_failAllocation(int64_t which)
{
  failIn = which;
}

int64_t cuemu_liveAllocations(void)
{
  return (int64_t)live.size();
}
