/* Division of indices by a number that is the same for a whole launch. For 32-bit indices it is a
 * multiplication and a shift, since a GPU has no instruction that divides integers. */
#ifndef THC_DIVISION_CUH
#define THC_DIVISION_CUH

#include "THCLaunch.h"

/* A divisor that is not 0 even where the tensor is empty, and nothing will be divided. */
static inline int64_t THC_divisor(int64_t size)
{
  return size > 0 ? size : 1;
}

template <typename Index> struct THCDivisor {
  Index value;

  THCDivisor() = default;
  explicit THCDivisor(int64_t divisor) : value((Index)THC_divisor(divisor)) {}
  __device__ Index quotient(Index i) const { return i / value; }
};

/* The divisor of indices below 2^31, which THC_fitsIndex ensures. With 2^shift the least power of 2
 * that is not below the divisor and factor = floor(2^32 (2^shift - divisor) / divisor) + 1, the
 * quotient is floor((floor(i factor / 2^32) + i) / 2^shift). */
template <> struct THCDivisor<uint32_t> {
  uint32_t value, factor, shift;

  THCDivisor() = default;
  explicit THCDivisor(int64_t divisor) : value((uint32_t)THC_divisor(divisor)), shift(0)
  {
    while ((uint32_t)1 << shift < value)
      shift++;
    const uint64_t excess = ((uint64_t)1 << shift) - value;
    factor = (uint32_t)((excess << 32) / value + 1);
  }
  __device__ uint32_t quotient(uint32_t i) const
  {
    return ((uint32_t)(((uint64_t)i * factor) >> 32) + i) >> shift;
  }
};

/* Calls work(Index()) with the fastest unsigned type that can index `count` elements, to launch
 * kernels that are templates of it. */
template <typename Work> void THC_withIndex(int64_t count, const Work &work)
{
  if (THC_fitsIndex(count))
    work(uint32_t(0));
  else
    work(uint64_t(0));
}

/* The quotient and the remainder of a division. */
template <typename Index> struct THCSplit {
  Index quotient, remainder;
};

template <typename Index>
__device__ THCSplit<Index> THC_divide(Index i, const THCDivisor<Index> &divisor)
{
  const Index quotient = divisor.quotient(i);
  return THCSplit<Index>{quotient, i - quotient * divisor.value};
}

#endif
