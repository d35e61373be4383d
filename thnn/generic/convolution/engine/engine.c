/* The convolution engine's front: chooses the algorithm and calls it. */
#include "generic/template.h"

#include <math.h>

#include "generic/convolution/engine/algorithm.h"
#include "generic/shared/matrix.h"

/* A sum over fewer elements than this is done before the other threads are awake. */
static const int64_t WORTH_THREADS = 1 << 16;

/* ---- Choosing the algorithm ------------------------------------------------------------------
 *
 * Each algorithm estimates its cost; the cheapest is taken. The constants of these estimates were
 * fitted to some thousand timings of layers of all kinds (float and double, AVX-512). On layers
 * outside the fit, the chosen algorithm takes 1 to 3 % more time than the best one on average, with
 * AVX2 too, and 5 % with one tap. */

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
  /* Where there are too many weights to pack, gemm is better than fetching the source for each
   * panel. */
  return THNN_(ConvolutionDirectPointwise_prepare)(plan, state) ||
         (THNN_State_convolutionAlgorithm(state) == THNN_CONVOLUTION_DIRECT &&
          THNN_(ConvolutionDirect_prepare)(plan, state));
}

/* Plans Winograd's algorithm as the first attempt where it is expected to be faster, or where the
 * caller asked for it. With few planes its transforms take more time than its products save. */
static void tryWinograd(THNNConvolutionPlan *plan, const THNNState *state, bool asked)
{
  enum { FEWEST_PLANES = 16 };
  const THNNConvolution *geometry = &plan->geometry;
  THNNConvolutionWinograd winograd = {.used = false};
  if (!asked && minimum(geometry->inputPlanes, geometry->outputPlanes) < FEWEST_PLANES)
    return;
  const bool applies = plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT
                           ? THNN_(ConvolutionWinogradWeight_prepare)(plan, state, &winograd)
                           : THNN_(ConvolutionWinograd_prepare)(plan, state, &winograd);
  if (!applies || !(asked || winograd.cost < plan->cost))
    return;
  const size_t bytes = winograd.sharedBytes + winograd.threadBytes * (size_t)winograd.threads;
  plan->winograd = winograd;
  if (plan->scratchBytes < bytes)
    plan->scratchBytes = bytes;
}

void THNN_(Convolution_prepare)(THNNConvolutionPlan *plan, const THNNState *state,
                                const THNNConvolution *geometry, THNNConvolutionPart part)
{
  const THNNConvolutionAlgorithm algorithm = THNN_State_convolutionAlgorithm(state);
  const bool winograd = algorithm == THNN_CONVOLUTION_WINOGRAD;
  const bool automatic = algorithm == THNN_CONVOLUTION_AUTO || winograd;
  const bool linear = THNN_convolutionIsLinear(geometry);
  const bool extreme = THNN_convolutionIsExtreme(geometry);
  const THNNConvolutionPlan none = {.geometry = *geometry, .part = part, .cost = INFINITY};
  THNNConvolutionPlan direct = none, lines = none, products = none;
  *plan = none;
  if (algorithm != THNN_CONVOLUTION_GEMM && !extreme && !(automatic && linear)) {
    if (prepareDirect(&direct, state))
      *plan = direct;
    if (!linear && prepareLines(&lines, state) && lines.cost < plan->cost)
      *plan = lines;
    if (!linear && THNN_(ConvolutionDirectProducts_prepare)(&products, state) &&
        products.cost < plan->cost)
      *plan = products;
  }
  if (automatic || plan->cost == INFINITY) {
    THNNConvolutionPlan gemm = none;
    THNN_(ConvolutionGemm_prepare)(&gemm, state);
    if (plan->cost == INFINITY || gemm.cost < plan->cost)
      *plan = gemm;
  }
  if (automatic && !extreme)
    tryWinograd(plan, state, winograd);
}

THNNConvolutionAlgorithm THNN_(Convolution_algorithm)(const THNNConvolutionPlan *plan)
{
  return plan->winograd.used ? THNN_CONVOLUTION_WINOGRAD : plan->algorithm;
}

double THNN_(Convolution_cost)(const THNNConvolutionPlan *plan)
{
  return plan->winograd.used ? plan->winograd.cost : plan->cost;
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
  case THNN_CONVOLUTION_PRODUCTS:
    THNN_(ConvolutionDirectProducts_run)(plan, source, weight, bias, result, scratch);
    break;
  default:
    THNN_(ConvolutionDirect_run)(plan, source, weight, bias, result, scratch);
  }
}

void THNN_(Convolution_forward)(const THNNConvolutionPlan *plan, const real *input,
                                const real *weight, const real *bias, real *output, void *scratch)
{
  if (plan->winograd.used &&
      THNN_(ConvolutionWinograd_run)(plan, input, weight, bias, output, scratch))
    return;
  if (plan->algorithm == THNN_CONVOLUTION_DIRECT)
    runDirect(plan, input, weight, bias, output, scratch);
  else
    THNN_(ConvolutionGemm_forward)(plan, input, weight, bias, output, scratch);
}

void THNN_(Convolution_backwardData)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                     const real *weight, const real *bias, real *gradInput,
                                     void *scratch)
{
  if (plan->winograd.used &&
      THNN_(ConvolutionWinograd_run)(plan, gradOutput, weight, bias, gradInput, scratch))
    return;
  if (plan->algorithm == THNN_CONVOLUTION_DIRECT)
    runDirect(plan, gradOutput, weight, bias, gradInput, scratch);
  else
    THNN_(ConvolutionGemm_backwardData)(plan, gradOutput, weight, bias, gradInput, scratch);
}

void THNN_(Convolution_addPlaneSums)(const THNNConvolutionPlan *plan, int64_t planes,
                                     int64_t positions, const real *x, accreal scale, real *sums)
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

static void correlateDirect(const THNNConvolutionPlan *plan, const real *input,
                            const real *gradOutput, accreal scale, real *gradWeight, real *gradBias,
                            void *scratch)
{
  switch (plan->variant) {
  case THNN_CONVOLUTION_LINES:
    THNN_(ConvolutionDirectLinesWeight_run)(plan, input, gradOutput, scale, gradWeight, gradBias,
                                            scratch);
    break;
  case THNN_CONVOLUTION_PRODUCTS:
    THNN_(ConvolutionDirectProducts_backwardWeight)(plan, input, gradOutput, scale, gradWeight,
                                                    gradBias, scratch);
    break;
  default:
    THNN_(ConvolutionDirectWeight_run)(plan, input, gradOutput, scale, gradWeight, gradBias,
                                       scratch);
  }
}

void THNN_(Convolution_backwardWeight)(const THNNConvolutionPlan *plan, const real *input,
                                       const real *gradOutput, accreal scale, real *gradWeight,
                                       real *gradBias, void *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  if (plan->winograd.used && THNN_(ConvolutionWinogradWeight_run)(plan, input, gradOutput, scale,
                                                                  gradWeight, gradBias, scratch))
    return;
  if (plan->algorithm == THNN_CONVOLUTION_DIRECT) {
    correlateDirect(plan, input, gradOutput, scale, gradWeight, gradBias, scratch);
    return;
  }
  THNN_(ConvolutionGemm_backwardWeight)(plan, input, gradOutput, scale, gradWeight, scratch);
  if (gradBias && plan->tiles.linear)
    THNN_(addRowSum)(plan->state, geometry->batch, geometry->outputPlanes, (real)scale, gradOutput,
                     gradBias);
  else if (gradBias)
    THNN_(Convolution_addPlaneSums)(plan, geometry->outputPlanes,
                                    THNN_convolutionMapPositions(geometry), gradOutput, scale,
                                    gradBias);
}

void THNN_(Convolution_backwardTransposedBias)(const THNNConvolutionPlan *plan,
                                               const real *gradOutput, accreal scale,
                                               real *gradBias)
{
  const THNNConvolution *geometry = &plan->geometry;
  THNN_(Convolution_addPlaneSums)(plan, geometry->inputPlanes,
                                  THNN_convolutionImagePositions(geometry), gradOutput, scale,
                                  gradBias);
}
