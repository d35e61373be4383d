#include "simd/tuning.h"

#include <stdio.h>
#if defined(__unix__) || defined(__APPLE__)
#  include <unistd.h>
#endif

#include "simd/vector/prefetch.h"

THNNTuning THNN_tuning;

/* Whether this is AMD's family 19h: Zen 3 or Zen 4. A compiler that does not know the name makes
 * the answer no. */
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

/* Runs before the loops are chosen, whose constructor has no priority. */
__attribute__((constructor(101))) static void tune(void)
{
  THNN_tuning = (THNNTuning){
      .prefetchBytes = THNN_PAGE_BYTES,
      .rowSumsPrefetch = true,
      .passingPart = 4,
      .lastCacheBytes = readLastCacheBytes(),
  };
  /* Measured on Zen 4. Prefetching a page ahead costs it a third of its reading speed. Softmax is
   * fastest if its sums do not prefetch at all, since the next row can arrive while the
   * exponentials of this one are computed. Results of two tensors are worth streaming from 38 MB of
   * tensors in all; on other processors from 48 MB. In a cycle it multiplies one vector of 64 bytes,
   * or two of 32. */
  if (isFamily19h()) {
    THNN_tuning.prefetchBytes = 1024;
    THNN_tuning.rowSumsPrefetch = false;
    THNN_tuning.passingPart = 2;
    THNN_tuning.splitsVectors = true;
  }
}
