#include "simd/tuning.h"

#include <stdio.h>
#if defined(__unix__) || defined(__APPLE__)
#  include <unistd.h>
#endif

#include "simd/vector/prefetch.h"

THNNTuning THNN_tuning;

/* AMD's family 19h: Zen 3 and Zen 4. Where the compiler does not know that name, the
 * answer is no. */
static bool isFamily19h(void)
{
#if defined(__x86_64__) && (__GNUC__ >= 11 || __clang_major__ >= 13)
  __builtin_cpu_init();
  return __builtin_cpu_is("amdfam19h");
#else
  return false;
#endif
}

/* On AMD's processors glibc's sysconf may add up the caches of all cores (2.36: 320 MB where a core
 * has 32), so /sys is read first. */
static int64_t readLastCacheBytes(void)
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

/* Runs before any caller can reach a kernel. */
__attribute__((constructor)) static void tune(void)
{
  THNN_tuning = (THNNTuning){
      .prefetchBytes = THNN_PAGE_BYTES,
      .rowSumsPrefetch = true,
      .passingPart = 4,
      .lastCacheBytes = readLastCacheBytes(),
  };
  /* Measured on Zen 4. It reads at two thirds of its speed when it prefetches a page ahead. The
   * less sums of rows prefetch the faster they are, since the next row can arrive while the
   * exponentials of this one are computed. Results of two tensors pay to stream from 38 MB on;
   * elsewhere from 48 MB. */
  if (isFamily19h()) {
    THNN_tuning.prefetchBytes = 1024;
    THNN_tuning.rowSumsPrefetch = false;
    THNN_tuning.passingPart = 2;
  }
}
