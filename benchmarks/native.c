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
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define BEGIN(I) Vector sum##I = term * I; /* different, or they would be computed as one */
#define ADD(I) sum##I = sum##I * factor + term;
#define TOTAL(I) total += sum##I;

/* Seconds that the slowest thread takes, and the operations of one round on one thread. */
#define PEAK(NAME, REAL)                                                                           \
  typedef REAL NAME##Vector __attribute__((vector_size(WIDTH)));                                   \
                                                                                                   \
  static double NAME##_thread(int64_t rounds)                                                      \
  {                                                                                                \
    typedef NAME##Vector Vector;                                                                   \
    Vector factor = (Vector){0} + (REAL)0.999, term = (Vector){0} + (REAL)0.001, total = term;     \
    EACH(BEGIN)                                                                                    \
    double start = omp_get_wtime();                                                                \
    for (int64_t round = 0; round < rounds; round++) {                                             \
      EACH(ADD)                                                                                    \
      __asm__ volatile("");                                                                        \
    }                                                                                              \
    double seconds = omp_get_wtime() - start;                                                      \
    EACH(TOTAL)                                                                                    \
    volatile REAL kept = total[0];                                                                 \
    (void)kept;                                                                                    \
    return seconds;                                                                                \
  }                                                                                                \
                                                                                                   \
  double NAME(int threads, int64_t rounds)                                                         \
  {                                                                                                \
    double slowest = 0;                                                                            \
    _Pragma("omp parallel num_threads(threads) reduction(max : slowest)")                          \
    {                                                                                              \
      _Pragma("omp barrier") slowest = NAME##_thread(rounds);                                      \
    }                                                                                              \
    return slowest;                                                                                \
  }                                                                                                \
                                                                                                   \
  int64_t NAME##_operations(void)                                                                  \
  {                                                                                                \
    return 2 * SUMS * (WIDTH / sizeof(REAL));                                                      \
  }

PEAK(peak_float, float)
PEAK(peak_double, double)

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
