#include "cuda/generic/resampling/linear.cuh"

#include "cuda/generic/shared/windows.cuh"
#include "geometry/resampling.h"

namespace
{

/* The place of an output index: at `share` of the way from one input index to the next. */
template <typename Index> struct Between {
  Index before, after;
  real share;
};

/* The resampling along one dimension. */
template <typename Index> struct Axis {
  Index input, output;
  float ratio;    /* input indices per output index */
  double inverse; /* output indices per input index; 0 where all outputs are at one index */
  Index margin;   /* an upper bound of the shift of an output index by rounding */
  bool hasSteps, isWhole;
  double step, start;

  Axis(const THNNResampling &r, int d)
      : input((Index)r.input[d]), output((Index)r.output[d]), ratio(0), inverse(0),
        margin((Index)(2 + (r.output[d] >> 22))), hasSteps(r.hasSteps),
        isWhole(hasSteps && r.steps.isWhole), step(r.steps.step[d]),
        start(hasSteps ? r.steps.start[d] : 0)
  {
    if (output > 1)
      ratio = (float)(input - 1) / (float)(output - 1);
    const double perOutput = hasSteps ? step : ratio;
    if (perOutput > 0)
      inverse = 1 / perOutput;
  }

  /* Without steps, positions are computed in single precision for every real type, as in the
   * original, and the product is rounded before the subtraction (no fused multiply-add), as on the
   * CPU. */
  __device__ double placeOf(Index position) const
  {
    if (!hasSteps)
      return __fmul_rn(ratio, (float)position);
    const double at = start + position * step, last = input - 1;
    const double inside = at > last ? last : at > 0 ? at : 0;
    return isWhole ? floor(inside) : inside;
  }

  __device__ Between<Index> at(Index position) const
  {
    const double at = placeOf(position);
    Between<Index> between;
    between.before = (Index)at < input - 1 ? (Index)at : input - 1;
    between.after = between.before < input - 1 ? between.before + 1 : between.before;
    between.share = real(at - (double)between.before);
    return between;
  }

  /* The weight of an input index in an output index. */
  __device__ real weight(Index position, Index index) const
  {
    const Between<Index> between = at(position);
    return (between.before == index ? 1 - between.share : real(0)) +
           (between.after == index ? between.share : real(0));
  }

  /* The output indices [first, end) in which an input index has a weight. */
  __device__ void span(Index index, Index *first, Index *end) const
  {
    Index low = 0, high = output;
    if (inverse > 0) {
      const double from = ((double)(index - 1) - start) * inverse - margin;
      const double to = ((double)(index + 1) - start) * inverse + margin + 1;
      low = from > 0 && index > 0 ? (from < output ? (Index)from : output) : 0;
      high = to < output && index < input - 1 ? (to > 0 ? (Index)to : 0) : output;
      while (low < high && weight(low, index) == 0)
        low++;
      while (high > low && weight(high - 1, index) == 0)
        high--;
    }
    *first = low;
    *end = high;
  }
};

/* The resampling along depth, height and width. */
template <int dimensions, typename Index> struct Axes {
  Axis<Index> axis[3];
  Box<Index> image, map;

  explicit Axes(const THNNResampling &r)
      : axis{Axis<Index>(r, 0), Axis<Index>(r, 1), Axis<Index>(r, 2)}, image(r.input), map(r.output)
  {
  }

  __device__ real alongRow(const real *row, const Between<Index> &x) const
  {
    return x.share == 0 ? row[x.before] : (1 - x.share) * row[x.before] + x.share * row[x.after];
  }
  __device__ real inSlice(const real *slice, const Between<Index> &y, const Between<Index> &x) const
  {
    const Index width = image.size[2];
    if (y.share == 0)
      return alongRow(slice + y.before * width, x);
    return (1 - y.share) * alongRow(slice + y.before * width, x) +
           y.share * alongRow(slice + y.after * width, x);
  }
};

template <int dimensions, typename Index> struct Forward {
  Axes<dimensions, Index> axes;
  const real *input;

  __device__ void operator()(int64_t i, real &output) const
  {
    const Box<Index> &image = axes.image;
    const Place<Index> place = placeOf<dimensions>((Index)i, axes.map);
    const Between<Index> y = axes.axis[1].at(place.at[1]), x = axes.axis[2].at(place.at[2]);
    const real *plane = input + place.plane * image.volume();
    if (dimensions == 2) {
      output = axes.inSlice(plane, y, x);
      return;
    }
    const Between<Index> z = axes.axis[0].at(place.at[0]);
    const Index slice = image.size[1] * image.size[2];
    output = axes.inSlice(plane + z.before * slice, y, x);
    if (z.share == 0)
      return;
    output = (1 - z.share) * output + z.share * axes.inSlice(plane + z.after * slice, y, x);
  }
};

template <int dimensions, typename Index> struct Backward {
  Axes<dimensions, Index> axes;
  const real *gradOutput;

  __device__ void operator()(int64_t i, real &gradInput) const
  {
    const Box<Index> &map = axes.map;
    const Place<Index> place = placeOf<dimensions>((Index)i, axes.image);
    const real *plane = gradOutput + place.plane * map.volume();
    Index first[3] = {0, 0, 0}, end[3] = {1, 1, 1}, at[3];
    for (int d = 3 - dimensions; d < 3; d++)
      axes.axis[d].span(place.at[d], &first[d], &end[d]);
    accreal sum = 0;
    for (at[0] = first[0]; at[0] < end[0]; at[0]++) {
      const real z = dimensions == 3 ? axes.axis[0].weight(at[0], place.at[0]) : real(1);
      for (at[1] = first[1]; at[1] < end[1]; at[1]++) {
        const real y = axes.axis[1].weight(at[1], place.at[1]);
        accreal rowSum = 0;
        for (at[2] = first[2]; at[2] < end[2]; at[2]++)
          rowSum += axes.axis[2].weight(at[2], place.at[2]) * plane[map.flat(at)];
        sum += z * y * rowSum;
      }
    }
    gradInput = real(sum);
  }
};

/* chooseKernel for resampling. */
template <typename Launch> void chooseAxes(const THCResamplingCall *call, Launch launch)
{
  const THNNResampling &r = call->resampling;
  const int64_t planes = r.batch * r.planes;
  const bool small =
      THC_fitsIndex(planes * volumeOf(r.input)) && THC_fitsIndex(planes * volumeOf(r.output));
  chooseKernel(small, call->nDimension == 2, launch);
}

/* Sets `size` to batch x planes x the last nDimension sizes of `of`. */
void sizesOf(const THCResamplingCall *call, const int64_t *of, int64_t *size)
{
  size[0] = call->resampling.batch;
  size[1] = call->resampling.planes;
  for (int i = 0; i < call->nDimension; i++)
    size[2 + i] = of[3 - call->nDimension + i];
}

} // namespace

void THCUNN_(linear_updateOutput)(const THCResamplingCall *call, THCTensor *input,
                                  THCTensor *output)
{
  const THNNResampling &r = call->resampling;
  int64_t size[5];
  sizesOf(call, r.output, size);
  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, call->nDimension + 2, size);
  THC_planAcquire(&plan);
  chooseAxes(call, [&](auto dimensions, auto index) {
    constexpr int number = decltype(dimensions)::value;
    typedef decltype(index) Index;
    const Forward<number, Index> forward = {Axes<number, Index>(r), THC_pointer<const real>(in)};
    THC_apply(&plan, "linear upsampling", r.batch * r.planes * volumeOf(r.output), forward,
              THC_pointer<real>(out));
  });
  THC_planRelease(&plan);
}

void THCUNN_(linear_updateGradInput)(const THCResamplingCall *call, THCTensor *gradOutput,
                                     THCTensor *gradInput)
{
  const THNNResampling &r = call->resampling;
  int64_t size[5];
  sizesOf(call, r.input, size);
  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 2);
  const THNNBuffer *to = THC_planOut(&plan, gradInput, 3, call->nDimension + 2, size);
  THC_planAcquire(&plan);
  chooseAxes(call, [&](auto dimensions, auto index) {
    constexpr int number = decltype(dimensions)::value;
    typedef decltype(index) Index;
    const Backward<number, Index> backward = {Axes<number, Index>(r),
                                              THC_pointer<const real>(from)};
    THC_apply(&plan, "linear upsampling backward", r.batch * r.planes * volumeOf(r.input), backward,
              THC_pointer<real>(to));
  });
  THC_planRelease(&plan);
}
