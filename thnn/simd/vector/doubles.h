/* Vectors of doubles, loaded from reals. */
#ifndef THNN_SIMD_DOUBLES_H
#define THNN_SIMD_DOUBLES_H

#include "simd/vector/runningSums.h"
#include "simd/vector/vector.h"

enum { WIDTH = VECTOR_BYTES / sizeof(double) };
typedef double Doubles
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(double)), may_alias));
typedef real Reals
    __attribute__((vector_size(WIDTH * sizeof(real)), aligned(sizeof(real)), may_alias));

INLINE Doubles loadAll(const real *x)
{
#if defined(__AVX512F__) && defined(THNN_REAL_FLOAT)
  return (Doubles)_mm512_cvtps_pd(_mm256_loadu_ps(x));
#elif defined(__AVX__) && defined(THNN_REAL_FLOAT)
  return (Doubles)_mm256_cvtps_pd(_mm_loadu_ps(x));
#else
  return __builtin_convertvector(*(const Reals *)x, Doubles);
#endif
}

/* The same of reals in a register. */
INLINE Doubles widen(Reals x)
{
#if defined(__AVX512F__) && defined(THNN_REAL_FLOAT)
  return (Doubles)_mm512_cvtps_pd((__m256)x);
#elif defined(__AVX__) && defined(THNN_REAL_FLOAT)
  return (Doubles)_mm256_cvtps_pd((__m128)x);
#else
  return __builtin_convertvector(x, Doubles);
#endif
}

/* firstOf() is a mask of the first lanes of a vector. loadSome() and keepSome() load or keep the
 * lanes of a mask; the others become 0. */
#if defined(__AVX512F__)
typedef __mmask8 Some;

INLINE Some firstOf(int64_t count)
{
  return (Some)(count < WIDTH ? (1u << count) - 1 : 0xff);
}

INLINE Doubles loadSome(const real *x, Some lanes)
{
#  if defined(THNN_REAL_FLOAT)
  return (Doubles)_mm512_cvtps_pd(_mm256_maskz_loadu_ps(lanes, x));
#  else
  return (Doubles)_mm512_maskz_loadu_pd(lanes, x);
#  endif
}

INLINE Doubles keepSome(Some lanes, Doubles x)
{
  return (Doubles)_mm512_maskz_mov_pd(lanes, (__m512d)x);
}
#else
typedef int64_t Some __attribute__((vector_size(VECTOR_BYTES)));

INLINE Some firstOf(int64_t count)
{
#  if defined(LONG_VECTORS)
  const Some number = {0, 1, 2, 3};
#  else
  const Some number = {0, 1};
#  endif
  return number < count;
}

INLINE Doubles loadSome(const real *x, Some lanes)
{
#  if defined(__AVX__) && defined(THNN_REAL_FLOAT)
  typedef int32_t Narrow __attribute__((vector_size(WIDTH * sizeof(int32_t))));
  return (Doubles)_mm256_cvtps_pd(
      _mm_maskload_ps(x, (__m128i) __builtin_convertvector(lanes, Narrow)));
#  elif defined(__AVX__)
  return (Doubles)_mm256_maskload_pd(x, (__m256i)lanes);
#  else
  Doubles some = {0};
  for (int l = 0; l < WIDTH; l++)
    if (lanes[l])
      some[l] = x[l];
  return some;
#  endif
}

INLINE Doubles keepSome(Some lanes, Doubles x)
{
#  if defined(__AVX__)
  return (Doubles)((Some)x & lanes);
#  else /* lane by lane, since GCC 12 for aarch64 fails to compile bits of what it has widened */
  Doubles some = {0};
  for (int l = 0; l < WIDTH; l++)
    if (lanes[l])
      some[l] = x[l];
  return some;
#  endif
}
#endif

/* x - center. Some processors subtract, add and convert in the same two units, and multiply and add
 * in two others: there, a subtraction by the latter makes sums of moments a third faster. */
INLINE Doubles minus(Doubles x, double center)
{
#if defined(__FMA__) && !defined(__AVX512F__)
  return (Doubles)_mm256_fmsub_pd((__m256d)x, _mm256_set1_pd(1), _mm256_set1_pd(center));
#else
  return x - center;
#endif
}

/* sum + x, likewise. */
INLINE Doubles plus(Doubles sum, Doubles x)
{
#if defined(__FMA__) && !defined(__AVX512F__)
  return (Doubles)_mm256_fmadd_pd((__m256d)x, _mm256_set1_pd(1), (__m256d)sum);
#else
  return sum + x;
#endif
}

/* Adds the upper half of vectors to the lower one; `half` is a constant where this is called. */
INLINE void addUpper(const int half, Doubles *sums)
{
#pragma GCC unroll 8
  for (int p = 0; p < half; p++)
    sums[p] += sums[p + half];
}

/* addHalves() of RUNNING_SUMS sums in vectors, most of it in registers. */
INLINE double sumOfVectors(Doubles *sums)
{
  enum { VECTORS = RUNNING_SUMS / WIDTH };
  double running[WIDTH];
  if (VECTORS >= 16)
    addUpper(8, sums);
  if (VECTORS >= 8)
    addUpper(4, sums);
  addUpper(2, sums);
  addUpper(1, sums);
  *(Doubles *)running = sums[0];
  return addHalves(WIDTH, running);
}

#endif
