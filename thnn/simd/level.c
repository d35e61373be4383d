#include <THNNSimd.h>

#include <stdlib.h>
#include <string.h>

static const char *const LEVEL_NAMES[] = {"baseline", "avx2", "avx512"};

/* The highest level that is compiled in and that the processor and operating system support. */
static THNNSimdLevel supportedLevel(void)
{
#if defined(THNN_SIMD_HAS_AVX2) || defined(THNN_SIMD_HAS_AVX512)
  __builtin_cpu_init();
  const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                   __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const int avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                     __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#  ifdef THNN_SIMD_HAS_AVX512
  if (avx512)
    return THNN_SIMD_AVX512;
#  endif
  (void)avx512;
#  ifdef THNN_SIMD_HAS_AVX2
  if (avx2)
    return THNN_SIMD_AVX2;
#  endif
#endif
  return THNN_SIMD_BASELINE;
}

/* Needs no lock: the first call is made by one thread, while the library loads. */
THNNSimdLevel THNN_simdLevel(void)
{
  static int chosen = -1;
  if (chosen >= 0)
    return (THNNSimdLevel)chosen;
  THNNSimdLevel level = supportedLevel();
  const char *wanted = getenv("THNN_SIMD");
  for (int i = 0; wanted && i < (int)level; i++)
    if (!strcmp(wanted, LEVEL_NAMES[i]))
      level = (THNNSimdLevel)i;
  chosen = (int)level;
  return level;
}

const char *THNN_simdLevelName(void)
{
  return LEVEL_NAMES[THNN_simdLevel()];
}

bool THNN_simdReproduces(void)
{
#if defined(THNN_SIMD_HAS_WIDE)
  return true;
#else
  return THNN_simdLevel() >= THNN_SIMD_AVX2;
#endif
}
