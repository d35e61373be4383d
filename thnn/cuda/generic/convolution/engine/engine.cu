#include "cuda/generic/convolution/engine/engine.cuh"

#include "cuda/generic/shared/segmentSums.cuh"
#include "cuda/generic/convolution/engine/unfold.cuh"
#include "work/sizes.h"

namespace
{

enum {
  LEAST_ROWS = 64,       /* fewest rows of a product; fewer would leave the device idle */
  LEAST_POSITIONS = 1024 /* fewest positions that a product of the weight's gradient sums over */
};

const int64_t USUAL_CACHE_BYTES = 4 << 20; /* where the device does not report its L2 cache */

/* Planes of images whose columns are in scratch at the same time. */
struct Chunk {
  int64_t image, images; /* first image, number of images */
  int64_t plane, planes; /* first plane, number of planes */
};

int64_t chunksOf(int64_t total, int64_t size)
{
  return divideUp(total, size);
}

Chunk chunkAt(const THCConvolutionPlan *convolution, int64_t imageChunk, int64_t planeChunk)
{
  const THNNConvolution *geometry = &convolution->geometry;
  Chunk chunk;
  chunk.image = imageChunk * convolution->chunkImages;
  chunk.images = minimum(convolution->chunkImages, geometry->batch - chunk.image);
  chunk.plane = planeChunk * convolution->chunkPlanes;
  chunk.planes = minimum(convolution->chunkPlanes, geometry->inputPlanes - chunk.plane);
  return chunk;
}

template <typename T>
Planes<T> planesOf(const THCConvolutionPlan *convolution, const Chunk &chunk, T *images)
{
  const int64_t stride = convolution->imageStride;
  Planes<T> planes = {images + chunk.image * stride + chunk.plane * convolution->imagePositions,
                      chunk.images, chunk.planes, stride};
  return planes;
}

/* The columns of a chunk, image after image: in scratch, or the image itself when it need not be
 * unfolded. */
template <typename T>
Columns<T> columnsOf(const THCConvolutionPlan *convolution, const Chunk &chunk, T *image,
                     real *scratch)
{
  const int64_t positions = convolution->mapPositions;
  if (convolution->readsImage) {
    const Planes<T> planes = planesOf(convolution, chunk, image);
    Columns<T> columns = {planes.data, planes.imageStride, positions};
    return columns;
  }
  Columns<T> columns = {scratch, chunk.planes * convolution->taps * positions, positions};
  return columns;
}

/* Sets an element to its plane's bias. */
template <typename Index> struct PlaneBias {
  THCDivisor<Index> positions, planes;
  const real *bias;

  __device__ void operator()(int64_t i, real &output) const
  {
    output = bias[THC_divide(positions.quotient((Index)i), planes).remainder];
  }
};

} // namespace

void THCUNN_(engine_fillWithBias)(THCPlan *plan, int64_t batch, int64_t planes, int64_t positions,
                                  const real *bias, real *output)
{
  const int64_t count = batch * planes * positions;
  THC_withIndex(count, [&](auto index) {
    typedef THCDivisor<decltype(index)> By;
    const PlaneBias<decltype(index)> fill = {By(positions), By(planes), bias};
    THC_apply(plan, "biases of planes", count, fill, output);
  });
}

THCConvolutionPlan THCUNN_(engine_prepare)(const THCState *state, const THNNConvolution *geometry,
                                           THNNConvolutionPart part)
{
  THCConvolutionPlan plan;
  plan.geometry = *geometry;
  plan.taps = volumeOf(geometry->kernel);
  plan.imagePositions = volumeOf(geometry->input);
  plan.mapPositions = volumeOf(geometry->output);
  plan.imageStride = geometry->inputPlanes * plan.imagePositions;
  plan.mapStride = geometry->outputPlanes * plan.mapPositions;
  plan.add = false;

  /* The weight's gradient sums over positions: where a map has few, a chunk's images are unfolded
   * side by side and its maps copied likewise, for a product with long rows. */
  const bool weights = part == THNN_CONVOLUTION_BACKWARD_WEIGHT;
  const bool sideBySide = weights && geometry->batch > 1 && plan.mapPositions < LEAST_POSITIONS;
  plan.readsImage = THNN_convolutionIsPointwise(geometry) && !sideBySide;
  const int64_t planeElements = plan.taps * plan.mapPositions;
  const int64_t mapElements = sideBySide ? geometry->outputPlanes * plan.mapPositions : 0;
  const int64_t imageElements = geometry->inputPlanes * planeElements + mapElements;
  const int64_t cacheBytes = state->cacheBytes > 0 ? state->cacheBytes : USUAL_CACHE_BYTES;
  const int64_t budget = cacheBytes / 2 / (int64_t)sizeof(real);

  plan.chunkImages = 1;
  plan.chunkPlanes = geometry->inputPlanes;
  if (plan.readsImage)
    plan.chunkImages = weights ? 1 : minimum(geometry->batch, THC_LARGEST_BATCH);
  else if (imageElements <= budget)
    plan.chunkImages = minimum(minimum(geometry->batch, budget / imageElements), THC_LARGEST_BATCH);
  else
    plan.chunkPlanes = minimum(geometry->inputPlanes,
                               maximum(budget / planeElements, divideUp(LEAST_ROWS, plan.taps)));
  if (weights && !sideBySide)
    plan.chunkImages = 1;

  plan.columnElements = plan.readsImage ? 0 : plan.chunkImages * plan.chunkPlanes * planeElements;
  plan.scratchBytes =
      (plan.columnElements + plan.chunkImages * mapElements) * (int64_t)sizeof(real);
  return plan;
}

void THCUNN_(engine_forward)(THCPlan *plan, const THCConvolutionPlan *convolution,
                             const real *input, const real *weight, const real *bias, real *output,
                             real *scratch)
{
  const THNNConvolution *geometry = &convolution->geometry;
  const int64_t positions = convolution->mapPositions, taps = convolution->taps;
  const int64_t mapStride = convolution->mapStride;
  const int64_t weightStride = geometry->inputPlanes * taps;
  const int64_t imageChunks = chunksOf(geometry->batch, convolution->chunkImages);
  const int64_t planeChunks = chunksOf(geometry->inputPlanes, convolution->chunkPlanes);
  if (bias)
    THCUNN_(engine_fillWithBias)(plan, geometry->batch, geometry->outputPlanes, positions, bias,
                                 output);
  for (int64_t i = 0; i < imageChunks; i++)
    for (int64_t p = 0; p < planeChunks; p++) {
      const Chunk chunk = chunkAt(convolution, i, p);
      if (!convolution->readsImage)
        THCUNN_(unfold_toColumns)(plan, geometry, planesOf(convolution, chunk, input),
                                  columnsOf<real>(convolution, chunk, nullptr, scratch));
      const Columns<const real> columns = columnsOf(convolution, chunk, input, scratch);
      THC_multiply(plan, chunk.images, geometry->outputPlanes, positions, chunk.planes * taps,
                   real(1), THC_matrix(weight + chunk.plane * taps, weightStride),
                   THC_matrix(columns.data, columns.rowStride, false, columns.imageStride),
                   real(bias || p > 0 || convolution->add ? 1 : 0),
                   THC_matrix(output + chunk.image * mapStride, positions, false, mapStride));
    }
}

void THCUNN_(engine_backwardData)(THCPlan *plan, const THCConvolutionPlan *convolution,
                                  const real *gradOutput, const real *weight, const real *bias,
                                  real *gradInput, real *scratch)
{
  const THNNConvolution *geometry = &convolution->geometry;
  const int64_t positions = convolution->mapPositions, taps = convolution->taps;
  const int64_t mapStride = convolution->mapStride;
  const int64_t weightStride = geometry->inputPlanes * taps;
  const int64_t imageChunks = chunksOf(geometry->batch, convolution->chunkImages);
  const int64_t planeChunks = chunksOf(geometry->inputPlanes, convolution->chunkPlanes);
  const bool biasFirst = bias && convolution->readsImage;
  const bool keeps = convolution->readsImage && (bias || convolution->add);
  if (biasFirst)
    THCUNN_(engine_fillWithBias)(plan, geometry->batch, geometry->inputPlanes, positions, bias,
                                 gradInput);
  for (int64_t i = 0; i < imageChunks; i++)
    for (int64_t p = 0; p < planeChunks; p++) {
      const Chunk chunk = chunkAt(convolution, i, p);
      const Columns<real> columns = columnsOf(convolution, chunk, gradInput, scratch);
      const real *maps = gradOutput + chunk.image * mapStride;
      THC_multiply(plan, chunk.images, chunk.planes * taps, positions, geometry->outputPlanes,
                   real(1), THC_matrix(weight + chunk.plane * taps, weightStride, true),
                   THC_matrix(maps, positions, false, mapStride), real(keeps ? 1 : 0),
                   THC_matrix(columns.data, columns.rowStride, false, columns.imageStride));
      if (convolution->readsImage)
        continue;
      const Columns<const real> filled = {columns.data, columns.imageStride, columns.rowStride};
      THCUNN_(unfold_toImage)(plan, geometry, filled, bias ? bias + chunk.plane : nullptr,
                              planesOf(convolution, chunk, gradInput), convolution->add);
    }
}

/* sideBySide[plane][image][position] = maps[image][plane][position] */
static void putSideBySide(THCPlan *plan, int64_t planes, int64_t images, int64_t positions,
                          int64_t mapStride, const real *maps, real *sideBySide)
{
  const int64_t size[] = {planes, images, positions};
  const int64_t stride[] = {positions, mapStride, 1};
  const int64_t elements = (images - 1) * mapStride + planes * positions;
  THNNView view = {3, size, stride, (char *)maps, elements, false, false};
  THC_gather(plan, &view, sizeof(real), sideBySide);
}

void THCUNN_(engine_backwardWeight)(THCPlan *plan, const THCConvolutionPlan *convolution,
                                    const real *input, const real *gradOutput, accreal scale,
                                    real *gradWeight, real *scratch)
{
  const THNNConvolution *geometry = &convolution->geometry;
  const int64_t positions = convolution->mapPositions, taps = convolution->taps;
  const int64_t mapStride = convolution->mapStride;
  const int64_t weightStride = geometry->inputPlanes * taps;
  const int64_t imageChunks = chunksOf(geometry->batch, convolution->chunkImages);
  const int64_t planeChunks = chunksOf(geometry->inputPlanes, convolution->chunkPlanes);
  for (int64_t i = 0; i < imageChunks; i++)
    for (int64_t p = 0; p < planeChunks; p++) {
      const Chunk chunk = chunkAt(convolution, i, p);
      const int64_t summed = chunk.images * positions;
      const real *maps = gradOutput + chunk.image * mapStride;
      if (chunk.images > 1) {
        real *sideBySide = scratch + convolution->columnElements;
        putSideBySide(plan, geometry->outputPlanes, chunk.images, positions, mapStride, maps,
                      sideBySide);
        maps = sideBySide;
      }
      const real *columns = scratch;
      if (convolution->readsImage)
        columns = planesOf(convolution, chunk, input).data;
      else
        THCUNN_(unfold_toColumns)(plan, geometry, planesOf(convolution, chunk, input),
                                  Columns<real>{scratch, positions, summed});
      THC_multiply(plan, 1, geometry->outputPlanes, chunk.planes * taps, summed, (real)scale,
                   THC_matrix(maps, summed), THC_matrix(columns, summed, true), real(1),
                   THC_matrix(gradWeight + chunk.plane * taps, weightStride));
    }
}

/* ---- Bias ----------------------------------------------------------------------------------- */

namespace
{

/* Element i of a plane, counted over batch and positions. */
template <typename Index> struct PlaneElement {
  Divisor<Index> positions;
  Index planes;
  const real *gradients;

  __device__ accreal operator()(Index plane, Index i) const
  {
    const Index image = quotient(i, positions), position = i - image * (Index)positions.value;
    return gradients[(image * planes + plane) * (Index)positions.value + position];
  }
};

template <typename Index>
void addPlanes(THCPlan *plan, int64_t batch, int64_t planes, int64_t positions,
               const real *gradients, accreal scale, real *gradBias, accreal *partial)
{
  const PlaneElement<Index> element = {Divisor<Index>(positions), (Index)planes, gradients};
  addSums<Index>(plan, planes, batch * positions, element, scale, gradBias, partial);
}

} // namespace

int64_t THCUNN_(engine_biasScratchBytes)(int64_t batch, int64_t planes, int64_t positions)
{
  return segmentBytes(planes, batch * positions);
}

void THCUNN_(engine_backwardBias)(THCPlan *plan, int64_t batch, int64_t planes, int64_t positions,
                                  const real *gradients, accreal scale, real *gradBias,
                                  accreal *partial)
{
  const auto add = THC_fitsIndex(planes * batch * positions) ? addPlanes<int> : addPlanes<int64_t>;
  add(plan, batch, planes, positions, gradients, scale, gradBias, partial);
}
