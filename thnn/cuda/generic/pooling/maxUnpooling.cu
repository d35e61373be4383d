#include "cuda/generic/pooling/maxUnpooling.cuh"

#include "geometry/convolutionCheck.h"
#include "cuda/generic/pooling/indices.cuh"

namespace
{

/* The number of an input element in its plane, from 1, of a type that atomicMax takes. */
template <typename Index>
using Claim = std::conditional_t<sizeof(Index) == 4, unsigned, unsigned long long>;

/* Sets each output element's claim to the greatest number of an input element that names it: where
 * several values go to the same element, the last one stays. */
template <typename Index, typename Names>
__global__ void __launch_bounds__(THC_THREADS)
    claimElements(Index count, Names names, const int64_t *indices, Claim<Index> *claims,
                  THCIndexRange range)
{
  const Box<Index> &map = names.windows.map;
  THC_FOR_ELEMENTS(Index, i, count)
  {
    const Place<Index> place = placeOf<3>(i, map);
    const Index element = names.element(place, indices[i]);
    if (element >= 0)
      atomicMax(&claims[place.plane * names.windows.image.volume() + element],
                (Claim<Index>)(map.flat(place.at) + 1));
    else
      THC_reportIndex(indices[i], range);
  }
}

template <typename Index> struct SetClaimed {
  Divisor<Index> outputVolume;
  Index inputVolume;
  const real *input;

  __device__ void operator()(int64_t i, real &output, const Claim<Index> &claim) const
  {
    const Index plane = quotient((Index)i, outputVolume);
    output = claim ? input[plane * inputVolume + (Index)claim - 1] : real(0);
  }
};

template <typename Index, typename Names> struct GetNamed {
  Names names;
  const real *gradOutput;
  THCIndexRange range;

  __device__ void operator()(int64_t i, real &gradInput, const int64_t &index) const
  {
    const Place<Index> place = placeOf<3>((Index)i, names.windows.map);
    const Index element = names.element(place, index);
    gradInput = real(0);
    if (element >= 0)
      gradInput = gradOutput[place.plane * names.windows.image.volume() + element];
    else
      THC_reportIndex(index, range);
  }
};

const char *expectedIndices(THCNaming naming)
{
  return naming == THC_NAMED_BY_NUMBER ? "numbers of elements of an output plane, from 1"
                                       : "offsets of elements inside the output";
}

/* Calls work(names, Index()) with the index decoder and the index type that a call needs. */
template <typename Work> void chooseNames(const THCMaxPoolingCall *call, Work work)
{
  const THNNConvolution &geometry = call->geometry;
  chooseKernel(geometry, geometry.batch * geometry.inputPlanes, [&](auto, auto index) {
    typedef decltype(index) Index;
    const Windows<Index> windows(geometry);
    if (call->naming == THC_NAMED_BY_NUMBER)
      work(NumberNames<Index>{windows, false}, index);
    else
      work(TapNames<Index>{windows, false}, index);
  });
}

} // namespace

void THCUNN_(maxUnpooling_updateOutput)(const THCMaxPoolingCall *call, THCTensor *input,
                                        THCTensor *output, THCIndexTensor *indices)
{
  const THNNConvolution &geometry = call->geometry;
  const char *expected = expectedIndices(call->naming);
  const int64_t planes = geometry.batch * geometry.inputPlanes;
  const int64_t inputVolume = volumeOf(geometry.output), outputVolume = volumeOf(geometry.input);
  const int spatial = call->nDimension - 1;
  int64_t size[5];
  const int nDimension =
      THNN_convolutionSizes(&geometry, spatial, true, input->nDimension > call->nDimension, size);
  chooseNames(call, [&](const auto &names, auto index) {
    typedef decltype(index) Index;
    typedef std::decay_t<decltype(names)> Names;
    checkNames<Index>(call->state, call->function, names, planes, indices, 4, expected);

    THCPlan plan;
    THC_planStart(&plan, call->function, call->state);
    const THNNBuffer *in = THC_planIn(&plan, input, 2);
    const THNNBuffer *out = THC_planOut(&plan, output, 3, nDimension, size);
    const THNNBuffer *from = THC_planIn(&plan, indices, 4);
    const int64_t bytes = planes * outputVolume * (int64_t)sizeof(Claim<Index>);
    const THNNBuffer *scratch = THC_planScratch(&plan, bytes);
    THC_planAcquire(&plan);

    Claim<Index> *claims = THC_pointer<Claim<Index>>(scratch);
    const SetClaimed<Index> set = {Divisor<Index>(outputVolume), (Index)inputVolume,
                                   THC_pointer<const real>(in)};
    THC_note(&plan.failure, "cudaMemsetAsync",
             cudaMemsetAsync(claims, 0, (size_t)bytes, call->state->stream));
    THC_LAUNCH_ELEMENTS(&plan, (claimElements<Index, Names>), planes * inputVolume,
                        planes * inputVolume, names, THC_pointer<const int64_t>(from), claims,
                        THC_valueDomain(&plan, expected));
    THC_apply(&plan, "max unpooling", planes * outputVolume, set, THC_pointer<real>(out),
              (const Claim<Index> *)claims);
    THC_planRelease(&plan);
  });
}

void THCUNN_(maxUnpooling_updateGradInput)(const THCMaxPoolingCall *call, THCTensor *input,
                                           THCTensor *gradOutput, THCTensor *gradInput,
                                           THCIndexTensor *indices)
{
  const THNNConvolution &geometry = call->geometry;
  const char *expected = expectedIndices(call->naming);
  const int64_t planes = geometry.batch * geometry.inputPlanes;
  chooseNames(call, [&](const auto &names, auto index) {
    typedef decltype(index) Index;
    typedef std::decay_t<decltype(names)> Names;
    checkNames<Index>(call->state, call->function, names, planes, indices, 5, expected);

    THCPlan plan;
    THC_planStart(&plan, call->function, call->state);
    const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
    const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
    const THNNBuffer *numbers = THC_planIn(&plan, indices, 5);
    THC_planAcquire(&plan);
    const GetNamed<Index, Names> get = {names, THC_pointer<const real>(from),
                                        THC_valueDomain(&plan, expected)};
    THC_apply(&plan, "max unpooling backward", planes * volumeOf(geometry.output), get,
              THC_pointer<real>(to), THC_pointer<const int64_t>(numbers));
    THC_planRelease(&plan);
  });
}
