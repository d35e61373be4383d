/* Vectors of the instruction set that this pass is compiled for. */
#ifndef THNN_SIMD_VECTOR_H
#define THNN_SIMD_VECTOR_H

#if defined(__SSE2__)
#  include <immintrin.h>
#endif

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/vector/template.h"

/* Wide: vectors of AVX2's size; on a processor with shorter registers each takes several of them. Short:
 * vectors of that size in the registers of AVX-512, of which there are twice as many. */
#if defined(THNN_WIDE_VECTORS)
enum { VECTOR_BYTES = 32, VECTOR_REGISTERS = 16 };
#elif defined(THNN_SHORT_VECTORS)
#  define MANY_REGISTERS
enum { VECTOR_BYTES = 32, VECTOR_REGISTERS = 32 };
#elif defined(__AVX512F__)
#  define MANY_REGISTERS
#  define LONGEST_VECTORS /* 64 bytes */
enum { VECTOR_BYTES = 64, VECTOR_REGISTERS = 32 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, VECTOR_REGISTERS = 16 };
#elif defined(__aarch64__)
#  define MANY_REGISTERS
enum { VECTOR_BYTES = 16, VECTOR_REGISTERS = 32 };
#else
enum { VECTOR_BYTES = 16, VECTOR_REGISTERS = 16 };
#endif

enum { LANES = VECTOR_BYTES / sizeof(real) };
#if defined(__AVX__) || defined(THNN_WIDE_VECTORS)
#  define LONG_VECTORS /* 32 bytes or more */
#elif defined(THNN_REAL_DOUBLE)
#  define TWO_LANES
#endif

/* Aligned like a real, so that loads and stores can be at any real's address. As far as the compiler knows,
 * storing a vector may change anything (`may_alias`); loops copy what they need before. If it knew
 * better, it would keep so much in registers that convolutions take up to a fiftieth longer (AVX2). */
typedef real Vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

INLINE Vector load(const real *x)
{
  return *(const Vector *)x;
}

INLINE void store(real *y, Vector x)
{
  *(Vector *)y = x;
}

/* A distance whose value the compiler does not know. For a loop over vectors that are read or written at
 * dozens of such distances, GCC would compute all of these before it, and load each one from memory
 * whenever it is used. */
INLINE int64_t unknownDistance(int64_t distance)
{
  __asm__("" : "+r"(distance));
  return distance;
}

/* A mask of a vector's first `count` lanes. */
#if defined(LONGEST_VECTORS)
typedef __mmask16 Lanes;
INLINE Lanes firstLanes(int64_t count)
{
  return (Lanes)((1u << count) - 1);
}
#else
typedef Place Lanes __attribute__((vector_size(VECTOR_BYTES)));
INLINE Lanes firstLanes(int64_t count)
{
  Lanes lanes = {0};
#  if defined(__AVX__)
  /* GCC would compare lane by lane, and put the results into a vector. */
  for (int l = 0; l < LANES; l++)
    lanes[l] = l; /* a constant vector, with optimization */
  return lanes < (Place)count;
#  else
  /* Without masked loads, lanes are looked at one by one. */
  for (int l = 0; l < LANES; l++)
    lanes[l] = l < count ? -1 : 0;
  return lanes;
#  endif
}
#endif

#if !defined(__AVX__)
/* Looks at each lane. It is no part of its callers, which load so at ends of lines: without it, the baseline's
 * shiftedRows.c and winograd.c compile in two thirds of the time. */
static __attribute__((noinline, unused)) Vector loadEach(const real *x, Lanes lanes)
{
  Vector first = {0};
  for (int l = 0; l < LANES; l++)
    if (lanes[l])
      first[l] = x[l];
  return first;
}
#endif

/* Loads the lanes of a mask and reads nothing else; the other lanes become 0. */
INLINE Vector loadLanes(const real *x, Lanes lanes)
{
#if defined(LONGEST_VECTORS) && defined(THNN_REAL_FLOAT)
  return (Vector)_mm512_maskz_loadu_ps(lanes, x);
#elif defined(LONGEST_VECTORS)
  return (Vector)_mm512_maskz_loadu_pd((__mmask8)lanes, x);
#elif defined(__AVX__) && defined(THNN_REAL_FLOAT)
  return (Vector)_mm256_maskload_ps(x, (__m256i)lanes);
#elif defined(__AVX__)
  return (Vector)_mm256_maskload_pd(x, (__m256i)lanes);
#else
  return loadEach(x, lanes);
#endif
}

/* Stores the first `count` lanes, from 1 to LANES. AVX has stores under a mask, too, but there are
 * processors on which they take four times as long as the parts. */
INLINE void storeFirst(real *y, int64_t count, Vector x)
{
#if defined(LONGEST_VECTORS) && defined(THNN_REAL_FLOAT)
  _mm512_mask_storeu_ps(y, firstLanes(count), (__m512)x);
#elif defined(LONGEST_VECTORS)
  _mm512_mask_storeu_pd(y, (__mmask8)firstLanes(count), (__m512d)x);
#elif defined(__AVX512VL__) && defined(THNN_REAL_FLOAT)
  _mm256_mask_storeu_ps(y, (__mmask8)((1u << count) - 1), (__m256)x);
#elif defined(__AVX512VL__)
  _mm256_mask_storeu_pd(y, (__mmask8)((1u << count) - 1), (__m256d)x);
#elif defined(__AVX__)
  if (count == LANES) {
    store(y, x);
    return;
  }
#  if defined(THNN_REAL_FLOAT)
  __m128 part = _mm256_castps256_ps128((__m256)x);
  if (count & 4) {
    _mm_storeu_ps(y, part);
    part = _mm256_extractf128_ps((__m256)x, 1);
    y += 4;
  }
  if (count & 2) {
    _mm_storel_pi((__m64 *)y, part);
    part = _mm_movehl_ps(part, part);
    y += 2;
  }
  if (count & 1)
    _mm_store_ss(y, part);
#  else
  __m128d part = _mm256_castpd256_pd128((__m256d)x);
  if (count & 2) {
    _mm_storeu_pd(y, part);
    part = _mm256_extractf128_pd((__m256d)x, 1);
    y += 2;
  }
  if (count & 1)
    _mm_store_sd(y, part);
#  endif
#else
  for (int64_t l = 0; l < count; l++)
    y[l] = x[l];
#endif
}

/* Loads the first `count` elements of a row, from 1 to LANES; the other lanes become 0. */
INLINE Vector loadFirst(const real *x, int64_t count)
{
  return count == LANES ? load(x) : loadLanes(x, firstLanes(count));
}

/* Streaming stores, to addresses that are multiples of VECTOR_BYTES. streamEnd makes them visible
 * to other threads. */
#if defined(__SSE2__)
#  define VECTOR_STREAMS
INLINE void streamVector(real *y, Vector x)
{
#  if defined(LONGEST_VECTORS)
  _mm512_stream_si512((__m512i *)y, (__m512i)x);
#  elif defined(__AVX__)
  _mm256_stream_si256((__m256i *)y, (__m256i)x);
#  else
  _mm_stream_si128((__m128i *)y, (__m128i)x);
#  endif
}

INLINE void streamEnd(void)
{
  _mm_sfence();
}
#endif

/* Copies a row that is too short to be worth a call of memcpy. */
INLINE void copyRow(int64_t n, const real *x, real *y)
{
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    store(y + i, load(x + i));
  if (i < n && n >= LANES) {
    store(y + n - LANES, load(x + n - LANES));
    return;
  }
#pragma GCC unroll 8
  for (int64_t part = LANES / 2; part > 0; part /= 2)
    if (n & part) {
      __builtin_memcpy(y + i, x + i, (size_t)part * sizeof(real));
      i += part;
    }
}

/* A vector with x in every lane. */
INLINE Vector broadcast(real x)
{
  return x - (Vector){0};
}

/* Makes the compiler load a vector whole. It would otherwise load parts of it, or only the lanes
 * that a comparison chooses, and these loads wait for the comparison. */
#if defined(__SSE2__)
#  define KEEP_LOADED(vector) __asm__("" : "+x"(vector))
#elif defined(__aarch64__)
#  define KEEP_LOADED(vector) keepRegisters(&(vector), sizeof(vector))
typedef uint8_t Register __attribute__((vector_size(16)));

/* Does so for a vector of one register, or of two. */
INLINE void keepRegisters(void *vector, const size_t bytes)
{
  Register part[2];
  memcpy(part, vector, bytes);
  __asm__("" : "+w"(part[0]));
  if (bytes > sizeof(Register))
    __asm__("" : "+w"(part[1]));
  memcpy(vector, part, bytes);
}
#else
#  define KEEP_LOADED(vector) (void)(vector)
#endif

/* The result of comparing two vectors: the bits of a lane are all ones or all zeros. */
typedef Place Comparison __attribute__((vector_size(VECTOR_BYTES)));

/* Lane l of the result is lane index[l] of x; indices are from 0 to LANES - 1. */
#if defined(__AVX2__)
#  define VECTOR_PERMUTES
INLINE Vector permute(Vector x, Comparison index)
{
#  if defined(LONGEST_VECTORS) && defined(THNN_REAL_FLOAT)
  return (Vector)_mm512_permutexvar_ps((__m512i)index, (__m512)x);
#  elif defined(LONGEST_VECTORS)
  return (Vector)_mm512_permutexvar_pd((__m512i)index, (__m512d)x);
#  elif defined(THNN_REAL_FLOAT)
  return (Vector)_mm256_permutevar8x32_ps((__m256)x, (__m256i)index);
#  else
  const Comparison halves = 2 * index + ((2 * index + 1) << 32);
  return (Vector)_mm256_permutevar8x32_ps((__m256)x, (__m256i)halves);
#  endif
}
#endif

/* x in the lanes where a comparison holds, 0 in the others. */
INLINE Vector keepWhere(Comparison lanes, Vector x)
{
  KEEP_LOADED(x);
  return (Vector)(lanes & (Comparison)x);
}

#endif
