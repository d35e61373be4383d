/* The weights of Winograd's algorithms: packs filters, a lane for each plane, and transforms them. With
 * a stride of 2, the filters are those of slices or phases. */
#include <string.h>

#include "generic/convolution/engine/winogradWorker.h"

/* With a stride of 2, puts the packed taps of `pairs` pairs of planes in the order of their slices or
 * phases, or takes those of one phase. */
static void orderTaps(const WinogradWorker *worker, int64_t pairs)
{
  const THNNConvolution *g = &worker->whole;
  const int64_t taps = worker->plan.tiles->taps, lanes = vectorLanes();
  const int64_t filters = filtersOfPair(worker), first = filters == 1 ? worker->phaseFilter : 0;
  const real *packed = worker->packed;
  real *y = worker->ordered;
  for (int64_t pair = 0; pair < pairs; pair++, packed += THNN_convolutionTaps(g) * lanes)
    for (int64_t filter = first; filter < first + filters; filter++)
      for (int64_t tap = 0; tap < taps * taps; tap++, y += lanes) {
        const int64_t place = placeOfTap(g, filter, taps, tap);
        if (place < 0)
          memset(y, 0, (size_t)lanes * sizeof(real));
        else
          memcpy(y, packed + place * lanes, (size_t)lanes * sizeof(real));
      }
}

void THNN_(winogradFilters_transform)(const WinogradWorker *worker, int64_t outer, int64_t end,
                                      int64_t filter, int64_t filters, real *weights)
{
  const int64_t stride = weightsOf(worker, worker->innerPlanes * worker->filters);
  const bool strided = worker->whole.stride[1] == 2;
  const int64_t step = weightStep(worker), each = worker->filters / filtersOfPair(worker);
  for (; outer < end; outer += vectorLanes(), weights += filtersOf(worker) * vectorLanes())
    for (int64_t first = 0; first < filters; first += BLOCK_PLANES / each) {
      const int64_t count = minimum(BLOCK_PLANES / each, filters - first);
      THNN_(simd).products.pack(
          minimum(end - outer, vectorLanes()), weightsOf(worker, count * each),
          worker->weight + outer * stride + weightsOf(worker, (filter + first) * each), stride,
          worker->packed, vectorLanes());
      if (strided)
        orderTaps(worker, count * each / PHASES);
      worker->plan.tiles->weights(count, worker->g.transposed,
                                  strided ? worker->ordered : worker->packed, step,
                                  weights + first * vectorLanes());
    }
}

void THNN_(winogradFilters_transformMapLanes)(const WinogradWorker *worker, int64_t plane,
                                              real *weights)
{
  const int64_t lanes = vectorLanes(), step = weightStep(worker);
  const int64_t filters = worker->filters, taps = filterOf(worker->plan.tiles);
  const int64_t images = worker->g.inputPlanes, maps = worker->g.outputPlanes;
  const int64_t rows = minimum(maps - plane, lanes);
  for (int64_t image = 0; image < images; image++)
    for (int64_t first = 0; first < filters; first += BLOCK_PLANES) {
      const int64_t count = minimum(BLOCK_PLANES, filters - first);
      const int64_t place = (image * maps + plane) * filters + first;
      THNN_(simd).products.pack(rows, weightsOf(worker, count),
                                worker->weight + weightsOf(worker, place),
                                weightsOf(worker, filters), worker->packed, lanes);
      if (worker->phases == 1) {
        worker->plan.tiles->weights(count, true, worker->packed, step,
                                    weights + (image * filters + first) * lanes);
        continue;
      }
      orderTaps(worker, 1);
      for (int64_t phase = 0; phase < PHASES; phase++)
        worker->plan.tiles->weights(1, true, worker->ordered + phase * taps * lanes, step,
                                    weights + (phase * images + image) * lanes);
    }
}
