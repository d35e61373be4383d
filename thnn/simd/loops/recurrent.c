/* Rows of fused recurrent cells. */
#include "simd/vector/template.h"

#include "simd/vector/elementary.h"

/* Element i of a gate before its activation; `biased` is a constant where this is called. */
INLINE real sumOfGate(const bool biased, const GateRows *of, int64_t i)
{
  const real products = of->input[i] + of->hidden[i];
  return biased ? products + (of->bias1[i] + of->bias2[i]) : products;
}

INLINE void gruRow(const bool biased, int64_t n, const GateRows *of, const real *hx, real *hy,
                   real *storage)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const int64_t iz = n + i, in = 2 * n + i; /* elements of the update gate and of the new gate */
    const real r = realSigmoid(sumOfGate(biased, of, i));
    const real z = realSigmoid(sumOfGate(biased, of, iz));
    const real m = biased ? of->hidden[in] + of->bias2[in] : of->hidden[in];
    const real x = biased ? of->input[in] + of->bias1[in] : of->input[in];
    const real new = realTanh(x + r * m);
    const real old = hx[i];
    hy[i] = new + z * (old - new);
    storage[i] = r;
    storage[n + i] = z;
    storage[2 * n + i] = new;
    storage[3 * n + i] = old;
    storage[4 * n + i] = m;
  }
}

static void gru(int64_t n, const GateRows *of, const real *hx, real *hy, real *storage)
{
  if (of->bias1)
    gruRow(true, n, of, hx, hy, storage);
  else
    gruRow(false, n, of, hx, hy, storage);
}

static void gruBackward(int64_t n, const real *storage, const real *gradOutput, real *gradInput,
                        real *gradHidden, real *gradHx)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real r = storage[i], z = storage[n + i], new = storage[2 * n + i];
    const real old = storage[3 * n + i], m = storage[4 * n + i];
    const real g = gradOutput[i];
    const real gNew = g * (1 - z) * (1 - new * new);
    const real gR = gNew * m * r * (1 - r);
    const real gZ = g * (old - new) * z * (1 - z);
    gradHx[i] = g * z;
    gradInput[i] = gR;
    gradInput[n + i] = gZ;
    gradInput[2 * n + i] = gNew;
    gradHidden[i] = gR;
    gradHidden[n + i] = gZ;
    gradHidden[2 * n + i] = gNew * r;
  }
}

INLINE void lstmRow(const bool biased, int64_t n, const GateRows *of, const real *cx, real *gates,
                    real *hy, real *cy)
{
#pragma omp simd
  for (int64_t k = 0; k < n; k++) {
    const real i = realSigmoid(sumOfGate(biased, of, k));
    const real f = realSigmoid(sumOfGate(biased, of, n + k));
    const real c = realTanh(sumOfGate(biased, of, 2 * n + k));
    const real o = realSigmoid(sumOfGate(biased, of, 3 * n + k));
    const real cell = f * cx[k] + i * c;
    cy[k] = cell;
    hy[k] = o * realTanh(cell);
    gates[k] = i;
    gates[n + k] = f;
    gates[2 * n + k] = c;
    gates[3 * n + k] = o;
  }
}

static void lstm(int64_t n, const GateRows *of, const real *cx, real *gates, real *hy, real *cy)
{
  if (of->bias1)
    lstmRow(true, n, of, cx, gates, hy, cy);
  else
    lstmRow(false, n, of, cx, gates, hy, cy);
}

static void lstmBackward(int64_t n, const real *gates, const LstmGradients *of, real *gradGates,
                         real *gradCx)
{
#pragma omp simd
  for (int64_t k = 0; k < n; k++) {
    const real i = gates[k], f = gates[n + k], c = gates[2 * n + k], o = gates[3 * n + k];
    const real g = of->gradOutput[k], t = realTanh(of->cy[k]);
    const real d = g * o * (1 - t * t) + of->gradCy[k];
    gradCx[k] = d * f;
    gradGates[k] = d * c * i * (1 - i);
    gradGates[n + k] = d * of->cx[k] * f * (1 - f);
    gradGates[2 * n + k] = d * i * (1 - c * c);
    gradGates[3 * n + k] = g * t * o * (1 - o);
  }
}

const SimdRecurrent SIMD_TABLE(Recurrent, THNN_SIMD_LEVEL) = {
    .gru = gru,
    .gruBackward = gruBackward,
    .lstm = lstm,
    .lstmBackward = lstmBackward,
};
