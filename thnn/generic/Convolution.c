/* The convolution engine's front: chooses the algorithm and calls it. */
#include "template.h"

#include "ConvolutionParts.h"

/* A sum over fewer elements than this is done before the pool is awake. */
static const int64_t WORTH_THREADS = 1 << 16;

/* ---- Choosing the algorithm ------------------------------------------------------------------
 *
 * Both costs are in vector multiplications. Their constants were fitted to some thousand timings of
 * both algorithms (float and double, AVX2 and AVX-512): the choice that follows costs 2 % of the
 * time on average, always choosing `direct` would cost 12 %, always choosing `gemm` 40 %. */

/* Products per sample and pair of planes: taps and map positions that meet inside the image. */
static double productsInside(const THNNConvolution *geometry)
{
  double products = 1;
  for (int i = 0; i < 3; i++) {
    int64_t inside = 0;
    for (int64_t t = 0; t < geometry->kernel[i]; t++) {
      const THNNConvolutionTap tap = THNN_convolutionTap(geometry, i, t);
      inside += tap.end - tap.begin;
    }
    products *= (double)inside;
  }
  return products;
}

/* Of a cache line. */
enum { LINE_BYTES = 64 };

/* What fetching cache lines costs a pointwise convolution, which has one tap to use what it read:
 * each panel reads all planes, in short stretches. */
static double streamingCost(const THNNConvolution *geometry, double planes, int64_t panels,
                            double perLine)
{
  if (!THNN_convolutionIsPointwise(geometry))
    return 0;
  const double bytes = planes * THNN_convolutionMapPositions(geometry) * sizeof(real);
  return panels * bytes / LINE_BYTES * perLine;
}

static double vectorsPerLine(void)
{
  return LINE_BYTES / (THNN_(simd).products.lanes * (double)sizeof(real));
}

/* Vectors of a layer's result planes, in whole ones. */
static double vectorsOf(int64_t planes)
{
  const double half = 0.6;
  const bool narrow = planes <= THNN_(simd).narrowProducts.lanes;
  if (narrow && THNN_(simd).narrowProducts.lanes < THNN_(simd).products.lanes)
    return half;
  return divideUp(planes, THNN_(simd).products.lanes);
}

/* Packing the weights, or unpacking their gradients. */
static double packingCost(const THNNConvolution *geometry)
{
  return 2.8 * geometry->inputPlanes * geometry->outputPlanes * THNN_convolutionTaps(geometry);
}

/* Whole vectors of result planes, and a little for each position and plane. */
static double directCost(const THNNConvolution *geometry, bool forward)
{
  const double sourcePlanes = forward ? geometry->inputPlanes : geometry->outputPlanes;
  const int64_t resultPlanes = forward ? geometry->outputPlanes : geometry->inputPlanes;
  const double vectors = vectorsOf(resultPlanes);
  const double positions =
      forward ? THNN_convolutionMapPositions(geometry) : THNN_convolutionImagePositions(geometry);
  const double sourceBytes =
      geometry->batch * sourcePlanes * THNN_convolutionMapPositions(geometry) * sizeof(real);
  const double perLine = (sourceBytes > 16e6 ? 7 : 4) * vectorsPerLine();
  const double sample = productsInside(geometry) * sourcePlanes * vectors +
                        positions * (8.5 * vectors + 0.25 * resultPlanes) +
                        streamingCost(geometry, sourcePlanes, panelCount(resultPlanes), perLine);
  return geometry->batch * sample + packingCost(geometry);
}

static double directWeightCost(const THNNConvolution *geometry)
{
  const double inputPlanes = geometry->inputPlanes;
  const double vectors = vectorsOf(geometry->outputPlanes);
  const double sample =
      productsInside(geometry) * inputPlanes * vectors +
      THNN_convolutionMapPositions(geometry) * (2 * vectors + 0.05 * geometry->outputPlanes) +
      streamingCost(geometry, inputPlanes, panelCount(geometry->outputPlanes),
                    8 * (vectorsPerLine() - 1));
  return geometry->batch * sample + packingCost(geometry);
}

/* Products at most of the peak's speed, and an unfolding or folding that likes long lines. */
static double gemmCost(const THNNConvolution *geometry, THNNConvolutionPart part)
{
  const double lanes = THNN_(simd).products.lanes;
  const double columns = (double)THNN_convolutionMapPositions(geometry) * geometry->inputPlanes *
                         THNN_convolutionTaps(geometry);
  double unfolding = 0, results = 0;
  if (!THNN_convolutionIsPointwise(geometry))
    unfolding =
        (0.65 + 14.0 / geometry->output[2]) * (part == THNN_CONVOLUTION_BACKWARD_DATA ? 1.25 : 1);
  if (part == THNN_CONVOLUTION_FORWARD)
    results = (double)THNN_convolutionMapPositions(geometry) * geometry->outputPlanes;
  if (part == THNN_CONVOLUTION_BACKWARD_DATA)
    results = (double)THNN_convolutionImagePositions(geometry) * geometry->inputPlanes;
  return geometry->batch *
         (columns * (1.15 * geometry->outputPlanes / lanes + unfolding) + 0.35 * results);
}

static bool prefersDirect(const THNNConvolution *geometry, THNNConvolutionPart part,
                          THNNConvolutionAlgorithm algorithm)
{
  if (algorithm != THNN_CONVOLUTION_AUTO)
    return algorithm == THNN_CONVOLUTION_DIRECT;
  const double direct = part == THNN_CONVOLUTION_BACKWARD_WEIGHT
                            ? directWeightCost(geometry)
                            : directCost(geometry, part == THNN_CONVOLUTION_FORWARD);
  return !THNN_convolutionIsLinear(geometry) && direct < gemmCost(geometry, part);
}

static bool prepareDirect(THNNConvolutionPlan *plan, const THNNState *state)
{
  return plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT
             ? THNN_(ConvolutionDirectWeight_prepare)(plan, state)
             : THNN_(ConvolutionDirect_prepare)(plan, state);
}

void THNN_(Convolution_prepare)(THNNConvolutionPlan *plan, const THNNState *state,
                                const THNNConvolution *geometry, THNNConvolutionPart part)
{
  const THNNConvolutionAlgorithm algorithm = THNN_State_convolutionAlgorithm(state);
  *plan = (THNNConvolutionPlan){.geometry = *geometry, .part = part};
  if (!prefersDirect(geometry, part, algorithm) || !prepareDirect(plan, state))
    THNN_(ConvolutionGemm_prepare)(plan, state);
}

/* ---- The parts ------------------------------------------------------------------------------- */

void THNN_(Convolution_forward)(const THNNConvolutionPlan *plan, const real *input,
                                const real *weight, const real *bias, real *output, void *scratch)
{
  if (plan->algorithm == THNN_CONVOLUTION_DIRECT)
    THNN_(ConvolutionDirect_run)(plan, input, weight, bias, output, scratch);
  else
    THNN_(ConvolutionGemm_forward)(plan, input, weight, bias, output, scratch);
}

void THNN_(Convolution_backwardData)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                     const real *weight, const real *bias, real *gradInput,
                                     void *scratch)
{
  if (plan->algorithm == THNN_CONVOLUTION_DIRECT)
    THNN_(ConvolutionDirect_run)(plan, gradOutput, weight, bias, gradInput, scratch);
  else
    THNN_(ConvolutionGemm_backwardData)(plan, gradOutput, weight, bias, gradInput, scratch);
}

/* sums[plane] += scale * the sum of one plane over the batch, sample after sample. */
static void addPlaneSums(const THNNConvolutionPlan *plan, int64_t planes, int64_t positions,
                         const real *x, accreal scale, real *sums)
{
  const int64_t batch = plan->geometry.batch;
  const int threads = batch * planes * positions > WORTH_THREADS ? plan->threads : 1;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t plane = 0; plane < planes; plane++) {
    double sum = 0;
    for (int64_t sample = 0; sample < batch; sample++)
      sum += THNN_(simd).reduce.sum(positions, x + (sample * planes + plane) * positions);
    sums[plane] += (real)(scale * sum);
  }
}

void THNN_(Convolution_backwardWeight)(const THNNConvolutionPlan *plan, const real *input,
                                       const real *gradOutput, accreal scale, real *gradWeight,
                                       real *gradBias, void *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  if (plan->algorithm == THNN_CONVOLUTION_DIRECT) {
    THNN_(ConvolutionDirectWeight_run)(plan, input, gradOutput, scale, gradWeight, gradBias,
                                       scratch);
    return;
  }
  THNN_(ConvolutionGemm_backwardWeight)(plan, input, gradOutput, scale, gradWeight, scratch);
  if (gradBias)
    addPlaneSums(plan, geometry->outputPlanes, THNN_convolutionMapPositions(geometry), gradOutput,
                 scale, gradBias);
}

void THNN_(Convolution_backwardTransposedBias)(const THNNConvolutionPlan *plan,
                                               const real *gradOutput, accreal scale,
                                               real *gradBias)
{
  const THNNConvolution *geometry = &plan->geometry;
  addPlaneSums(plan, geometry->inputPlanes, THNN_convolutionImagePositions(geometry), gradOutput,
               scale, gradBias);
}
