/* The twin of generic/activation/PReLU.c. */
#include "cuda/generic/shared/channelwise.cuh"
#include "generic/activation/checks.h"
#include "geometry/planes.h"

namespace
{

/* The slope of an element's plane. */
template <typename Index> struct Slopes {
  THCDivisor<Index> positions, planes;
  const real *weight;

  Slopes(const THNNPlanes &shape, const real *weight)
      : positions(shape.positions), planes(shape.planes), weight(weight)
  {
  }
  __device__ real at(int64_t i) const
  {
    return weight[THC_divide(positions.quotient((Index)i), planes).remainder];
  }
};

template <typename Index> struct Forward {
  Slopes<Index> slopes;
  __device__ void operator()(int64_t i, real &output, const real &input) const
  {
    output = input > 0 ? input : input * slopes.at(i);
  }
};

template <typename Index> struct Backward {
  Slopes<Index> slopes;
  __device__ void operator()(int64_t i, real &gradInput, const real &input,
                             const real &gradOutput) const
  {
    gradInput = input > 0 ? gradOutput : gradOutput * slopes.at(i);
  }
};

struct SlopeGradient {
  const real *input, *gradOutput;
  __device__ accreal operator()(int64_t i, int64_t plane) const
  {
    (void)plane;
    const real x = input[i], g = gradOutput[i];
    return x > 0 ? 0 : (accreal)x * g;
  }
};

} // namespace

void THCUNN_(PReLU_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                 THCTensor *weight, int64_t nOutputPlane)
{
  const char *function = "PReLU_updateOutput";
  const THNNPlanes shape =
      THNN_PReLU_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
                            THNN_SCALAR(nOutputPlane, 5));

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  THNNBuffer *out = THC_planOutLike(&plan, output, 3, input);
  const THNNBuffer *factors = THC_planIn(&plan, weight, 4);
  THNN_planElementwise(out);
  THC_planAcquire(&plan);
  const int64_t count = THCTensor_(nElement)(state, input);
  THC_withIndex(count, [&](auto index) {
    const Forward<decltype(index)> map = {{shape, THC_pointer<const real>(factors)}};
    THC_apply(&plan, function, count, map, THC_pointer<real>(out), THC_pointer<const real>(in));
  });
  THC_planRelease(&plan);
}

void THCUNN_(PReLU_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                    THCTensor *gradInput, THCTensor *weight, int64_t nOutputPlane)
{
  const char *function = "PReLU_updateGradInput";
  const THNNPlanes shape =
      THNN_PReLU_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                            THNN_SHAPE(weight, 5), THNN_SCALAR(nOutputPlane, 6));

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *factors = THC_planIn(&plan, weight, 5);
  THNN_planElementwise(to);
  THC_planAcquire(&plan);
  const int64_t count = THCTensor_(nElement)(state, input);
  THC_withIndex(count, [&](auto index) {
    const Backward<decltype(index)> map = {{shape, THC_pointer<const real>(factors)}};
    THC_apply(&plan, function, count, map, THC_pointer<real>(to), THC_pointer<const real>(in),
              THC_pointer<const real>(from));
  });
  THC_planRelease(&plan);
}

void THCUNN_(PReLU_accGradParameters)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                      THCTensor *gradInput, THCTensor *weight,
                                      THCTensor *gradWeight, THCTensor *gradWeightBuf,
                                      THCTensor *gradWeightBuf2, int64_t nOutputPlane,
                                      accreal scale)
{
  (void)gradInput, (void)gradWeightBuf, (void)gradWeightBuf2;
  const char *function = "PReLU_accGradParameters";
  if (!weight)
    THNN_rejectShape(function, THNN_SHAPE(weight, 5), "a tensor");
  const THNNPlanes shape =
      THNN_PReLU_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                            THNN_SHAPE(gradWeight, 6), THNN_SCALAR(nOutputPlane, 9));
  const Channels channels = channelsOf(shape);
  typedef ChannelSum<SlopeGradient> Term;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planInOut(&plan, gradWeight, 6);
  const THNNBuffer *scratch = THC_planScratch(&plan, channelScratchBytes<Term>(channels));
  THC_planAcquire(&plan);
  const Term term = {{THC_pointer<const real>(in), THC_pointer<const real>(from)}};
  if (channels.parts > 0)
    sumChannels(&plan, channels, term, AddScaled{scale, THC_pointer<real>(to)},
                THC_pointer<accreal>(scratch));
  THC_planRelease(&plan);
}
