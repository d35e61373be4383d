/* What the machine can do: the speed of multiply-adds in registers, and of copying memory.
 * Built on the fly for the processor at hand, or for the instruction set that is being measured. */
#include <omp.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#  define WIDTH 64
#elif defined(__AVX__)
#  define WIDTH 32
#else
#  define WIDTH 16
#endif

/* Enough independent sums to hide the latency of a multiply-add, few enough for the registers. */
#define SUMS 12

#define PEAK(NAME, REAL)                                                                           \
  double NAME(int threads, int64_t rounds)                                                         \
  {                                                                                                \
    typedef REAL Vector __attribute__((vector_size(WIDTH)));                                       \
    double slowest = 0;                                                                            \
    _Pragma("omp parallel num_threads(threads) reduction(max : slowest)")                          \
    {                                                                                              \
      Vector sum[SUMS], factor, term;                                                              \
      for (int lane = 0; lane < (int)(WIDTH / sizeof(REAL)); lane++) {                             \
        factor[lane] = (REAL)0.999;                                                                \
        term[lane] = (REAL)0.001;                                                                  \
      }                                                                                            \
      for (int i = 0; i < SUMS; i++)                                                               \
        sum[i] = term;                                                                             \
      _Pragma("omp barrier") double start = omp_get_wtime();                                       \
      for (int64_t round = 0; round < rounds; round++) {                                           \
        for (int i = 0; i < SUMS; i++)                                                             \
          sum[i] = sum[i] * factor + term;                                                         \
        __asm__ volatile("" : "+m"(round));                                                        \
      }                                                                                            \
      slowest = omp_get_wtime() - start;                                                           \
      for (int i = 1; i < SUMS; i++)                                                               \
        sum[0] += sum[i];                                                                          \
      volatile REAL kept = sum[0][0];                                                              \
      (void)kept;                                                                                  \
    }                                                                                              \
    return slowest;                                                                                \
  }

PEAK(peak_float, float)
PEAK(peak_double, double)

/* Floating-point operations of one round on one thread. */
int64_t peak_flops_float(void) { return 2 * SUMS * (WIDTH / sizeof(float)); }
int64_t peak_flops_double(void) { return 2 * SUMS * (WIDTH / sizeof(double)); }

/* Seconds for copying n bytes `rounds` times, each thread its part. */
double copy(int threads, char *to, const char *from, int64_t n, int64_t rounds)
{
  double slowest = 0;
#pragma omp parallel num_threads(threads) reduction(max : slowest)
  {
    int64_t part = n / omp_get_num_threads() / 64 * 64, first = omp_get_thread_num() * part;
#pragma omp barrier
    double start = omp_get_wtime();
    for (int64_t round = 0; round < rounds; round++) {
      memcpy(to + first, from + first, part);
      __asm__ volatile("" ::: "memory");
    }
    slowest = omp_get_wtime() - start;
  }
  return slowest;
}
