#include "generic/convolution/planeSums.h"

void THNN_(planeSums_add)(const THNNState *state, const THNNPlaneSet *set, const real *x,
                          accreal scale, real *sums)
{
  const int64_t positions = set->positions;
  const double operations = (double)set->batch * (double)set->planes * (double)positions;
  const int threads = THNN_threads(state, set->planes, operations);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t plane = 0; plane < set->planes; plane++) {
    double sum = 0;
    for (int64_t n = 0; n < set->batch; n++)
      sum += THNN_(simd).reduce.sum(positions, x + n * set->sample + plane * set->step * positions);
    sums[plane] += (real)(scale * sum);
  }
}
