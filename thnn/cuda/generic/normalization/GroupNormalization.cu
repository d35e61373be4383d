/* The twin of generic/normalization/GroupNormalization.c. */
#include "cuda/generic/normalization/normaliseRows.cuh"
#include "cuda/generic/shared/channelwise.cuh"
#include "generic/normalization/checks.h"

namespace
{

/* How a tensor is cut up: a row is a group of planes of a sample. */
struct Cut {
  int64_t groups, planes, positions; /* planes of a group */
  __device__ int64_t elements() const { return planes * positions; }
  __device__ int64_t parameter(int64_t row, int64_t i) const
  {
    return row % groups * planes + i / positions;
  }
  /* The row of batch x groups that an element of a plane belongs to. */
  __device__ int64_t rowOf(int64_t element, int64_t plane) const
  {
    return element / (groups * elements()) * groups + plane / planes;
  }
};

struct Product {
  Cut cut;
  const real *input, *gradOutput, *means, *stds;
  __device__ accreal operator()(int64_t element, int64_t plane) const
  {
    const int64_t row = cut.rowOf(element, plane);
    return (accreal)gradOutput[element] * ((accreal)(input[element] - means[row]) * stds[row]);
  }
};

} // namespace

void THCUNN_(GroupNormalization_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                              THCTensor *weight, THCTensor *bias,
                                              THCTensor *save_mean, THCTensor *save_std,
                                              int64_t groups, accreal eps)
{
  const char *function = "GroupNormalization_updateOutput";
  const THNNPlanes shape = THNN_GroupNormalization_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SCALAR(groups, 8), THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5));
  const int64_t size[] = {shape.batch, groups};
  const Cut cut = {groups, shape.planes / groups, shape.positions};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOutLike(&plan, output, 3, input);
  const THNNBuffer *factors = weight ? THC_planIn(&plan, weight, 4) : nullptr;
  const THNNBuffer *offsets = bias ? THC_planIn(&plan, bias, 5) : nullptr;
  const THNNBuffer *means = THC_planOut(&plan, save_mean, 6, 2, size);
  const THNNBuffer *stds = THC_planOut(&plan, save_std, 7, 2, size);
  THC_planAcquire(&plan);
  forRows(&plan, shape.batch * groups, cut.planes * cut.positions,
          NormaliseRow<Cut>{cut, eps, THC_pointer<const real>(in), THC_pointer<const real>(factors),
                            THC_pointer<const real>(offsets), THC_pointer<real>(out),
                            THC_pointer<real>(means), THC_pointer<real>(stds)});
  THC_planRelease(&plan);
}

void THCUNN_(GroupNormalization_backward)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                          THCTensor *gradInput, THCTensor *gradWeight,
                                          THCTensor *gradBias, THCTensor *weight,
                                          THCTensor *save_mean, THCTensor *save_std, int64_t groups,
                                          accreal scale)
{
  const char *function = "GroupNormalization_backward";
  const THNNPlanes shape = THNN_GroupNormalization_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SCALAR(groups, 10),
      THNN_SHAPE(weight, 7), THNN_NO_SHAPE);
  THNN_GroupNormalization_backwardCheck(function, shape, groups, THNN_SHAPE(gradWeight, 5),
                                        THNN_SHAPE(gradBias, 6), THNN_SHAPE(save_mean, 8),
                                        THNN_SHAPE(save_std, 9));
  if (!gradInput && !gradWeight && !gradBias)
    return;
  const Cut cut = {groups, shape.planes / groups, shape.positions};
  const Channels channels = channelsOf(shape);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = gradInput ? THC_planOutLike(&plan, gradInput, 4, input) : nullptr;
  const THNNBuffer *toWeight = gradWeight ? THC_planInOut(&plan, gradWeight, 5) : nullptr;
  const THNNBuffer *toBias = gradBias ? THC_planInOut(&plan, gradBias, 6) : nullptr;
  const THNNBuffer *factors = weight ? THC_planIn(&plan, weight, 7) : nullptr;
  const THNNBuffer *means = THC_planIn(&plan, save_mean, 8);
  const THNNBuffer *stds = THC_planIn(&plan, save_std, 9);
  const THNNBuffer *scratch =
      THC_planScratch(&plan, channelScratchBytes<ChannelSum<Elements>>(channels));
  THC_planAcquire(&plan);

  const real *x = THC_pointer<const real>(in), *g = THC_pointer<const real>(from);
  const real *mean = THC_pointer<const real>(means), *std = THC_pointer<const real>(stds);
  if (to)
    forRows(&plan, shape.batch * groups, cut.planes * cut.positions,
            NormaliseRowBackward<Cut>{cut, x, g, THC_pointer<const real>(factors), mean, std,
                                      THC_pointer<real>(to)});
  if (toWeight)
    sumChannels(&plan, channels, ChannelSum<Product>{{cut, x, g, mean, std}},
                AddScaled{scale, THC_pointer<real>(toWeight)}, THC_pointer<accreal>(scratch));
  if (toBias)
    sumChannels(&plan, channels, ChannelSum<Elements>{{g}},
                AddScaled{scale, THC_pointer<real>(toBias)}, THC_pointer<accreal>(scratch));
  THC_planRelease(&plan);
}
