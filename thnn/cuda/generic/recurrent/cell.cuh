/* Shared by the fused recurrent cells, which consist of units with a few gates each. */
#ifndef THCUNN_CELL_CUH
#define THCUNN_CELL_CUH

#include "cuda/generic/shared/elementary.cuh"

#include "cuda/THC/THCDivision.cuh"

namespace
{

/* Finds the parts of unit i, counted over the batch. A row has all units' first parts, then all
 * units' second parts, and so on. */
template <typename Index, int parts> struct Parts {
  THCDivisor<Index> units;

  __device__ int64_t first(int64_t i) const
  {
    const THCSplit<Index> at = THC_divide((Index)i, units);
    return (int64_t)at.quotient * parts * units.value + at.remainder;
  }
  __device__ int64_t unit(int64_t i) const { return THC_divide((Index)i, units).remainder; }
  __device__ int64_t step() const { return units.value; }

  /* Whether a mask of rows, which may be NULL, is not 0 for the unit's row. */
  __device__ bool isPadding(int64_t i, const real *mask) const
  {
    return mask && mask[THC_divide((Index)i, units).quotient] != 0;
  }
  __device__ void clear(int64_t i, real *rows) const
  {
    for (int part = 0; part < parts; part++)
      rows[first(i) + part * step()] = 0;
  }
};

/* The sums that go into the gates: products and biases, which may be NULL. */
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
