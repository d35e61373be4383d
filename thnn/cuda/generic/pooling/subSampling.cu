#include "cuda/generic/pooling/subSampling.cuh"

#include "geometry/convolutionCheck.h"
#include "cuda/generic/shared/segmentSums.cuh"
#include "cuda/generic/pooling/windowSums.cuh"

namespace
{

/* Windows with the number of the weight that belongs to each position. */
template <typename Index> struct Weighted : SummedWindows<2, Index> {
  bool byColumn;
  Divisor<Index> planes;

  Weighted(const THNNConvolution &geometry, bool byColumn)
      : SummedWindows<2, Index>(geometry), byColumn(byColumn), planes(geometry.inputPlanes)
  {
  }
  __device__ Index number(const Place<Index> &place) const
  {
    if (byColumn)
      return place.at[2];
    return place.plane - quotient(place.plane, planes) * (Index)planes.value;
  }
  __device__ const real *imagePlane(const Place<Index> &place, const real *input) const
  {
    return input + place.plane * this->windows.image.volume();
  }
};

template <typename Index> struct Forward {
  Weighted<Index> weighted;
  const real *input, *weight, *bias;

  __device__ void operator()(int64_t i, real &output) const
  {
    const Place<Index> place = placeOf<2>((Index)i, weighted.windows.map);
    const Index number = weighted.number(place);
    const accreal sum = weighted.sum(place, weighted.imagePlane(place, input));
    output = real(weight[number] * sum + bias[number]);
  }
};

template <typename Index> struct Backward {
  Weighted<Index> weighted;
  const real *gradOutput, *weight;

  __device__ void operator()(int64_t i, real &gradInput) const
  {
    const Place<Index> place = placeOf<2>((Index)i, weighted.windows.image);
    const real *plane = gradOutput + place.plane * weighted.windows.map.volume();
    const accreal sum = weighted.spread(place, plane, [](const Index *) { return accreal(1); });
    gradInput = real(weight[weighted.number(place)] * sum);
  }
};

/* Terms of the gradients of a bias and of a weight: an element of gradOutput that belongs to it,
 * for the weight times the sum over the element's window. */
template <typename Index> struct Gradient {
  Weighted<Index> weighted;
  Divisor<Index> positions; /* number of an output plane's positions that belong to one weight */
  const real *gradOutput;
  const real *input; /* NULL for the bias */

  __device__ accreal operator()(Index number, Index i) const
  {
    const Box<Index> &map = weighted.windows.map;
    const Index image = quotient(i, positions), position = i - image * (Index)positions.value;
    const Index plane = weighted.byColumn ? image : image * (Index)weighted.planes.value + number;
    const Index from =
        plane * map.volume() + (weighted.byColumn ? position * map.size[2] + number : position);
    const accreal gradient = gradOutput[from];
    if (!input)
      return gradient;
    const Place<Index> place = placeOf<2>(from, map);
    return gradient * weighted.sum(place, weighted.imagePlane(place, input));
  }
};

int64_t planesOf(const THNNConvolution &geometry)
{
  return geometry.batch * geometry.inputPlanes;
}

/* Calls work(Index()) with the narrowest index type that suffices. */
template <typename Work> void chooseIndex(const THNNConvolution &geometry, Work work)
{
  if (fitsWindows(geometry, planesOf(geometry)))
    work(int());
  else
    work(int64_t());
}

} // namespace

void THCUNN_(subSampling_updateOutput)(const THCSubSamplingCall *call, THCTensor *input,
                                       THCTensor *output, THCTensor *weight, THCTensor *bias)
{
  const THNNConvolution &geometry = call->geometry;
  int64_t size[5] = {geometry.output[1], geometry.output[2]};
  int nDimension = 2;
  if (!call->byColumn)
    nDimension = THNN_convolutionSizes(&geometry, 2, false, input->nDimension == 4, size);

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *factors = THC_planIn(&plan, weight, 4);
  const THNNBuffer *terms = THC_planIn(&plan, bias, 5);
  THC_planAcquire(&plan);
  chooseIndex(geometry, [&](auto index) {
    typedef decltype(index) Index;
    const Forward<Index> forward = {Weighted<Index>(geometry, call->byColumn),
                                    THC_pointer<const real>(in), THC_pointer<const real>(factors),
                                    THC_pointer<const real>(terms)};
    THC_apply(&plan, "subsampling", planesOf(geometry) * volumeOf(geometry.output), forward,
              THC_pointer<real>(out));
  });
  THC_planRelease(&plan);
}

void THCUNN_(subSampling_updateGradInput)(const THCSubSamplingCall *call, THCTensor *input,
                                          THCTensor *gradOutput, THCTensor *gradInput,
                                          THCTensor *weight)
{
  const THNNConvolution &geometry = call->geometry;
  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *factors = THC_planIn(&plan, weight, 5);
  THC_planAcquire(&plan);
  chooseIndex(geometry, [&](auto index) {
    typedef decltype(index) Index;
    const Backward<Index> backward = {Weighted<Index>(geometry, call->byColumn),
                                      THC_pointer<const real>(from),
                                      THC_pointer<const real>(factors)};
    THC_apply(&plan, "subsampling backward", planesOf(geometry) * volumeOf(geometry.input),
              backward, THC_pointer<real>(to));
  });
  THC_planRelease(&plan);
}

void THCUNN_(subSampling_accGradParameters)(const THCSubSamplingCall *call, THCTensor *input,
                                            THCTensor *gradOutput, THCTensor *gradWeight,
                                            THCTensor *gradBias, accreal scale)
{
  const THNNConvolution &geometry = call->geometry;
  const int64_t results = call->byColumn ? geometry.output[2] : geometry.inputPlanes;
  const int64_t positions = call->byColumn ? geometry.output[1] : volumeOf(geometry.output);
  const int64_t terms = geometry.batch * positions;
  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *weights = THC_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *biases = THC_planInOut(&plan, gradBias, 5);
  const THNNBuffer *partial = THC_planScratch(&plan, segmentBytes(results, terms));
  THC_planAcquire(&plan);
  chooseIndex(geometry, [&](auto index) {
    typedef decltype(index) Index;
    Gradient<Index> gradient = {Weighted<Index>(geometry, call->byColumn),
                                Divisor<Index>(positions), THC_pointer<const real>(from),
                                THC_pointer<const real>(in)};
    accreal *sums = THC_pointer<accreal>(partial);
    addSums<Index>(&plan, results, terms, gradient, scale, THC_pointer<real>(weights), sums);
    gradient.input = nullptr;
    addSums<Index>(&plan, results, terms, gradient, scale, THC_pointer<real>(biases), sums);
  });
  THC_planRelease(&plan);
}
