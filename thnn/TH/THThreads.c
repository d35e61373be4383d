/* The number of threads of a kernel, which is 1 in a forked child. */

#include "THThreads.h"
#include "THInternal.h"
#include "THWork.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef _OPENMP
#  include <omp.h>
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int threadCount; /* accessed atomically */
static bool inForkedChild;

int THGetNumCores(void)
{
#ifdef _OPENMP
  return omp_get_num_procs();
#else
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 && cores < INT_MAX ? (int)cores : 1;
#endif
}

/* The first number in OMP_NUM_THREADS ("4" or "4,2"); 0 without one. The variable is read here
 * because the host program may have changed OpenMP's own number. */
static int environmentThreads(void)
{
  const char *text = getenv("OMP_NUM_THREADS");
  if (!text)
    return 0;
  long threads = strtol(text, NULL, 10);
  return threads > 0 && threads < INT_MAX ? (int)threads : 0;
}

static int initialThreads(void)
{
  int threads = environmentThreads();
  if (threads == 0)
    threads = THGetNumCores();
#ifdef _OPENMP
  if (threads > omp_get_thread_limit())
    threads = omp_get_thread_limit();
#endif
  return threads;
}

static void afterForkInChild(void)
{
  THBlasAfterFork();
  inForkedChild = true;
}

static void initialize(void)
{
  TH_ATOMIC_STORE(&threadCount, initialThreads());
  pthread_atfork(THBlasBeforeFork, THBlasAfterFork, afterForkInChild);
}

void THSetNumThreads(int threads)
{
  THArgCheck(threads >= 1, 1, "the number of threads must be at least 1, found %d", threads);
  pthread_once(&once, initialize);
  TH_ATOMIC_STORE(&threadCount, threads);
}

int THGetNumThreads(void)
{
  pthread_once(&once, initialize);
  return inForkedChild ? 1 : TH_ATOMIC_LOAD(&threadCount);
}

int THThreadsForBytes(int64_t bytes)
{
  enum { ACCESSED_BYTES = 16 }; /* bytes that one access, of a vector, reads or writes */
  const int64_t worthwhile = bytes / ACCESSED_BYTES / TH_MINIMUM_WORK;
  if (worthwhile < 2)
    return 1;
#ifdef _OPENMP
  if (omp_in_parallel())
    return 1;
#endif
  const int threads = THGetNumThreads();
  return worthwhile < threads ? (int)worthwhile : threads;
}

void THInferNumThreads(void)
{
  THSetNumThreads(initialThreads());
}

bool THInForkedChild(void)
{
  pthread_once(&once, initialize);
  return inForkedChild;
}
