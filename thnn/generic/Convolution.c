/* The convolution engine's front: chooses the algorithm and calls it. */
#include "template.h"

#include "ConvolutionParts.h"

/* A sum over fewer elements than this is done before the pool is awake. */
static const int64_t WORTH_THREADS = 1 << 16;

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
  if (algorithm == THNN_CONVOLUTION_GEMM || !prepareDirect(plan, state))
    THNN_(ConvolutionGemm_prepare)(plan, state);
}

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

void THNN_(Convolution_backwardWeight)(const THNNConvolutionPlan *plan, const real *input,
                                       const real *gradOutput, accreal scale, real *gradWeight,
                                       void *scratch)
{
  if (plan->algorithm == THNN_CONVOLUTION_DIRECT)
    THNN_(ConvolutionDirectWeight_run)(plan, input, gradOutput, scale, gradWeight, scratch);
  else
    THNN_(ConvolutionGemm_backwardWeight)(plan, input, gradOutput, scale, gradWeight, scratch);
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

void THNN_(Convolution_backwardBias)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                     accreal scale, real *gradBias)
{
  const THNNConvolution *geometry = &plan->geometry;
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
