/* Rows that are normalised by their own mean and variance. Sums are in accreal: the variance is that
 * of the distances from the mean, for which a row is read once more. A cut says how many elements a
 * row has, and which of the weights and biases an element of a row has. */
#ifndef THCUNN_NORMALISE_ROWS_CUH
#define THCUNN_NORMALISE_ROWS_CUH

#include "cuda/generic/shared/rows.cuh"

namespace
{

template <typename Cut> struct NormaliseRow {
  Cut cut;
  accreal eps;
  const real *input, *weight, *bias;
  real *output, *means, *stds;

  /* Sums the distances of the elements from the first one, so that a large mean costs no
   * precision. */
  template <typename Team> __device__ void operator()(int64_t row, Team) const
  {
    const int64_t n = cut.elements();
    const real *x = input + row * n;
    const accreal first = x[0];
    accreal sum = 0, squares = 0;
    for (int64_t i = Team::rank(); i < n; i += Team::SIZE)
      sum += x[i] - first;
    const accreal mean = first + Team::sum(sum) / n;
    for (int64_t i = Team::rank(); i < n; i += Team::SIZE)
      squares += (x[i] - mean) * (x[i] - mean);
    const accreal variance = Team::sum(squares) / n;
    const real std = variance == 0 && eps == 0 ? real(0) : (real)(1 / sqrt(variance + eps));
    for (int64_t i = Team::rank(); i < n; i += Team::SIZE) {
      const int64_t p = cut.parameter(row, i);
      output[row * n + i] =
          (real)((x[i] - mean) * std * (weight ? weight[p] : 1) + (bias ? bias[p] : 0));
    }
    if (Team::rank() == 0) {
      means[row] = (real)mean;
      stds[row] = std;
    }
  }
};

template <typename Cut> struct NormaliseRowBackward {
  Cut cut;
  const real *input, *gradOutput, *weight, *means, *stds;
  real *gradInput;

  template <typename Team> __device__ void operator()(int64_t row, Team) const
  {
    const int64_t n = cut.elements();
    const real *x = input + row * n, *g = gradOutput + row * n;
    const accreal mean = means[row], std = stds[row];
    accreal gradient = 0, product = 0;
    for (int64_t i = Team::rank(); i < n; i += Team::SIZE) {
      const accreal own = weight ? g[i] * weight[cut.parameter(row, i)] : g[i];
      gradient += own;
      product += own * (x[i] - mean);
    }
    gradient = Team::sum(gradient) / n;
    const accreal slope = Team::sum(product) / n * std * std;
    for (int64_t i = Team::rank(); i < n; i += Team::SIZE) {
      const accreal own = weight ? g[i] * weight[cut.parameter(row, i)] : g[i];
      gradInput[row * n + i] = (real)((own - gradient - (x[i] - mean) * slope) * std);
    }
  }
};

} // namespace

#endif
