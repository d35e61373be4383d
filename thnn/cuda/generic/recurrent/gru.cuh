/* A unit of a GRU cell, forward and backward, as GRUFused.cu describes it. */
#ifndef THCUNN_GRU_CUH
#define THCUNN_GRU_CUH

#include "cuda/generic/recurrent/cell.cuh"

namespace
{

enum { GRU_GATES = 3, GRU_STORED = 5 };

template <typename Index> struct GruForward {
  Parts<Index, GRU_GATES> gates;
  Parts<Index, GRU_STORED> parts;
  GateSums sums;
  real *storage;

  __device__ void operator()(int64_t i, real &hy, const real &hx) const
  {
    const int64_t at = gates.first(i), unit = gates.unit(i), step = gates.step();
    const real r = sigmoid(sums.both(at, unit)), z = sigmoid(sums.both(at + step, unit + step));
    const real m = (real)sums.ofHidden(at + 2 * step, unit + 2 * step);
    const real n = tanh((real)(sums.ofInput(at + 2 * step, unit + 2 * step) + r * m));
    hy = n + z * (hx - n);
    real *stored = storage + parts.first(i);
    stored[0] = r;
    stored[step] = z;
    stored[2 * step] = n;
    stored[3 * step] = hx;
    stored[4 * step] = m;
  }
};

/* `given` is added to the gradient of the output; it may be NULL. */
template <typename Index> struct GruBackward {
  Parts<Index, GRU_GATES> gates;
  Parts<Index, GRU_STORED> parts;
  const real *storage, *given;
  real *gradInInput, *gradInHidden;

  __device__ void operator()(int64_t i, real &gradInputHx, const real &carried) const
  {
    const real g = given ? carried + given[i] : carried;
    const int64_t at = gates.first(i), step = gates.step();
    const real *stored = storage + parts.first(i);
    const real r = stored[0], z = stored[step], n = stored[2 * step];
    const real hx = stored[3 * step], m = stored[4 * step];
    const real gradN = g * (1 - z) * (1 - n * n);
    const real gradR = gradN * m * r * (1 - r), gradZ = g * (hx - n) * z * (1 - z);
    gradInputHx = g * z;
    gradInInput[at] = gradInHidden[at] = gradR;
    gradInInput[at + step] = gradInHidden[at + step] = gradZ;
    gradInInput[at + 2 * step] = gradN;
    gradInHidden[at + 2 * step] = gradN * r;
  }
};

} // namespace

#endif
