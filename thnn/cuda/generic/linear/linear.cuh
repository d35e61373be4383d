/* Shared by linear layers: adding the bias to each row of a batch, and the gradient of the bias. */
#ifndef THCUNN_LINEAR_CUH
#define THCUNN_LINEAR_CUH

#include "cuda/generic/shared/channelwise.cuh"
#include "geometry/planes.h"

namespace
{

/* output[i] = bias, for each row of a batch. */
template <typename Index> struct RepeatBias {
  THCDivisor<Index> outputs;
  const real *bias;
  __device__ void operator()(int64_t i, real &output) const
  {
    output = bias[THC_divide((Index)i, outputs).remainder];
  }
};

inline void repeatBias(THCPlan *plan, int64_t batch, int64_t outputs, const real *bias,
                       real *output)
{
  THC_withIndex(batch * outputs, [&](auto index) {
    typedef decltype(index) Index;
    THC_apply(plan, plan->plan.function, batch * outputs,
              RepeatBias<Index>{THCDivisor<Index>(outputs), bias}, output);
  });
}

typedef ChannelSum<Elements> BiasTerm;

inline int64_t biasScratchBytes(int64_t batch, int64_t outputs)
{
  return channelScratchBytes<BiasTerm>(channelsOf(THNNPlanes{batch, outputs, 1}));
}

/* bias += scale * the sum of the rows of gradOutput; `scratch` has biasScratchBytes bytes. */
inline void addBiasGradient(THCPlan *plan, int64_t batch, int64_t outputs, accreal scale,
                            const real *gradOutput, real *bias, const THNNBuffer *scratch)
{
  if (batch > 0)
    sumChannels(plan, channelsOf(THNNPlanes{batch, outputs, 1}), BiasTerm{{gradOutput}},
                AddScaled{scale, bias}, THC_pointer<accreal>(scratch));
}

} // namespace

#endif
