/* Vectors of 64-bit words, for random numbers. */
#ifndef THNN_SIMD_WORDS_H
#define THNN_SIMD_WORDS_H

#include "simd/vector/vector.h"

enum { WORDS = VECTOR_BYTES / sizeof(uint64_t) };
typedef uint64_t Words
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(uint64_t)), may_alias));

/* The lower 32 bits of each word, times a number. */
INLINE Words lowProducts(Words x, uint32_t factor)
{
  const Words y = (uint64_t)factor - (Words){0};
#if defined(__AVX512F__)
  return (Words)_mm512_mul_epu32((__m512i)x, (__m512i)y);
#elif defined(__AVX2__)
  return (Words)_mm256_mul_epu32((__m256i)x, (__m256i)y);
#elif defined(__SSE2__)
  return (Words)_mm_mul_epu32((__m128i)x, (__m128i)y);
#else
  return (x & 0xffffffffu) * y;
#endif
}

#endif
