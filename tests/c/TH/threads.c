/* Threads: the setting, BLAS's own threads, and a child forked after the pool was used. */

#define _POSIX_C_SOURCE 200809L

#include "../check.h"

#include <TH/THThreads.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void testSetting(void)
{
  CHECK(THGetNumCores() >= 1);
  CHECK(THGetNumThreads() == 3); /* OMP_NUM_THREADS, see CMakeLists.txt */
  THSetNumThreads(5);
  CHECK(THGetNumThreads() == 5);
  CHECK_RAISES(THSetNumThreads(0), "at least 1, found 0");
  CHECK(THGetNumThreads() == 5);
  THInferNumThreads();
  CHECK(THGetNumThreads() == 3);
}

/* Sums in parallel, as a kernel would. */
static double parallelSum(int threads)
{
  double sum = 0;
  (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
  for (int i = 0; i < 1000; i++)
    sum += i;
  return sum;
}

static int inChild(void)
{
  float a[64] = {1}, b[64] = {2}, c[64];
  THBlasSingleThreadBegin();
  THFloatBlas_gemm('n', 'n', 8, 8, 8, 1, a, 8, b, 8, 0, c, 8);
  THBlasSingleThreadEnd();
  return THInForkedChild() && THGetNumThreads() == 1 && parallelSum(THGetNumThreads()) == 499500 &&
         c[0] == 2;
}

static void testFork(void)
{
  CHECK(parallelSum(THGetNumThreads()) == 499500);
  CHECK(!THInForkedChild());
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(60); /* a hang must not outlive the test */
    _exit(inChild() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(!THInForkedChild() && THGetNumThreads() == 3);
}

/* ---- BLAS's threads: seen through OpenBLAS's own function */

#ifdef THNN_BLAS_SCIPY_OPENBLAS

int scipy_openblas_get_num_threads(void);
void scipy_openblas_set_num_threads(int threads);

static pthread_barrier_t barrier;

static void *overlap(void *data)
{
  (void)data;
  THBlasSingleThreadBegin();
  pthread_barrier_wait(&barrier); /* both threads are inside */
  CHECK(scipy_openblas_get_num_threads() == 1);
  pthread_barrier_wait(&barrier);
  THBlasSingleThreadEnd();
  return NULL;
}

static void testBlasSections(void)
{
  scipy_openblas_set_num_threads(2);
  THBlasSingleThreadBegin();
  CHECK(scipy_openblas_get_num_threads() == 1);
  THBlasSingleThreadBegin();
  THBlasSingleThreadEnd();
  CHECK(scipy_openblas_get_num_threads() == 1);
  THBlasSingleThreadEnd();
  CHECK(scipy_openblas_get_num_threads() == 2);

  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t other;
  pthread_create(&other, NULL, overlap, NULL);
  THBlasSingleThreadBegin();
  pthread_barrier_wait(&barrier);
  THBlasSingleThreadEnd();
  CHECK(scipy_openblas_get_num_threads() == 1);
  pthread_barrier_wait(&barrier);
  pthread_join(other, NULL);
  pthread_barrier_destroy(&barrier);
  CHECK(scipy_openblas_get_num_threads() == 2);
  CHECK(strcmp(THBlasName(), "scipy-openblas32") == 0 && strlen(THBlasCoreName()) > 0);
}

#else

static void testBlasSections(void)
{
  THBlasSingleThreadBegin();
  THBlasSingleThreadEnd();
  CHECK(strlen(THBlasName()) > 0);
}

#endif

/* With a number of threads, checks the setting alone. */
int main(int count, char **arguments)
{
  if (count > 1) {
    CHECK(THGetNumThreads() == atoi(arguments[1]));
    return checkResult();
  }
  catchErrors();
  testSetting();
  testFork();
  testBlasSections();
  printf("BLAS: %s %s\n", THBlasName(), THBlasCoreName());
  return checkResult();
}
