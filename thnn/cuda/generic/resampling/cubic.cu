#include "cuda/generic/resampling/cubic.cuh"

#include "cuda/generic/shared/windows.cuh"

namespace
{

constexpr int TAPS = 4;

/* The weight of an element at a distance from 0 on (Keys, 1981). */
__device__ double cubicWeight(double distance)
{
  const double a = -3 / (double)4, d = distance;
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* The elements that an output index is a sum of, and their weights. */
template <typename Index> struct Around {
  Index place[TAPS];
  real weight[TAPS];
};

/* The resampling along one dimension. */
template <typename Index> struct Axis {
  Index input, output;
  double inverse; /* output indices per input index; 0 where all outputs are at one index */
  double step, start;

  Axis(const THNNResampling &r, int d)
      : input((Index)r.input[d]), output((Index)r.output[d]), inverse(0), step(r.steps.step[d]),
        start(r.steps.start[d])
  {
    if (step > 0)
      inverse = 1 / step;
  }

  __device__ Around<Index> at(Index position) const
  {
    const double at = start + position * step, before = floor(at), last = input - 1;
    Around<Index> around;
    for (int k = 0; k < TAPS; k++) {
      const double index = before + (k - 1);
      around.place[k] = (Index)(index > last ? last : index > 0 ? index : 0);
      around.weight[k] = real(cubicWeight(fabs(at - before - (k - 1))));
    }
    return around;
  }

  /* The weight of an input index in an output index. */
  __device__ real weight(Index position, Index index) const
  {
    const Around<Index> around = at(position);
    real sum = 0;
    for (int k = 0; k < TAPS; k++)
      if (around.place[k] == index)
        sum += around.weight[k];
    return sum;
  }

  /* Output indices [first, end), outside of which an input index has no weight. */
  __device__ void span(Index index, Index *first, Index *end) const
  {
    Index low = 0, high = output;
    if (inverse > 0) {
      const double from = ((double)(index - 2) - start) * inverse - 1;
      const double to = ((double)(index + 2) - start) * inverse + 2;
      low = from > 0 && index > 0 ? (from < output ? (Index)from : output) : 0;
      high = to < output && index < input - 1 ? (to > 0 ? (Index)to : 0) : output;
    }
    *first = low;
    *end = high;
  }
};

/* The resampling along depth, height and width. */
template <typename Index> struct Axes {
  Axis<Index> axis[3];
  Box<Index> image, map;

  explicit Axes(const THNNResampling &r)
      : axis{Axis<Index>(r, 0), Axis<Index>(r, 1), Axis<Index>(r, 2)}, image(r.input), map(r.output)
  {
  }
};

template <typename Index> struct Forward {
  Axes<Index> axes;
  const real *input;

  __device__ void operator()(int64_t i, real &output) const
  {
    const Box<Index> &image = axes.image;
    const Place<Index> place = placeOf<3>((Index)i, axes.map);
    const real *plane = input + place.plane * image.volume();
    Around<Index> around[3];
    for (int d = 0; d < 3; d++)
      around[d] = axes.axis[d].at(place.at[d]);
    accreal sum = 0;
    for (int z = 0; z < TAPS; z++)
      for (int y = 0; y < TAPS; y++) {
        const real share = around[0].weight[z] * around[1].weight[y];
        if (share == 0)
          continue;
        const Index row = around[0].place[z] * image.size[1] + around[1].place[y];
        accreal rowSum = 0;
        for (int x = 0; x < TAPS; x++)
          rowSum += around[2].weight[x] * plane[row * image.size[2] + around[2].place[x]];
        sum += share * rowSum;
      }
    output = real(sum);
  }
};

template <typename Index> struct Backward {
  Axes<Index> axes;
  const real *gradOutput;

  __device__ void operator()(int64_t i, real &gradInput) const
  {
    const Box<Index> &map = axes.map;
    const Place<Index> place = placeOf<3>((Index)i, axes.image);
    const real *plane = gradOutput + place.plane * map.volume();
    Index first[3], end[3], at[3];
    for (int d = 0; d < 3; d++)
      axes.axis[d].span(place.at[d], &first[d], &end[d]);
    accreal sum = 0;
    for (at[0] = first[0]; at[0] < end[0]; at[0]++) {
      const real z = axes.axis[0].weight(at[0], place.at[0]);
      for (at[1] = first[1]; at[1] < end[1]; at[1]++) {
        const real share = z * axes.axis[1].weight(at[1], place.at[1]);
        if (share == 0)
          continue;
        accreal rowSum = 0;
        for (at[2] = first[2]; at[2] < end[2]; at[2]++)
          rowSum += axes.axis[2].weight(at[2], place.at[2]) * plane[map.flat(at)];
        sum += share * rowSum;
      }
    }
    gradInput = real(sum);
  }
};

/* Computes a result of this size from a tensor: `of` takes the axes and the tensor's elements. */
template <template <typename> class Of>
void compute(const THCResamplingCall *call, const char *name, const int64_t *size, THCTensor *given,
             THCTensor *result)
{
  const THNNResampling &r = call->resampling;
  const int64_t planes = r.batch * r.planes, elements = planes * volumeOf(size);
  const int64_t whole[] = {r.batch, r.planes, size[0], size[1], size[2]};
  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *from = THC_planIn(&plan, given, 2);
  const THNNBuffer *to = THC_planOut(&plan, result, 3, 5, whole);
  THC_planAcquire(&plan);
  if (THC_fitsIndex(planes * volumeOf(r.input)) && THC_fitsIndex(planes * volumeOf(r.output)))
    THC_apply(&plan, name, elements, Of<int32_t>{Axes<int32_t>(r), THC_pointer<const real>(from)},
              THC_pointer<real>(to));
  else
    THC_apply(&plan, name, elements, Of<int64_t>{Axes<int64_t>(r), THC_pointer<const real>(from)},
              THC_pointer<real>(to));
  THC_planRelease(&plan);
}

} // namespace

void THCUNN_(cubic_updateOutput)(const THCResamplingCall *call, THCTensor *input, THCTensor *output)
{
  compute<Forward>(call, "cubic convolution", call->resampling.output, input, output);
}

void THCUNN_(cubic_updateGradInput)(const THCResamplingCall *call, THCTensor *gradOutput,
                                    THCTensor *gradInput)
{
  compute<Backward>(call, "cubic convolution backward", call->resampling.input, gradOutput,
                    gradInput);
}
