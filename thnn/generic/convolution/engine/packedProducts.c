/* Direct convolution with one tap, as products of matrices that need no unfolding; matrix.c packs
 * them. With n samples, m map planes, k image planes and p positions
 *   forward         map (m x p)     = bias + weight (m x k) * image (k x p), for each sample
 *   backwardData    image (k x p)   = bias + weight^T (k x m) * map (m x p), for each sample
 *   backwardWeight  weight (m x k) += scale * map (m x p) * image^T (p x k), over all samples
 * With a stride the map sees only some positions of the image, which are gathered in scratch
 * memory, or scattered from there. If a sample has few positions, those of several samples are
 * gathered too: together they fill vectors, and weights are packed once for all of them. */
#include "generic/template.h"

#include "generic/convolution/engine/algorithm.h"
#include "generic/shared/matrix.h"

/* The cost of packing operands of `elements` elements; it is `perByte` for each byte if they are
 * too large for a near cache. */
static double packingCost(double elements, double perByte)
{
  const double bytes = elements * sizeof(real);
  return bytes * (bytes > FAR_OPERAND_BYTES ? perByte : 0.07);
}

/* The cost of fetching weights that are too large for a near cache, for each group; backwardData
 * fetches only a few of each row at a time. */
static double farWeightsCost(const THNNConvolution *geometry, THNNConvolutionPart part)
{
  const double bytes = weightElements(geometry) * sizeof(real);
  const double perByte = part == THNN_CONVOLUTION_FORWARD ? 0.13 : 0.25;
  return bytes > FAR_OPERAND_BYTES ? bytes * perByte : 0;
}

/* The number of vectors whose products take as long as those of `positions` positions. A few
 * positions after the last whole panel take less than half of a vector's time. */
static double vectorsOf(int64_t positions)
{
  const THNN_(SimdPanels) *loops = &THNN_(simd).panels;
  const int64_t left = positions % loops->columns;
  const double vectors = (double)divideUp(positions, loops->lanes);
  return left > 0 && left <= loops->fewColumns ? vectors - 0.6 : vectors;
}

/* The total cost of forward and backwardData: products, fetching the weights for each block of
 * positions, packing the source for all result planes, and storing; with groups of samples also
 * gathering and scattering these. */
static double sourceCost(const THNNConvolutionPlan *plan)
{
  enum { BLOCK_POSITIONS = 512 };
  const THNNConvolution *geometry = &plan->geometry;
  const bool forward = plan->part == THNN_CONVOLUTION_FORWARD;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t sources = forward ? in : out, results = forward ? out : in;
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const int64_t width = plan->groupSamples * positions;
  const double groups = (double)divideUp(geometry->batch, plan->groupSamples);
  const double blocks = (double)divideUp(width, BLOCK_POSITIONS);
  const double batch = (double)geometry->batch;
  const double copied = plan->groupSamples > 1 ? batch * (double)(in + out) : 0;
  return groups * weightElements(geometry) * (0.54 * vectorsOf(width) + 0.03 * blocks) +
         groups * farWeightsCost(geometry, plan->part) +
         packingCost(batch * positions * sources, 0.1) +
         0.01 * sizeof(real) * batch * positions * results +
         copied * (0.15 * sizeof(real) * positions + 10);
}

/* The total cost of backwardWeight: products, packing, and fetching and storing the sums for each
 * block of terms. */
static double weightCost(const THNNConvolution *geometry)
{
  enum { BLOCK_TERMS = 256 };
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const double vectors = (double)divideUp(geometry->inputPlanes, THNN_(simd).panels.lanes);
  const double planes = (double)geometry->inputPlanes + geometry->outputPlanes;
  const double blocks = (double)divideUp(positions, BLOCK_TERMS), batch = (double)geometry->batch;
  return batch * geometry->outputPlanes * positions * (0.55 * vectors + 0.25) +
         packingCost(batch * positions * planes, 0.07) +
         0.02 * sizeof(real) * batch * blocks * weightElements(geometry);
}

/* The cost of gathering or scattering the positions that the map sees, line by line. */
static double gatherCost(const THNNConvolution *geometry, THNNConvolutionPart part)
{
  const double perLine = part == THNN_CONVOLUTION_BACKWARD_DATA ? 40 : 20;
  const double lines = (double)geometry->output[0] * (double)geometry->output[1];
  return geometry->batch * (double)geometry->inputPlanes *
         (0.35 * sizeof(real) * (double)THNN_convolutionMapPositions(geometry) + perLine * lines);
}

/* Bytes of scratch for a group: copies of the positions of the image and of the map, except of
 * those that are used in place. */
static int64_t groupBytes(const THNNConvolutionPlan *plan, int64_t samples)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t elements = samples * THNN_convolutionMapPositions(geometry);
  const bool image = samples > 1 || !THNN_convolutionIsPointwise(geometry), map = samples > 1;
  return (image ? scratchBytes(geometry->inputPlanes * elements, sizeof(real)) : 0) +
         (map ? scratchBytes(geometry->outputPlanes * elements, sizeof(real)) : 0);
}

/* The number of samples in a group: one if it has enough positions, or if more would take too much
 * scratch memory. */
static int64_t chooseGroup(const THNNConvolutionPlan *plan, int64_t limitBytes)
{
  enum { FEW_POSITIONS = 128, ENOUGH_POSITIONS = 256 };
  const int64_t positions = THNN_convolutionMapPositions(&plan->geometry);
  if (plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT || positions >= FEW_POSITIONS)
    return 1;
  const int64_t samples = evenBlock(plan->geometry.batch, divideUp(ENOUGH_POSITIONS, positions), 1);
  return groupBytes(plan, samples) <= limitBytes ? samples : 1;
}

/* Bytes of scratch for packed weights, which whole samples, used in place, are multiplied with. */
static int64_t packedWeightBytes(const THNNConvolutionPlan *plan)
{
  const THNNConvolution *geometry = &plan->geometry;
  if (plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
    return 0;
  const bool forward = plan->part == THNN_CONVOLUTION_FORWARD;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t packed =
      THNN_(packedElements)(THNN_convolutionMapPositions(geometry), forward ? out : in,
                            forward ? in : out, geometry->batch);
  return scratchBytes(packed, sizeof(real));
}

/* The room in which threads pack operands. */
static THNNRoom productRoom(const THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  if (plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
    return THNN_(addProductsRoom)(state, in, out, positions, true, false,
                                  groupBytes(plan, 1) > 0 ? 1 : geometry->batch);
  const bool forward = plan->part == THNN_CONVOLUTION_FORWARD;
  const bool whole = groupBytes(plan, plan->groupSamples) == 0;
  return THNN_(multiplyEachRoom)(state, plan->groupSamples * positions, forward ? out : in,
                                 forward ? in : out, whole ? geometry->batch : 1);
}

static THNNRoom roomOf(const THNNConvolutionPlan *plan, void *scratch)
{
  return (THNNRoom){.threads = plan->productThreads,
                    .bytes = plan->threadBytes,
                    .data = (char *)scratch + plan->sharedBytes};
}

bool THNN_(ConvolutionDirectProducts_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  const bool gathers = !THNN_convolutionIsPointwise(geometry);
  if (!THNN_(simd).panels.packs || !THNN_convolutionHasOneTap(geometry, THNN_CONVOLUTION_FORWARD) ||
      groupBytes(plan, 1) > limitBytes)
    return false;
  plan->algorithm = THNN_CONVOLUTION_DIRECT;
  plan->variant = THNN_CONVOLUTION_PRODUCTS;
  plan->state = state;
  plan->threads = THNN_threads(state, maximum(geometry->inputPlanes, geometry->outputPlanes),
                               convolutionOperations(geometry));
  plan->groupSamples = chooseGroup(plan, limitBytes);
  plan->sharedBytes = (size_t)groupBytes(plan, plan->groupSamples);
  if (plan->sharedBytes == 0 && packedWeightBytes(plan) <= limitBytes)
    plan->sharedBytes = (size_t)packedWeightBytes(plan);
  const THNNRoom room = productRoom(plan, state);
  plan->productThreads = room.threads;
  plan->threadBytes = room.bytes;
  plan->scratchBytes = plan->sharedBytes + THNN_roomBytes(room);
  if (plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT) {
    /* With a stride, other algorithms take longer than they estimate. */
    const double share = sizeof(real) == sizeof(float) ? 0.85 : 0.7;
    plan->cost = weightCost(geometry) * (gathers ? share : 1);
  } else {
    plan->cost = sourceCost(plan);
  }
  if (gathers)
    plan->cost += gatherCost(geometry, plan->part);
  return true;
}

/* Planes of some samples, apart[sample][plane][size] and together[plane][sample][position]. */
typedef struct Planes {
  int64_t count, size;
  bool strided; /* the map sees only some positions of a plane */
  real *apart, *together;
} Planes;

/* Gathers or scatters the positions of an image plane that the map sees. The others get the bias
 * alone. */
static void copySeen(const THNNConvolution *geometry, bool gather, real bias, real *plane,
                     real *together)
{
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const Columns seen = {.rows = 1, .positions = positions, .data = together, .stride = positions};
  if (gather) {
    THNN_(unfold)(geometry, plane, &seen);
  } else {
    THNN_(simd).pointwise.fill(THNN_convolutionImagePositions(geometry), bias, plane);
    THNN_(fold)(geometry, &seen, plane);
  }
}

/* Gathers planes, `apart` to `together`, or scatters them again. */
static void copyPlanes(const THNNConvolutionPlan *plan, const Planes *planes, int64_t samples,
                       bool gather, const real *bias)
{
  const int64_t positions = THNN_convolutionMapPositions(&plan->geometry);
  if (planes->together == planes->apart)
    return;
#pragma omp parallel for num_threads(plan->threads) schedule(static) if (plan->threads > 1)
  for (int64_t plane = 0; plane < planes->count; plane++)
    for (int64_t sample = 0; sample < samples; sample++) {
      real *apart = planes->apart + (sample * planes->count + plane) * planes->size;
      real *together = planes->together + (plane * samples + sample) * positions;
      if (planes->strided)
        copySeen(&plan->geometry, gather, bias ? bias[plane] : 0, apart, together);
      else if (gather)
        THNN_(simd).pointwise.copy(positions, apart, together);
      else
        THNN_(simd).pointwise.copy(positions, together, apart);
    }
}

static Planes imagePlanes(const THNNConvolution *geometry, real *image, real *together)
{
  return (Planes){.count = geometry->inputPlanes,
                  .size = THNN_convolutionImagePositions(geometry),
                  .strided = !THNN_convolutionIsPointwise(geometry),
                  .apart = image,
                  .together = together};
}

/* Computes a group of samples: the map from the image, or the image from the map. */
static void runGroup(const THNNConvolutionPlan *plan, int64_t samples, THNN_(Matrix) weight,
                     const real *bias, real *image, real *map, char *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  const THNNRoom room = roomOf(plan, scratch);
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t positions = THNN_convolutionMapPositions(geometry), width = samples * positions;
  const Planes images =
      imagePlanes(geometry, image, takeScratch(&scratch, in * width, sizeof(real)));
  const Planes maps = {.count = out,
                       .size = positions,
                       .apart = map,
                       .together =
                           samples > 1 ? takeScratch(&scratch, out * width, sizeof(real)) : map};
  const bool forward = plan->part == THNN_CONVOLUTION_FORWARD;
  const Planes *sources = forward ? &images : &maps, *results = forward ? &maps : &images;
  const THNN_(Matrix) a = {sources->together, width, false};
  copyPlanes(plan, sources, samples, true, NULL);
  THNN_(multiplyEach)(width, results->count, sources->count, a, weight,
                      results->strided ? NULL : bias, 1, 0, results->together, 0, NULL, room);
  copyPlanes(plan, results, samples, false, bias);
}

void THNN_(ConvolutionDirectProducts_run)(const THNNConvolutionPlan *plan, const real *source,
                                          const real *weight, const real *bias, real *result,
                                          void *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  const bool forward = plan->part == THNN_CONVOLUTION_FORWARD;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const THNN_(Matrix) b = {weight, in, !forward};
  if (groupBytes(plan, plan->groupSamples) == 0) {
    const int64_t sources = forward ? in : out, results = forward ? out : in;
    const THNN_(Matrix) a = {source, positions, false};
    THNN_(multiplyEach)(positions, results, sources, a, b, bias, geometry->batch,
                        sources * positions, result, results * positions,
                        plan->sharedBytes > 0 ? scratch : NULL, roomOf(plan, scratch));
    return;
  }
  real *image = forward ? (real *)source : result, *map = forward ? result : (real *)source;
  for (int64_t first = 0; first < geometry->batch; first += plan->groupSamples)
    runGroup(plan, minimum(plan->groupSamples, geometry->batch - first), b, bias,
             image + first * in * THNN_convolutionImagePositions(geometry),
             map + first * out * positions, scratch);
}

void THNN_(ConvolutionDirectProducts_backwardWeight)(const THNNConvolutionPlan *plan,
                                                     const real *input, const real *gradOutput,
                                                     accreal scale, real *gradWeight,
                                                     real *gradBias, void *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  THNN_(Matrix) a = {input, positions, true}, b = {gradOutput, positions, false};
  const THNNRoom room = roomOf(plan, scratch);
  if (plan->sharedBytes > 0) {
    a.data = scratch;
    Planes images = imagePlanes(geometry, (real *)input, scratch);
    for (int64_t sample = 0; sample < geometry->batch; sample++) {
      copyPlanes(plan, &images, 1, true, NULL);
      THNN_(addProducts)(in, out, positions, (real)scale, a, b, 1, 0, 0, gradWeight, room);
      images.apart += in * images.size;
      b.data += out * positions;
    }
  } else {
    THNN_(addProducts)(in, out, positions, (real)scale, a, b, geometry->batch, in * positions,
                       out * positions, gradWeight, room);
  }
  if (gradBias)
    THNN_(Convolution_addPlaneSums)(plan, out, positions, gradOutput, scale, gradBias);
}
