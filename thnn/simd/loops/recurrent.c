/* Rows of fused recurrent cells. */
#include "simd/vector/template.h"

#include "simd/vector/elementary.h"

/* Element i of a gate before its activation; `biases`, 0 to 2, is a constant where this is
 * called. */
INLINE real sumOfGate(const int biases, const GateRows *of, int64_t i)
{
  const real products = of->input[i] + of->hidden[i];
  if (biases == 2)
    return products + (of->bias1[i] + of->bias2[i]);
  return biases == 1 ? products + of->bias1[i] : products;
}

INLINE void gruRow(const bool biased, int64_t n, const GateRows *of, const real *hx, real *hy,
                   real *storage)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const int64_t iz = n + i, in = 2 * n + i; /* elements of the update gate and of the new gate */
    const real r = realSigmoid(sumOfGate(biased ? 2 : 0, of, i));
    const real z = realSigmoid(sumOfGate(biased ? 2 : 0, of, iz));
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

INLINE void lstmRow(const int biases, int64_t n, LstmOrder order, const GateRows *of,
                    const real *cx, real *gates, real *hy, real *cy)
{
  const int64_t atI = order.input * n, atF = order.forget * n;
  const int64_t atC = order.cell * n, atO = order.output * n;
#pragma omp simd
  for (int64_t k = 0; k < n; k++) {
    const real i = realSigmoid(sumOfGate(biases, of, atI + k));
    const real f = realSigmoid(sumOfGate(biases, of, atF + k));
    const real c = realTanh(sumOfGate(biases, of, atC + k));
    const real o = realSigmoid(sumOfGate(biases, of, atO + k));
    const real cell = f * cx[k] + i * c;
    cy[k] = cell;
    hy[k] = o * realTanh(cell);
    gates[atI + k] = i;
    gates[atF + k] = f;
    gates[atC + k] = c;
    gates[atO + k] = o;
  }
}

static void lstm(int64_t n, LstmOrder order, const GateRows *of, const real *cx, real *gates,
                 real *hy, real *cy)
{
  if (of->bias2)
    lstmRow(2, n, order, of, cx, gates, hy, cy);
  else if (of->bias1)
    lstmRow(1, n, order, of, cx, gates, hy, cy);
  else
    lstmRow(0, n, order, of, cx, gates, hy, cy);
}

static void lstmBackward(int64_t n, LstmOrder order, const real *gates, const LstmGradients *of,
                         real *gradGates, real *gradCx)
{
  const int64_t atI = order.input * n, atF = order.forget * n;
  const int64_t atC = order.cell * n, atO = order.output * n;
#pragma omp simd
  for (int64_t k = 0; k < n; k++) {
    const real i = gates[atI + k], f = gates[atF + k], c = gates[atC + k], o = gates[atO + k];
    const real g = of->gradOutput[k], t = realTanh(of->cy[k]);
    const real d = g * o * (1 - t * t) + of->gradCy[k];
    gradCx[k] = d * f;
    gradGates[atI + k] = d * c * i * (1 - i);
    gradGates[atF + k] = d * of->cx[k] * f * (1 - f);
    gradGates[atC + k] = d * i * (1 - c * c);
    gradGates[atO + k] = g * t * o * (1 - o);
  }
}

static void gruReset(int64_t n, const real *hidden, const real *bias, const real *hx, real *gates,
                     real *reset)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real ofR = gates[i] + hidden[i], ofU = gates[n + i] + hidden[n + i];
    const real r = realSigmoid(bias ? ofR + bias[i] : ofR);
    gates[n + i] = realSigmoid(bias ? ofU + bias[n + i] : ofU);
    gates[i] = r;
    reset[i] = r * hx[i];
  }
}

static void gruNew(int64_t n, const real *hidden, const real *bias, const real *hx, real *gates,
                   real *hy)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = 2 * n + i;
    const real sum = gates[at] + hidden[at], u = gates[n + i];
    const real new = realTanh(bias ? sum + bias[at] : sum);
    hy[i] = new + u * (hx[i] - new);
    gates[at] = new;
  }
}

static void gruNewBackward(int64_t n, const real *gates, const real *hx, const real *gradOutput,
                           real *gradGates)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real u = gates[n + i], new = gates[2 * n + i], g = gradOutput[i];
    gradGates[n + i] = g * (hx[i] - new) * u * (1 - u);
    gradGates[2 * n + i] = g * (1 - u) * (1 - new * new);
  }
}

static void gruResetBackward(int64_t n, const real *gates, const real *hx, const real *through,
                             real *gradGates, real *gradHx)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real r = gates[i], g = through[i];
    gradGates[i] = g * hx[i] * r * (1 - r);
    gradHx[i] = gradHx[i] * gates[n + i] + g * r;
  }
}

const SimdRecurrent SIMD_TABLE(Recurrent, THNN_SIMD_LEVEL) = {
    .gru = gru,
    .gruBackward = gruBackward,
    .lstm = lstm,
    .lstmBackward = lstmBackward,
    .gruReset = gruReset,
    .gruNew = gruNew,
    .gruNewBackward = gruNewBackward,
    .gruResetBackward = gruResetBackward,
};
