#include "cuda/generic/padding/padding.cuh"

#include "cuda/generic/shared/windows.cuh"
#include "geometry/padding.h"

namespace
{

/* The geometry of a call. Along each dimension, every output index is a copy of one input index, or
 * of none, -1. */
template <int dimensions, typename Index> struct Padded {
  Box<Index> image, map;
  Index before[3], kept[3];
  THNNPaddingMode mode;

  explicit Padded(const THNNPadding &p)
      : image(p.input), map(p.output),
        before{(Index)p.before[0], (Index)p.before[1], (Index)p.before[2]},
        kept{(Index)THNN_paddedKept(&p, 0), (Index)THNN_paddedKept(&p, 1),
             (Index)THNN_paddedKept(&p, 2)},
        mode(p.mode)
  {
  }

  __device__ Index shown(int d, Index index) const
  {
    const Index at = index - before[d], last = image.size[d] - 1;
    if (at >= 0 && at <= last)
      return at;
    if (mode == THNN_PADDING_CONSTANT)
      return -1;
    if (mode == THNN_PADDING_REFLECTION)
      return at < 0 ? -at : 2 * last - at;
    if (mode == THNN_PADDING_CIRCULAR)
      return at < 0 ? at + kept[d] : at - kept[d];
    return at < 0 ? 0 : last;
  }

  /* The copies of an input index before the input (run 0), inside it (1) and after it (2); a run
   * can be empty. */
  __device__ Range<Index> run(int d, Index index, int number) const
  {
    const Index last = image.size[d] - 1, end = map.size[d];
    Range<Index> run = {before[d] + index, before[d] + index + 1};
    if (number != 1)
      run = number == 0 ? runBefore(d, index) : runAfter(d, index, last, end);
    run.begin = run.begin > 0 ? run.begin : 0;
    run.end = run.end < end ? run.end : end;
    return run;
  }

  __device__ Range<Index> runBefore(int d, Index index) const
  {
    if (mode == THNN_PADDING_CONSTANT)
      return {0, 0};
    if (mode == THNN_PADDING_REFLECTION)
      return {before[d] - index, before[d] - index + (index > 0)};
    if (mode == THNN_PADDING_REPLICATION)
      return {0, index == 0 ? before[d] : 0};
    const Index at = before[d] + index - kept[d];
    return {at, at + (at < before[d])};
  }
  __device__ Range<Index> runAfter(int d, Index index, Index last, Index end) const
  {
    const Index first = before[d] + last + 1;
    if (mode == THNN_PADDING_CONSTANT)
      return {0, 0};
    if (mode == THNN_PADDING_REFLECTION)
      return {before[d] + 2 * last - index, before[d] + 2 * last - index + (index < last)};
    if (mode == THNN_PADDING_REPLICATION)
      return {first, index == last ? end : 0};
    const Index at = before[d] + index + kept[d];
    return {at, at + (at >= first)};
  }
};

template <int dimensions, typename Index> struct Forward {
  Padded<dimensions, Index> padded;
  const real *input;
  real value;

  __device__ void operator()(int64_t i, real &output) const
  {
    Place<Index> place = placeOf<dimensions>((Index)i, padded.map);
    for (int d = 3 - dimensions; d < 3; d++) {
      place.at[d] = padded.shown(d, place.at[d]);
      if (place.at[d] < 0) {
        output = value;
        return;
      }
    }
    output = input[place.plane * padded.image.volume() + padded.image.flat(place.at)];
  }
};

template <int dimensions, typename Index> struct Backward {
  Padded<dimensions, Index> padded;
  const real *gradOutput;

  __device__ accreal rowSum(const real *row, Index atX) const
  {
    accreal sum = 0;
    for (int k = 0; k < 3; k++) {
      const Range<Index> x = padded.run(2, atX, k);
      for (Index i = x.begin; i < x.end; i++)
        sum += row[i];
    }
    return sum;
  }
  __device__ accreal sliceSum(const real *slice, Index atY, Index atX) const
  {
    accreal sum = 0;
    for (int k = 0; k < 3; k++) {
      const Range<Index> y = padded.run(1, atY, k);
      for (Index i = y.begin; i < y.end; i++)
        sum += rowSum(slice + i * padded.map.size[2], atX);
    }
    return sum;
  }
  __device__ void operator()(int64_t i, real &gradInput) const
  {
    const Place<Index> place = placeOf<dimensions>((Index)i, padded.image);
    const real *plane = gradOutput + place.plane * padded.map.volume();
    if (dimensions == 2) {
      gradInput = real(sliceSum(plane, place.at[1], place.at[2]));
      return;
    }
    const Index slice = padded.map.size[1] * padded.map.size[2];
    accreal sum = 0;
    for (int k = 0; k < 3; k++) {
      const Range<Index> z = padded.run(0, place.at[0], k);
      for (Index at = z.begin; at < z.end; at++)
        sum += sliceSum(plane + at * slice, place.at[1], place.at[2]);
    }
    gradInput = real(sum);
  }
};

/* chooseKernel for padding. */
template <typename Launch> void choosePadded(const THCPaddingCall *call, Launch launch)
{
  const THNNPadding &p = call->padding;
  bool small =
      THC_fitsIndex(p.planes * volumeOf(p.input)) && THC_fitsIndex(p.planes * volumeOf(p.output));
  for (int d = 0; d < 3; d++)
    small = small && THC_fitsIndex(2 * p.input[d] + 2 * p.output[d]);
  chooseKernel(small, call->nDimension == 2, launch);
}

} // namespace

void THCUNN_(padding_updateOutput)(const THCPaddingCall *call, THCTensor *input, THCTensor *output)
{
  const THNNPadding &p = call->padding;
  const int leading = input->nDimension - call->nDimension;
  int64_t size[5];
  for (int i = 0; i < input->nDimension; i++)
    size[i] = i < leading ? input->size[i] : p.output[3 - call->nDimension + i - leading];

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, input->nDimension, size);
  THC_planAcquire(&plan);
  choosePadded(call, [&](auto dimensions, auto index) {
    constexpr int number = decltype(dimensions)::value;
    typedef decltype(index) Index;
    const Forward<number, Index> forward = {Padded<number, Index>(p), THC_pointer<const real>(in),
                                            call->value};
    THC_apply(&plan, "padding", p.planes * volumeOf(p.output), forward, THC_pointer<real>(out));
  });
  THC_planRelease(&plan);
}

void THCUNN_(padding_updateGradInput)(const THCPaddingCall *call, THNNShape input,
                                      THCTensor *gradOutput, int position, THCTensor *gradInput)
{
  const THNNPadding &p = call->padding;
  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, position);
  const THNNBuffer *to = THC_planOut(&plan, gradInput, position + 1, input.nDimension, input.size);
  THC_planAcquire(&plan);
  choosePadded(call, [&](auto dimensions, auto index) {
    constexpr int number = decltype(dimensions)::value;
    typedef decltype(index) Index;
    const Backward<number, Index> backward = {Padded<number, Index>(p),
                                              THC_pointer<const real>(from)};
    THC_apply(&plan, "padding backward", p.planes * volumeOf(p.input), backward,
              THC_pointer<real>(to));
  });
  THC_planRelease(&plan);
}
