#include "cuda/generic/resampling/nearest.cuh"

#include "cuda/generic/shared/windows.cuh"
#include "generic/resampling/checks.h"

namespace
{

/* The geometry of windows that tile the output without overlap; the input is their map. */
THNNConvolution windowsOf(const THCNearestCall *call, const THCTensor *input)
{
  const int leading = input->nDimension - call->nDimension;
  const int64_t planes = THNN_product(leading, input->size);
  THNNConvolution geometry = {1,         planes,    planes,    {1, 1, 1}, {1, 1, 1},
                              {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, false,
                              0,         0,         false,     false};
  for (int i = 0; i < call->nDimension; i++) {
    const int d = i + 3 - call->nDimension;
    geometry.output[d] = input->size[leading + i];
    geometry.input[d] = geometry.output[d] * call->factor;
    geometry.kernel[d] = geometry.stride[d] = call->factor;
  }
  return geometry;
}

template <int dimensions, typename Index> struct Forward {
  Windows<Index> windows;
  const real *input;

  __device__ void operator()(int64_t i, real &output) const
  {
    Place<Index> place = placeOf<dimensions>((Index)i, windows.image);
    for (int d = 3 - dimensions; d < 3; d++)
      place.at[d] = quotient(place.at[d], windows.byStride[d]);
    output = input[place.plane * windows.map.volume() + windows.map.flat(place.at)];
  }
};

template <int dimensions, typename Index> struct Backward {
  Windows<Index> windows;
  const real *gradOutput;

  __device__ void operator()(int64_t i, real &gradInput) const
  {
    const Place<Index> place = placeOf<dimensions>((Index)i, windows.map);
    const real *plane = gradOutput + place.plane * windows.image.volume();
    const Index depth = dimensions == 3 ? windows.kernel[0] : 1;
    accreal sum = 0;
    for (Index z = 0; z < depth; z++)
      for (Index y = 0; y < windows.kernel[1]; y++) {
        const Index at[3] = {windows.start(0, place.at[0]) + z, windows.start(1, place.at[1]) + y,
                             windows.start(2, place.at[2])};
        const real *row = plane + windows.image.flat(at);
        for (Index x = 0; x < windows.kernel[2]; x++)
          sum += row[x];
      }
    gradInput = real(sum);
  }
};

} // namespace

void THCUNN_(nearest_updateOutput)(const THCNearestCall *call, THCTensor *input, THCTensor *output)
{
  int64_t size[5];
  THNN_nearest_shapeCheck(call->function, call->nDimension, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                          THNN_makeScalar("scale_factor", 4, call->factor), size);
  const THNNConvolution geometry = windowsOf(call, input);

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, input->nDimension, size);
  THC_planAcquire(&plan);
  chooseKernel(geometry, geometry.inputPlanes, [&](auto dimensions, auto index) {
    typedef decltype(index) Index;
    const Forward<decltype(dimensions)::value, Index> forward = {Windows<Index>(geometry),
                                                                 THC_pointer<const real>(in)};
    THC_apply(&plan, "nearest upsampling", geometry.inputPlanes * volumeOf(geometry.input), forward,
              THC_pointer<real>(out));
  });
  THC_planRelease(&plan);
}

void THCUNN_(nearest_updateGradInput)(const THCNearestCall *call, THCTensor *input,
                                      THCTensor *gradOutput, THCTensor *gradInput)
{
  int64_t size[5];
  THNN_nearest_shapeCheck(call->function, call->nDimension, THNN_SHAPE(input, 2),
                          THNN_SHAPE(gradOutput, 3),
                          THNN_makeScalar("scale_factor", 5, call->factor), size);
  const THNNConvolution geometry = windowsOf(call, input);

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  THC_planAcquire(&plan);
  chooseKernel(geometry, geometry.inputPlanes, [&](auto dimensions, auto index) {
    typedef decltype(index) Index;
    const Backward<decltype(dimensions)::value, Index> backward = {Windows<Index>(geometry),
                                                                   THC_pointer<const real>(from)};
    THC_apply(&plan, "nearest upsampling backward",
              geometry.inputPlanes * volumeOf(geometry.output), backward, THC_pointer<real>(to));
  });
  THC_planRelease(&plan);
}
