/* What the fused recurrent cells have in common: units, each with a few gates. */
#ifndef THCUNN_CELL_CUH
#define THCUNN_CELL_CUH

#include "cuda/generic/shared/elementary.cuh"

#include "cuda/THC/THCDivision.cuh"

namespace
{

/* Where the parts of unit number i lie in rows of several parts, one part's units after the
 * other's. */
template <typename Index, int parts> struct Parts {
  THCDivisor<Index> units;

  __device__ int64_t first(int64_t i) const
  {
    const THCSplit<Index> at = THC_divide((Index)i, units);
    return (int64_t)at.quotient * parts * units.value + at.remainder;
  }
  __device__ int64_t unit(int64_t i) const { return THC_divide((Index)i, units).remainder; }
  __device__ int64_t step() const { return units.value; }
};

/* The products that go into the gates, and the biases, which may be NULL, both. */
struct GateSums {
  const real *input, *hidden, *bias1, *bias2;

  __device__ accreal ofInput(int64_t at, int64_t gate) const
  {
    return bias1 ? (accreal)input[at] + bias1[gate] : input[at];
  }
  __device__ accreal ofHidden(int64_t at, int64_t gate) const
  {
    return bias2 ? (accreal)hidden[at] + bias2[gate] : hidden[at];
  }
  __device__ real both(int64_t at, int64_t gate) const
  {
    return (real)(ofInput(at, gate) + ofHidden(at, gate));
  }
};

} // namespace

#endif
