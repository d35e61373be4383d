#include "cuda/generic/pooling/average.cuh"

#include "geometry/convolutionCheck.h"
#include "cuda/generic/pooling/windowSums.cuh"

namespace
{

/* Windows with the number of elements that each one's sum is divided by: at least 1 along each
 * dimension. */
template <int dimensions, typename Index> struct Averages : SummedWindows<dimensions, Index> {
  bool countPadding;

  Averages(const THNNConvolution &geometry, bool countPadding)
      : SummedWindows<dimensions, Index>(geometry), countPadding(countPadding)
  {
  }
  __device__ Index length(int d, Index position) const
  {
    const Windows<Index> &windows = this->windows;
    const Index start = windows.start(d, position), end = start + windows.kernel[d];
    const Index padded = this->edge[d] + (windows.pad[d] > 0 ? windows.pad[d] : 0);
    const Range<Index> inside = this->inside(d, position);
    const Index length =
        countPadding ? (end < padded ? end : padded) - start : inside.end - inside.begin;
    return length > 1 ? length : 1;
  }
  __device__ accreal divisor(const Index *map) const
  {
    const accreal slice = accreal(length(1, map[1]) * length(2, map[2]));
    return dimensions == 3 ? slice * accreal(length(0, map[0])) : slice;
  }
};

template <int dimensions, typename Index> struct Forward {
  Averages<dimensions, Index> averages;
  const real *input;

  __device__ void operator()(int64_t i, real &output) const
  {
    const Place<Index> map = placeOf<dimensions>((Index)i, averages.windows.map);
    const accreal sum = averages.sum(map, input + map.plane * averages.windows.image.volume());
    output = real(sum / averages.divisor(map.at));
  }
};

template <int dimensions, typename Index> struct Backward {
  Averages<dimensions, Index> averages;
  const real *gradOutput;

  __device__ void operator()(int64_t i, real &gradInput) const
  {
    const Place<Index> image = placeOf<dimensions>((Index)i, averages.windows.image);
    gradInput =
        real(averages.spread(image, gradOutput + image.plane * averages.windows.map.volume(),
                             [&](const Index *map) { return 1 / averages.divisor(map); }));
  }
};

} // namespace

void THCUNN_(average_updateOutput)(const THCAveragePoolingCall *call, THCTensor *input,
                                   THCTensor *output)
{
  const THNNConvolution &geometry = call->geometry;
  const int64_t planes = geometry.batch * geometry.inputPlanes;
  int64_t size[5];
  const int nDimension = THNN_convolutionSizes(&geometry, call->nDimension, false,
                                               input->nDimension == call->nDimension + 2, size);

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, nDimension, size);
  THC_planAcquire(&plan);
  chooseKernel(geometry, planes, [&](auto dimensions, auto index) {
    constexpr int number = decltype(dimensions)::value;
    typedef decltype(index) Index;
    const Forward<number, Index> function = {Averages<number, Index>(geometry, call->countPadding),
                                             THC_pointer<const real>(in)};
    THC_apply(&plan, "average pooling", planes * volumeOf(geometry.output), function,
              THC_pointer<real>(out));
  });
  THC_planRelease(&plan);
}

void THCUNN_(average_updateGradInput)(const THCAveragePoolingCall *call, THCTensor *input,
                                      THCTensor *gradOutput, THCTensor *gradInput)
{
  const THNNConvolution &geometry = call->geometry;
  const int64_t planes = geometry.batch * geometry.inputPlanes;
  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  THC_planAcquire(&plan);
  chooseKernel(geometry, planes, [&](auto dimensions, auto index) {
    constexpr int number = decltype(dimensions)::value;
    typedef decltype(index) Index;
    const Backward<number, Index> function = {Averages<number, Index>(geometry, call->countPadding),
                                              THC_pointer<const real>(from)};
    THC_apply(&plan, "average pooling backward", planes * volumeOf(geometry.input), function,
              THC_pointer<real>(to));
  });
  THC_planRelease(&plan);
}
