#include "work/threads.h"

#include <stdio.h>

#include "simd/vector/prefetch.h"

#ifdef THNN_SYSTEM_TH
#  include <TH/TH.h>
#else
#  include <TH/THThreads.h>
#endif
#ifdef _OPENMP
#  include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#  include <unistd.h>
#endif

static int threadLimit(const THNNState *state)
{
  const int wanted = THNN_State_threads(state);
#if !defined(_OPENMP)
  (void)wanted;
  return 1;
#elif defined(THNN_SYSTEM_TH)
  return wanted ? wanted : omp_get_max_threads();
#else
  if (THInForkedChild())
    return 1;
  return wanted ? wanted : THGetNumThreads();
#endif
}

int THNN_threads(const THNNState *state, int64_t blocks, double operations)
{
  const double minimum = THNN_State_minimumWork(state);
  if (blocks < 2 || operations < 2 * minimum)
    return 1;
  int64_t threads = threadLimit(state);
  if (threads > blocks)
    threads = blocks;
  if ((double)threads > operations / minimum)
    threads = (int64_t)(operations / minimum);
  return (int)threads;
}

/* Of the third-level cache that a core has a part in; 0 where the system does not tell. glibc's
 * sysconf may add up those of all cores of AMD's processors (2.36: 320 MB where a core has 32). */
static int64_t readLargeCacheBytes(void)
{
  long long kilobytes = 0;
#ifdef __linux__
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
  if (file) {
    const int found = fscanf(file, "%lldK", &kilobytes);
    fclose(file);
    if (found == 1 && kilobytes > 0)
      return kilobytes << 10;
  }
#endif
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? bytes : 0;
#else
  return 0;
#endif
}

static int64_t largeCacheBytes(void)
{
  static _Atomic int64_t known; /* asking takes long */
  if (known == 0)
    known = readLargeCacheBytes() + 1;
  return known - 1;
}

bool THNN_leavesLargeCaches(int64_t elements, size_t elementBytes)
{
  enum { SHARE = 8 }; /* other processors use it, too */
  return THNN_leavesCaches(elements, elementBytes) &&
         (THNN_leavesCaches(elements / 2, elementBytes) ||
          elements * (int64_t)elementBytes > largeCacheBytes() / SHARE);
}

bool THNN_thirdLeavesCaches(int64_t elements, size_t elementBytes)
{
  const int64_t passing = elements / (THNN_isFamily19h() ? 2 : 4);
  return THNN_leavesLargeCaches(elements + passing, elementBytes);
}

int THNN_threadIndex(void)
{
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

#ifdef THNN_SYSTEM_TH

/* Torch7's BLAS may have a pool of its own: gemm is called outside parallel regions. */
int THNN_blasThreads(const THNNState *state, int64_t blocks, double operations)
{
  (void)state, (void)blocks, (void)operations;
  return 1;
}

void THNN_blasBegin(void) {}
void THNN_blasEnd(void) {}

#else

int THNN_blasThreads(const THNNState *state, int64_t blocks, double operations)
{
  return THNN_threads(state, blocks, operations);
}

void THNN_blasBegin(void)
{
  THBlasSingleThreadBegin();
}

void THNN_blasEnd(void)
{
  THBlasSingleThreadEnd();
}

#endif
