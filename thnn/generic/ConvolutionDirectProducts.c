/* Direct convolution where map positions are image positions: products of matrices that are there,
 * with all their packing in matrix.c. With n samples, m map planes, k image planes and p positions
 *   forward         map (m x p)     = bias + weight (m x k) * image (k x p), for each sample
 *   backwardData    image (k x p)   = bias + weight^T (k x m) * map (m x p), for each sample
 *   backwardWeight  weight (m x k) += scale * map (m x p) * image^T (p x k), over all samples */
#include "template.h"

#include "ConvolutionParts.h"
#include "matrix.h"

/* What packing operands of so many elements takes: `perByte` where they are fetched from far. */
static double packingCost(double elements, double perByte)
{
  const double bytes = elements * sizeof(real);
  return bytes * (bytes > FAR_OPERAND_BYTES ? perByte : 0.07);
}

/* Products, packing the source for all result planes and the weights for each block of positions,
 * and storing. */
static double sourceCost(const THNNConvolution *geometry, int64_t sources, int64_t results)
{
  enum { BLOCK_POSITIONS = 512 };
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const double vectors = (double)divideUp(positions, THNN_(simd).panels.lanes);
  const double blocks = (double)divideUp(positions, BLOCK_POSITIONS),
               batch = (double)geometry->batch;
  return batch * weightElements(geometry) * (0.54 * vectors + 0.1 * blocks) +
         packingCost(batch * positions * sources, 0.28) +
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

bool THNN_(ConvolutionDirectProducts_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  if (!THNN_(simd).panels.packs || !THNN_convolutionIsPointwise(geometry))
    return false;
  plan->algorithm = THNN_CONVOLUTION_DIRECT;
  plan->variant = THNN_CONVOLUTION_PRODUCTS;
  plan->state = state;
  plan->threads = THNN_threads(state, maximum(in, out), convolutionOperations(geometry));
  plan->cost = plan->part == THNN_CONVOLUTION_FORWARD         ? sourceCost(geometry, in, out)
               : plan->part == THNN_CONVOLUTION_BACKWARD_DATA ? sourceCost(geometry, out, in)
                                                              : weightCost(geometry);
  return true;
}

void THNN_(ConvolutionDirectProducts_run)(const THNNConvolutionPlan *plan, const real *source,
                                          const real *weight, const real *bias, real *result)
{
  const THNNConvolution *geometry = &plan->geometry;
  const bool forward = plan->part == THNN_CONVOLUTION_FORWARD;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t sources = forward ? in : out, results = forward ? out : in;
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const THNN_(Matrix) a = {source, positions, false}, b = {weight, in, !forward};
  THNN_(multiplyEach)(plan->state, positions, results, sources, a, b, bias, geometry->batch,
                      sources * positions, result, results * positions);
}

void THNN_(ConvolutionDirectProducts_backwardWeight)(const THNNConvolutionPlan *plan,
                                                     const real *input, const real *gradOutput,
                                                     accreal scale, real *gradWeight,
                                                     real *gradBias)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t in = geometry->inputPlanes, out = geometry->outputPlanes;
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const THNN_(Matrix) a = {input, positions, true}, b = {gradOutput, positions, false};
  THNN_(addProducts)(plan->state, in, out, positions, (real)scale, a, b, geometry->batch,
                     in * positions, out * positions, gradWeight);
  if (gradBias)
    THNN_(Convolution_addPlaneSums)(plan, out, positions, gradOutput, scale, gradBias);
}
