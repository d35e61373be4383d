#include "work/threads.h"

#ifdef THNN_SYSTEM_TH
#  include <TH/TH.h>
#else
#  include <TH/THThreads.h>
#endif
#ifdef _OPENMP
#  include <omp.h>
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

int THNN_threadIndex(void)
{
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

#ifdef THNN_SYSTEM_TH

/* Torch7's BLAS may have a thread pool of its own, so gemm is called outside parallel regions. */
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
