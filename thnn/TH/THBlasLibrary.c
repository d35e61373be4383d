/* The name of the BLAS library, and its number of threads.
 *
 * Every library has its own functions for that. They are looked up in the library that our calls
 * go to: the process may have loaded another BLAS, whose setting is not ours to change. A library
 * has either one number of threads for the whole process or one per calling thread. The first of
 * several overlapping sections saves the number and the last one restores it; where the number
 * belongs to a thread, only the sections of that thread count. */

#include "THBlasLibrary.h"
#include "THInternal.h"
#include "THThreads.h"

#include <pthread.h>

#ifdef THNN_BLAS_SCIPY_OPENBLAS
#  define OPENBLAS_(NAME) "scipy_openblas_" NAME
#  define OPENBLAS_LIBRARY "scipy-openblas32"
#else
#  define OPENBLAS_(NAME) "openblas_" NAME
#  define OPENBLAS_LIBRARY "OpenBLAS"
#endif

/* What openblas_get_parallel returns for a library built with OpenMP. */
#define OPENBLAS_OPENMP 2

static const char *libraryName = "BLAS";
static const char *coreName = "";

/* The functions of a library with one number of threads for the process; NULL for any other. */
static int (*getThreads)(void);
static void (*setThreads)(int threads);
/* That of a library with a number per calling thread: it sets the number and returns the old one;
 * NULL for any other library. */
static int (*exchangeThreads)(int threads);

static int (*getOpenMPThreads)(void);
static void (*setOpenMPThreads)(int threads);

/* OpenBLAS built with OpenMP follows the calling thread's OpenMP setting. */
static int exchangeOpenMPThreads(int threads)
{
  int old = getOpenMPThreads();
  setOpenMPThreads(threads);
  return old;
}

static bool findOpenBlas(void *library)
{
  getThreads = (int (*)(void))THFindFunction(library, OPENBLAS_("get_num_threads"));
  setThreads = (void (*)(int))THFindFunction(library, OPENBLAS_("set_num_threads"));
  if (!getThreads || !setThreads)
    return false;
  libraryName = OPENBLAS_LIBRARY;

  char *(*getCoreName)(void) = (char *(*)(void))THFindFunction(library, OPENBLAS_("get_corename"));
  if (getCoreName)
    coreName = getCoreName();

  int (*getParallel)(void) = (int (*)(void))THFindFunction(library, OPENBLAS_("get_parallel"));
  if (getParallel && getParallel() == OPENBLAS_OPENMP) {
    getOpenMPThreads = (int (*)(void))THFindFunction(library, "omp_get_max_threads");
    setOpenMPThreads = (void (*)(int))THFindFunction(library, "omp_set_num_threads");
    if (getOpenMPThreads && setOpenMPThreads)
      exchangeThreads = exchangeOpenMPThreads;
  }
  return true;
}

static bool findMKL(void *library)
{
  exchangeThreads = (int (*)(int))THFindFunction(library, "MKL_Set_Num_Threads_Local");
  if (exchangeThreads)
    libraryName = "MKL";
  return exchangeThreads;
}

static int64_t (*getBlisThreads)(void);
static void (*setBlisThreads)(int64_t threads);

static int getBlisThreadsAsInt(void)
{
  return (int)getBlisThreads();
}

static void setBlisThreadsAsInt(int threads)
{
  setBlisThreads(threads);
}

static bool findBlis(void *library)
{
  getBlisThreads = (int64_t (*)(void))THFindFunction(library, "bli_thread_get_num_threads");
  setBlisThreads = (void (*)(int64_t))THFindFunction(library, "bli_thread_set_num_threads");
  if (!getBlisThreads || !setBlisThreads)
    return false;
  libraryName = "BLIS";
  getThreads = getBlisThreadsAsInt;
  setThreads = setBlisThreadsAsInt;
  return true;
}

static void identifyLibrary(void)
{
  void *library = THOpenLibraryOf((THFunction)CBLAS_(sgemm));
  if (findOpenBlas(library) || findMKL(library) || findBlis(library))
    return;
  getThreads = NULL;
  setThreads = NULL;
}

static pthread_once_t identified = PTHREAD_ONCE_INIT;

const char *THBlasName(void)
{
  pthread_once(&identified, identifyLibrary);
  return libraryName;
}

const char *THBlasCoreName(void)
{
  pthread_once(&identified, identifyLibrary);
  return coreName;
}

/* ---- Sections */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sections;     /* sections open in all threads */
static int savedThreads; /* the library's number before the first section */

static TH_THREAD_LOCAL int ownSections; /* sections open in the calling thread */
static TH_THREAD_LOCAL int ownSavedThreads;

void THBlasSingleThreadBegin(void)
{
  pthread_once(&identified, identifyLibrary);
  if (exchangeThreads) {
    if (ownSections++ == 0)
      ownSavedThreads = exchangeThreads(1);
  } else if (setThreads) {
    pthread_mutex_lock(&lock);
    if (sections++ == 0) {
      savedThreads = getThreads();
      if (savedThreads != 1)
        setThreads(1);
    }
    pthread_mutex_unlock(&lock);
  }
}

void THBlasSingleThreadEnd(void)
{
  if (exchangeThreads) {
    if (--ownSections == 0)
      exchangeThreads(ownSavedThreads);
  } else if (setThreads) {
    pthread_mutex_lock(&lock);
    if (--sections == 0 && savedThreads != 1)
      setThreads(savedThreads);
    pthread_mutex_unlock(&lock);
  }
}

void THBlasBeforeFork(void)
{
  pthread_mutex_lock(&lock);
}

void THBlasAfterFork(void)
{
  pthread_mutex_unlock(&lock);
}
