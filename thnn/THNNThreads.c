#include "THNNThreads.h"

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

/* Of the third-level cache; 0 where the system does not tell. */
static int64_t largeCacheBytes(void)
{
#ifdef _SC_LEVEL3_CACHE_SIZE
  static _Atomic int64_t known; /* a hypervisor may take long to answer */
  if (known == 0)
    known = sysconf(_SC_LEVEL3_CACHE_SIZE) + 1;
  return known - 1;
#else
  return 0;
#endif
}

bool THNN_leavesLargeCaches(int64_t elements, size_t elementBytes)
{
  enum { SHARE = 8 }; /* other processors use it, too */
  return THNN_leavesCaches(elements, elementBytes) &&
         (THNN_leavesCaches(elements / 2, elementBytes) ||
          elements * (int64_t)elementBytes > largeCacheBytes() / SHARE);
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
