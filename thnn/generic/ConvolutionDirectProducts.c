/* Direct convolution with one tap: products of matrices that are there, with all their packing in
 * matrix.c. With n samples, m map planes, k image planes and p positions
 *   forward         map (m x p)     = bias + weight (m x k) * image (k x p), for each sample
 *   backwardData    image (k x p)   = bias + weight^T (k x m) * map (m x p), for each sample
 *   backwardWeight  weight (m x k) += scale * map (m x p) * image^T (p x k), over all samples
 * With a stride the map sees some positions of the image only: of one sample after the other these
 * are brought together in scratch memory, or spread out from there. */
#include "template.h"

#include "ConvolutionParts.h"
#include "matrix.h"

/* What packing operands of so many elements takes: `perByte` where they are fetched from far. */
static double packingCost(double elements, double perByte)
{
  const double bytes = elements * sizeof(real);
  return bytes * (bytes > FAR_OPERAND_BYTES ? perByte : 0.07);
}

/* Weights that are too many to stay near are fetched for each sample, and for backwardData a few of
 * each row at a time. */
static double farWeightsCost(const THNNConvolution *geometry, THNNConvolutionPart part)
{
  const double bytes = weightElements(geometry) * sizeof(real);
  const double perByte = part == THNN_CONVOLUTION_FORWARD ? 0.13 : 0.45;
  return bytes > FAR_OPERAND_BYTES ? geometry->batch * bytes * perByte : 0;
}

/* Products, packing the source for all result planes and the weights for each block of positions,
 * and storing. */
static double sourceCost(const THNNConvolution *geometry, THNNConvolutionPart part)
{
  enum { BLOCK_POSITIONS = 512 };
  const bool forward = part == THNN_CONVOLUTION_FORWARD;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t sources = forward ? in : out, results = forward ? out : in;
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const double vectors = (double)divideUp(positions, THNN_(simd).panels.lanes);
  const double blocks = (double)divideUp(positions, BLOCK_POSITIONS),
               batch = (double)geometry->batch;
  return batch * weightElements(geometry) * (0.54 * vectors + 0.1 * blocks) +
         packingCost(batch * positions * sources, 0.28) + farWeightsCost(geometry, part) +
         0.01 * sizeof(real) * batch * positions * results;
}

/* Products, packing, and fetching and storing the sums for each block of terms. */
static double weightCost(const THNNConvolution *geometry)
{
  enum { BLOCK_TERMS = 256 };
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const double vectors = (double)divideUp(geometry->inputPlanes, THNN_(simd).panels.lanes);
  const double planes = (double)geometry->inputPlanes + geometry->outputPlanes;
  const double blocks = (double)divideUp(positions, BLOCK_TERMS), batch = (double)geometry->batch;
  return batch * geometry->outputPlanes * positions * (0.55 * vectors + 0.6) +
         packingCost(batch * positions * planes, 0.14) +
         0.02 * sizeof(real) * batch * blocks * weightElements(geometry);
}

/* What gathering or scattering the positions that the map sees takes, line by line. */
static double gatherCost(const THNNConvolution *geometry, THNNConvolutionPart part)
{
  const double perLine = part == THNN_CONVOLUTION_BACKWARD_DATA ? 40 : 20;
  const double lines = (double)geometry->output[0] * (double)geometry->output[1];
  return geometry->batch * (double)geometry->inputPlanes *
         (0.35 * sizeof(real) * (double)THNN_convolutionMapPositions(geometry) + perLine * lines);
}

bool THNN_(ConvolutionDirectProducts_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const bool gathers = !THNN_convolutionIsPointwise(geometry);
  const int64_t bytes =
      gathers ? scratchBytes(in * THNN_convolutionMapPositions(geometry), sizeof(real)) : 0;
  if (!THNN_(simd).panels.packs || bytes > (int64_t)THNN_State_workspaceLimit(state) ||
      !THNN_convolutionHasOneTap(geometry, THNN_CONVOLUTION_FORWARD))
    return false;
  plan->algorithm = THNN_CONVOLUTION_DIRECT;
  plan->variant = THNN_CONVOLUTION_PRODUCTS;
  plan->state = state;
  plan->threads = THNN_threads(state, maximum(in, out), convolutionOperations(geometry));
  plan->sharedBytes = plan->scratchBytes = (size_t)bytes;
  if (plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT) {
    /* With a stride other algorithms take longer than their costs say. */
    const double share = sizeof(real) == sizeof(float) ? 0.85 : 0.7;
    plan->cost = weightCost(geometry) * (gathers ? share : 1);
  } else {
    plan->cost = sourceCost(geometry, plan->part);
  }
  if (gathers)
    plan->cost += gatherCost(geometry, plan->part);
  return true;
}

/* The positions of a plane that the map sees. */
static Columns seenOf(const THNNConvolution *geometry, int64_t plane, real *seen)
{
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  return (Columns){.firstRow = plane,
                   .rows = 1,
                   .positions = positions,
                   .data = seen + plane * positions,
                   .stride = positions};
}

static void gatherPlanes(const THNNConvolutionPlan *plan, const real *image, real *seen)
{
#pragma omp parallel for num_threads(plan->threads) schedule(static) if (plan->threads > 1)
  for (int64_t plane = 0; plane < plan->geometry.inputPlanes; plane++) {
    const Columns positions = seenOf(&plan->geometry, plane, seen);
    THNN_(unfold)(&plan->geometry, image, &positions);
  }
}

/* What the map does not see gets the bias alone. */
static void scatterPlanes(const THNNConvolutionPlan *plan, const real *bias, real *seen,
                          real *image)
{
  const int64_t size = THNN_convolutionImagePositions(&plan->geometry);
#pragma omp parallel for num_threads(plan->threads) schedule(static) if (plan->threads > 1)
  for (int64_t plane = 0; plane < plan->geometry.inputPlanes; plane++) {
    const Columns positions = seenOf(&plan->geometry, plane, seen);
    THNN_(simd).pointwise.fill(size, bias ? bias[plane] : 0, image + plane * size);
    THNN_(fold)(&plan->geometry, &positions, image);
  }
}

/* One sample at a time: its positions that the map sees are brought together, or spread out. */
static void runSamples(const THNNConvolutionPlan *plan, const real *source, THNN_(Matrix) weight,
                       const real *bias, real *result, real *seen)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const int64_t imageSize = in * THNN_convolutionImagePositions(geometry);
  const int64_t mapSize = out * positions;
  for (int64_t sample = 0; sample < geometry->batch; sample++)
    if (plan->part == THNN_CONVOLUTION_FORWARD) {
      gatherPlanes(plan, source + sample * imageSize, seen);
      THNN_(multiplyEach)(plan->state, positions, out, in, (THNN_(Matrix)){seen, positions, false},
                          weight, bias, 1, 0, result + sample * mapSize, 0);
    } else {
      THNN_(multiplyEach)(plan->state, positions, in, out,
                          (THNN_(Matrix)){source + sample * mapSize, positions, false}, weight,
                          NULL, 1, 0, seen, 0);
      scatterPlanes(plan, bias, seen, result + sample * imageSize);
    }
}

void THNN_(ConvolutionDirectProducts_run)(const THNNConvolutionPlan *plan, const real *source,
                                          const real *weight, const real *bias, real *result,
                                          void *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  const bool forward = plan->part == THNN_CONVOLUTION_FORWARD;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t sources = forward ? in : out, results = forward ? out : in;
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const THNN_(Matrix) a = {source, positions, false}, b = {weight, in, !forward};
  if (plan->sharedBytes > 0) {
    runSamples(plan, source, b, bias, result, scratch);
    return;
  }
  THNN_(multiplyEach)(plan->state, positions, results, sources, a, b, bias, geometry->batch,
                      sources * positions, result, results * positions);
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
  if (plan->sharedBytes > 0) {
    a.data = scratch;
    for (int64_t sample = 0; sample < geometry->batch; sample++) {
      gatherPlanes(plan, input + sample * in * THNN_convolutionImagePositions(geometry), scratch);
      THNN_(addProducts)(plan->state, in, out, positions, (real)scale, a, b, 1, 0, 0, gradWeight);
      b.data += out * positions;
    }
  } else {
    THNN_(addProducts)(plan->state, in, out, positions, (real)scale, a, b, geometry->batch,
                       in * positions, out * positions, gradWeight);
  }
  if (gradBias)
    THNN_(Convolution_addPlaneSums)(plan, out, positions, gradOutput, scale, gradBias);
}
