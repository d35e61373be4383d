/* How each kind of BLAS library is recognised and kept to one thread. A library here is a list of
 * functions; THBlasLibrary.c is linked in, with these functions to look others up. */

#define _POSIX_C_SOURCE 200809L

#include "../check.h"

#include <TH/THBlasLibrary.h>
#include <TH/THInternal.h>
#include <TH/THThreads.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the library has been told: one number for the process, one for each thread. */
static int processThreads = 4;
static TH_THREAD_LOCAL int ownThreads = 4;

static int getThreads(void)
{
  return processThreads;
}

static void setThreads(int threads)
{
  processThreads = threads;
}

static int64_t getManyThreads(void)
{
  return processThreads;
}

static void setManyThreads(int64_t threads)
{
  processThreads = (int)threads;
}

static int getOwnThreads(void)
{
  return ownThreads;
}

static void setOwnThreads(int threads)
{
  ownThreads = threads;
}

static int exchangeOwnThreads(int threads)
{
  const int old = ownThreads;
  ownThreads = threads;
  return old;
}

static char *coreName(void)
{
  static char name[] = "Zen";
  return name;
}

static int usesPthreads(void)
{
  return 1;
}

static int usesOpenMP(void)
{
  return 2;
}

typedef struct Function {
  const char *name;
  THFunction function;
} Function;

typedef struct Library {
  const char *name, *core;
  int perThread; /* whether each thread has a number of its own */
  Function functions[6];
} Library;

static const Library libraries[] = {
    {"OpenBLAS",
     "Zen",
     0,
     {{"openblas_get_num_threads", (THFunction)getThreads},
      {"openblas_set_num_threads", (THFunction)setThreads},
      {"openblas_get_corename", (THFunction)coreName},
      {"openblas_get_parallel", (THFunction)usesPthreads},
      {"omp_get_max_threads", (THFunction)getOwnThreads},
      {"omp_set_num_threads", (THFunction)setOwnThreads}}},
    {"OpenBLAS",
     "",
     1,
     {{"openblas_get_num_threads", (THFunction)getThreads},
      {"openblas_set_num_threads", (THFunction)setThreads},
      {"openblas_get_parallel", (THFunction)usesOpenMP},
      {"omp_get_max_threads", (THFunction)getOwnThreads},
      {"omp_set_num_threads", (THFunction)setOwnThreads}}},
    {"MKL", "", 1, {{"MKL_Set_Num_Threads_Local", (THFunction)exchangeOwnThreads}}},
    {"BLIS",
     "",
     0,
     {{"bli_thread_get_num_threads", (THFunction)getManyThreads},
      {"bli_thread_set_num_threads", (THFunction)setManyThreads}}},
    {"BLAS", "", 0, {{"openblas_get_num_threads", (THFunction)getThreads}}},
};
static const Library *library;

void CBLAS_(sgemm)(int order, int transa, int transb, int m, int n, int k, float alpha,
                   const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
  (void)order, (void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha, (void)a;
  (void)lda, (void)b, (void)ldb, (void)beta, (void)c, (void)ldc;
}

void *THOpenLibraryOf(THFunction function)
{
  CHECK(function == (THFunction)CBLAS_(sgemm));
  return (void *)(uintptr_t)library;
}

THFunction THFindFunction(void *opened, const char *name)
{
  CHECK(opened == (const void *)library);
  for (int i = 0; i < 6 && library->functions[i].name; i++)
    if (!strcmp(library->functions[i].name, name))
      return library->functions[i].function;
  return NULL;
}

static int threads(void)
{
  return library->perThread ? ownThreads : processThreads;
}

static void *sectionInThread(void *data)
{
  THBlasSingleThreadBegin();
  CHECK(threads() == 1);
  THBlasSingleThreadEnd();
  return data;
}

/* Sections within each other, and one of another thread that begins and ends within them. The
 * number comes back when the last one ends. */
static void testSections(int before)
{
  THBlasSingleThreadBegin();
  CHECK(threads() == 1);
  THBlasSingleThreadBegin();
  pthread_t other;
  pthread_create(&other, NULL, sectionInThread, NULL);
  pthread_join(other, NULL);
  CHECK(threads() == 1);
  THBlasSingleThreadEnd();
  CHECK(threads() == 1);
  THBlasSingleThreadEnd();
  CHECK(threads() == before);
}

static void testLibrary(void)
{
  CHECK(strcmp(THBlasName(), library->name) == 0);
  CHECK(strcmp(THBlasCoreName(), library->core) == 0);
  if (library->functions[1].name || library->perThread) {
    testSections(4);
    *(library->perThread ? &ownThreads : &processThreads) = 1;
    testSections(1);
    CHECK((library->perThread ? processThreads : ownThreads) == 4);
  } else {
    THBlasSingleThreadBegin();
    THBlasSingleThreadEnd();
    CHECK(processThreads == 4 && ownThreads == 4);
  }
}

/* A process recognises its library once, so each library is tested in a process of its own. */
int main(void)
{
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    const pid_t child = fork();
    if (child == 0) {
      library = &libraries[i];
      testLibrary();
      exit(checkResult());
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  return checkResult();
}
