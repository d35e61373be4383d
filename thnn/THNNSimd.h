/* Instruction sets that the vector loops are compiled for, and the one in use.
 * The best that the processor has is chosen when the library is loaded; the environment variable
 * THNN_SIMD=baseline|avx2|avx512 asks for a lower one. */
#ifndef THNN_SIMD_H
#define THNN_SIMD_H

#include "THNNState.h"

typedef enum THNNSimdLevel {
  THNN_SIMD_BASELINE, /* SSE2 on x86-64, NEON on aarch64: what every processor has */
  THNN_SIMD_AVX2,     /* x86-64-v3: 256-bit vectors, fused multiply-add */
  THNN_SIMD_AVX512    /* x86-64-v4: 512-bit vectors */
} THNNSimdLevel;

/* The level in use, and its name as in the environment variable; fixed once loaded. */
THNN_API THNNSimdLevel THNN_simdLevel(void);
THNN_API const char *THNN_simdLevelName(void);

/* Whether the level in use has fused multiply-adds, without which results are not the same as on
 * other processors (THNN_State_setReproducible). */
THNN_API bool THNN_simdReproduces(void);

#endif
