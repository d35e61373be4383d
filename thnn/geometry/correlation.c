#include "geometry/correlation.h"

#include "geometry/inside.h"

THNNCorrelation THNN_correlation(const THNNConvolution *geometry)
{
  return (THNNCorrelation){.geometry = *geometry, .spread = {1, 1, 1}};
}

THNNCorrelation THNN_correlationExchanged(const THNNConvolution *geometry)
{
  THNNCorrelation exchanged = {.geometry = THNN_convolutionTransposed(geometry)};
  for (int i = 0; i < 3; i++) {
    exchanged.spread[i] = geometry->stride[i];
    exchanged.geometry.stride[i] = 1;
  }
  exchanged.geometry.transposed = false; /* the spread says what the stride was */
  return exchanged;
}

THNNConvolutionTap THNN_correlationTap(const THNNCorrelation *correlation, int dimension,
                                       int64_t tap)
{
  const THNNConvolution *geometry = &correlation->geometry;
  const int64_t spread = correlation->spread[dimension];
  if (spread == 1)
    return THNN_convolutionTap(geometry, dimension, tap);
  /* With a spread the stride is 1, and image index i is seen from position i*spread - start. */
  const int64_t start = tap * geometry->dilation[dimension] - geometry->pad[dimension];
  const THNNRange seen =
      THNN_indicesInside(-start, spread, geometry->input[dimension], geometry->output[dimension]);
  return (THNNConvolutionTap){start, seen.begin * spread - start, seen.end * spread - start};
}

int64_t THNN_correlationTapStep(const THNNCorrelation *correlation, int dimension)
{
  const int64_t kernel = correlation->geometry.kernel[dimension];
  const int64_t dilation = correlation->geometry.dilation[dimension];
  int64_t step = 1;
  while (step < kernel && step * dilation % correlation->spread[dimension])
    step++;
  return step;
}

bool THNN_correlationIsPointwise(const THNNCorrelation *correlation)
{
  for (int i = 0; i < 3; i++)
    if (correlation->spread[i] != 1)
      return false;
  return THNN_convolutionIsPointwise(&correlation->geometry);
}
