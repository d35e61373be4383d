/* The convolution engine's front: chooses the algorithm and calls it. */
#include "template.h"

#include <math.h>

#include "ConvolutionParts.h"
#include "matrix.h"

/* A sum over fewer elements than this is done before the pool is awake. */
static const int64_t WORTH_THREADS = 1 << 16;

/* ---- Choosing the algorithm ------------------------------------------------------------------
 *
 * Costs are in vector multiplications. Their constants were fitted to some thousand timings of the
 * algorithms (float and double, AVX2 and AVX-512): between `gemm` and `direct` the choice that follows
 * costs 2 % of the time on average, where always choosing `direct` would cost 12 %, always choosing
 * `gemm` 40 %. For layers with few planes or taps, where `direct` also may go line by line, it costs
 * 4 to 8 %, and never to do so 15 to 30 %. */

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

static double vectorsPerLine(void)
{
  return LINE_BYTES / (THNN_(simd).products.lanes * (double)sizeof(real));
}

/* What fetching cache lines costs the weight gradient of a pointwise convolution, which has one tap
 * to use what it read: each panel reads all planes, in short stretches. */
static double streamingCost(const THNNConvolution *geometry)
{
  if (!THNN_convolutionIsPointwise(geometry))
    return 0;
  const double bytes =
      (double)geometry->inputPlanes * THNN_convolutionMapPositions(geometry) * sizeof(real);
  return panelCount(geometry->outputPlanes) * bytes / LINE_BYTES * 8 * (vectorsPerLine() - 1);
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

static double directWeightCost(const THNNConvolution *geometry)
{
  const double inputPlanes = geometry->inputPlanes;
  const double vectors = vectorsOf(geometry->outputPlanes);
  const double sample =
      productsInside(geometry) * inputPlanes * vectors +
      THNN_convolutionMapPositions(geometry) * (2 * vectors + 0.05 * geometry->outputPlanes) +
      streamingCost(geometry);
  return geometry->batch * sample + packingCost(geometry);
}

/* Whole vectors of result planes, and a little for each position and plane; with one tap, also for each
 * source element, which is packed. */
static double directCost(const THNNConvolution *geometry, THNNConvolutionPart part)
{
  if (part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
    return directWeightCost(geometry);
  const bool forward = part == THNN_CONVOLUTION_FORWARD;
  const double sourcePlanes = forward ? geometry->inputPlanes : geometry->outputPlanes;
  const int64_t resultPlanes = forward ? geometry->outputPlanes : geometry->inputPlanes;
  const double vectors = vectorsOf(resultPlanes);
  const double positions =
      forward ? THNN_convolutionMapPositions(geometry) : THNN_convolutionImagePositions(geometry);
  double sample = productsInside(geometry) * sourcePlanes * vectors +
                  positions * (8.5 * vectors + 0.25 * resultPlanes);
  if (THNN_convolutionHasOneTap(geometry, part))
    sample += positions * sourcePlanes * 0.12 * sizeof(real);
  return geometry->batch * sample + packingCost(geometry);
}

/* Tiles of taps and map planes for each vector of positions, and the image's copies. */
static double linesWeightCost(const THNNConvolution *geometry)
{
  const int64_t *kernel = geometry->kernel, *output = geometry->output;
  const double vectors = divideUp(output[2], THNN_(simd).shifts.lanes);
  const double tiles = divideUp(geometry->inputPlanes * THNN_convolutionTaps(geometry),
                                THNN_(simd).shifts.tileTaps) *
                       divideUp(geometry->outputPlanes, THNN_(simd).shifts.tilePlanes);
  const double perTile = 0.43 * THNN_(simd).shifts.tileTaps * THNN_(simd).shifts.tilePlanes;
  const double copiedLines = (double)geometry->inputPlanes * kernel[0] * kernel[2] * output[0] *
                             (output[1] * geometry->stride[1] + kernel[1]);
  return geometry->batch * (output[0] * output[1] * vectors * (perTile * tiles + 2) +
                            copiedLines * (2.5 * vectors + 1));
}

/* Groups of planes for each vector of positions, and the source's copies: a stride mixes lanes. */
static double linesCost(const THNNConvolution *geometry, THNNConvolutionPart part)
{
  if (part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
    return linesWeightCost(geometry);
  const bool forward = part == THNN_CONVOLUTION_FORWARD;
  const int64_t *result = forward ? geometry->output : geometry->input;
  const int64_t *kernel = geometry->kernel, *stride = geometry->stride;
  if (!forward && (stride[0] > 1 || stride[1] > 1 || stride[2] > 1))
    return INFINITY; /* neighbours of a line then are not neighbours in the map */
  const int64_t sourcePlanes = forward ? geometry->inputPlanes : geometry->outputPlanes;
  const int64_t resultPlanes = forward ? geometry->outputPlanes : geometry->inputPlanes;
  const double vectors = divideUp(result[2], THNN_(simd).shifts.lanes);
  /* Frames of many planes come from the second-level cache for each group of planes. */
  const double perProduct = sourcePlanes > 8 && resultPlanes >= 32 ? 1.2 : 0.85;
  const double perVector = perProduct * roundUp(resultPlanes, THNN_(simd).shifts.tilePlanes) *
                               sourcePlanes * THNN_convolutionTaps(geometry) +
                           5 * resultPlanes + 15;
  const double copiedLines = (double)sourcePlanes * kernel[0] * result[0] *
                             (result[1] * stride[1] + kernel[1]) * minimum(stride[2], kernel[2]);
  return geometry->batch * (result[0] * result[1] * vectors * perVector +
                            copiedLines * (vectors + 1) * (stride[2] > 1 ? 13 : 6.5));
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

static bool prepareLines(THNNConvolutionPlan *plan, const THNNState *state)
{
  return plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT
             ? THNN_(ConvolutionDirectLinesWeight_prepare)(plan, state)
             : THNN_(ConvolutionDirectLines_prepare)(plan, state);
}

static bool prepareDirect(THNNConvolutionPlan *plan, const THNNState *state)
{
  if (plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
    return THNN_(ConvolutionDirectWeight_prepare)(plan, state);
  if (!THNN_convolutionHasOneTap(&plan->geometry, plan->part))
    return THNN_(ConvolutionDirect_prepare)(plan, state);
  /* Where the weights are too many to be packed, gemm is better than fetching the source for each
   * panel. */
  return THNN_(ConvolutionDirectPointwise_prepare)(plan, state) ||
         (THNN_State_convolutionAlgorithm(state) == THNN_CONVOLUTION_DIRECT &&
          THNN_(ConvolutionDirect_prepare)(plan, state));
}

void THNN_(Convolution_prepare)(THNNConvolutionPlan *plan, const THNNState *state,
                                const THNNConvolution *geometry, THNNConvolutionPart part)
{
  const THNNConvolutionAlgorithm algorithm = THNN_State_convolutionAlgorithm(state);
  const bool automatic = algorithm == THNN_CONVOLUTION_AUTO;
  const bool linear = THNN_convolutionIsLinear(geometry);
  *plan = (THNNConvolutionPlan){.geometry = *geometry, .part = part};
  if (algorithm != THNN_CONVOLUTION_GEMM && !(automatic && linear)) {
    const double gemm = automatic ? gemmCost(geometry, part) : INFINITY;
    const double direct = directCost(geometry, part);
    const double lines = linear ? INFINITY : linesCost(geometry, part);
    if (lines < direct && lines < gemm && prepareLines(plan, state))
      return;
    if (direct < gemm && prepareDirect(plan, state))
      return;
  }
  THNN_(ConvolutionGemm_prepare)(plan, state);
}

/* ---- The parts ------------------------------------------------------------------------------- */

static void runDirect(const THNNConvolutionPlan *plan, const real *source, const real *weight,
                      const real *bias, real *result, void *scratch)
{
  switch (plan->variant) {
  case THNN_CONVOLUTION_ONE_POINT:
    THNN_(ConvolutionDirectPointwise_run)(plan, source, weight, bias, result, scratch);
    break;
  case THNN_CONVOLUTION_LINES:
    THNN_(ConvolutionDirectLines_run)(plan, source, weight, bias, result, scratch);
    break;
  default:
    THNN_(ConvolutionDirect_run)(plan, source, weight, bias, result, scratch);
  }
}

void THNN_(Convolution_forward)(const THNNConvolutionPlan *plan, const real *input,
                                const real *weight, const real *bias, real *output, void *scratch)
{
  if (plan->algorithm == THNN_CONVOLUTION_DIRECT)
    runDirect(plan, input, weight, bias, output, scratch);
  else
    THNN_(ConvolutionGemm_forward)(plan, input, weight, bias, output, scratch);
}

void THNN_(Convolution_backwardData)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                     const real *weight, const real *bias, real *gradInput,
                                     void *scratch)
{
  if (plan->algorithm == THNN_CONVOLUTION_DIRECT)
    runDirect(plan, gradOutput, weight, bias, gradInput, scratch);
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
    (plan->variant == THNN_CONVOLUTION_LINES ? THNN_(ConvolutionDirectLinesWeight_run)
                                             : THNN_(ConvolutionDirectWeight_run))(
        plan, input, gradOutput, scale, gradWeight, gradBias, scratch);
    return;
  }
  THNN_(ConvolutionGemm_backwardWeight)(plan, input, gradOutput, scale, gradWeight, scratch);
  if (gradBias && plan->tiles.linear)
    THNN_(addRowSum)(plan->state, geometry->batch, geometry->outputPlanes, (real)scale, gradOutput,
                     gradBias);
  else if (gradBias)
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
