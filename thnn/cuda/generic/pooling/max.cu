#include "cuda/generic/pooling/max.cuh"

#include <limits>

#include "geometry/convolutionCheck.h"
#include "cuda/generic/pooling/indices.cuh"

namespace
{

/* ---- Forward -------------------------------------------------------------------------------- */

/* The first tap of a window that is inside the input; the number of taps if none is. */
template <typename Index>
__device__ Index firstTap(const Windows<Index> &windows, int d, Index position)
{
  Index tap = 0;
  while (tap < windows.kernel[d] &&
         !windows.image.contains(d, windows.start(d, position) + tap * windows.dilation[d]))
    tap++;
  return tap;
}

template <typename Index> __device__ int64_t packed(Index t, Index h, Index w)
{
  return (int64_t)t | (int64_t)h << 8 | (int64_t)w << 16;
}

/* Computes one output element, the greatest under the window, and its index: the first of
 * equals. */
template <THCNaming naming, int dimensions, typename Index> struct GreatestUnder {
  Windows<Index> windows;
  const real *input;
  real lowest; /* the value that an element must exceed */

  __device__ int64_t none(const Place<Index> &place) const
  {
    if (naming == THC_NAMED_BY_TAPS)
      return packed(firstTap(windows, 0, place.at[0]), firstTap(windows, 1, place.at[1]),
                    firstTap(windows, 2, place.at[2]));
    return naming == THC_NAMED_BY_NUMBER ? 0 : -1;
  }

  static __device__ int64_t nameOf(Index element, Index t, Index h, Index w)
  {
    return naming == THC_NAMED_BY_NUMBER ? element + 1
           : naming == THC_NAMED_BY_TAPS ? packed(t, h, w)
                                         : h;
  }

  __device__ void operator()(int64_t i, real &output, int64_t &index) const
  {
    const Place<Index> place = placeOf<dimensions>((Index)i, windows.map);
    const Box<Index> &image = windows.image;
    const real *plane = input + place.plane * image.volume();
    real best = lowest;
    int64_t found = -1;
    const Index depth = dimensions == 3 ? windows.kernel[0] : 1;
    for (Index t = 0; t < depth; t++) {
      const Index z = windows.start(0, place.at[0]) + t * windows.dilation[0];
      for (Index h = 0; h < windows.kernel[1]; h++) {
        const Index y = windows.start(1, place.at[1]) + h * windows.dilation[1];
        if (!image.contains(0, z) || !image.contains(1, y))
          continue;
        const Index row = (z * image.size[1] + y) * image.size[2];
        for (Index w = 0; w < windows.kernel[2]; w += LOADED_AT_ONCE) {
          const Index first = windows.start(2, place.at[2]) + w * windows.dilation[2];
          real values[LOADED_AT_ONCE];
          THC_UNROLL
          for (int k = 0; k < LOADED_AT_ONCE; k++) {
            const Index x = first + k * windows.dilation[2];
            const bool seen = w + k < windows.kernel[2] && image.contains(2, x);
            values[k] = seen ? plane[row + x] : lowest;
          }
          THC_UNROLL
          for (int k = 0; k < LOADED_AT_ONCE; k++)
            if (values[k] > best) {
              best = values[k];
              found = nameOf(row + first + k * windows.dilation[2], t, h, w + k);
            }
        }
      }
    }
    output = best;
    index = found >= 0 ? found : none(place);
  }
};

template <THCNaming naming>
void launchForward(THCPlan *plan, const THNNConvolution &geometry, const real *input, real *output,
                   int64_t *indices)
{
  const int64_t planes = geometry.batch * geometry.inputPlanes;
  chooseKernel(geometry, planes, [&](auto dimensions, auto index) {
    typedef decltype(index) Index;
    const GreatestUnder<naming, decltype(dimensions)::value, Index> function = {
        Windows<Index>(geometry), input, std::numeric_limits<real>::lowest()};
    THC_apply(plan, "max pooling", planes * volumeOf(geometry.output), function, output, indices);
  });
}

/* ---- Backward ------------------------------------------------------------------------------- */

/* A range of windows along one dimension: those that begin at an input position, or outside the
 * input where that position is the nearest. */
template <typename Index> struct Beginning {
  Index first, end;
};

template <typename Index>
__device__ Beginning<Index> windowsAt(const Windows<Index> &windows, int d, Index position)
{
  const Index padded = position + windows.pad[d], step = windows.stride[d] - 1;
  const Index last = windows.map.size[d], size = windows.image.size[d];
  Beginning<Index> range = {0, last};
  if (position > 0 && padded + step > 0)
    range.first = quotient(padded + step, windows.byStride[d]);
  if (position < size - 1)
    range.end = padded < 0 ? 0 : quotient(padded, windows.byStride[d]) + 1;
  range.end = range.end < last ? range.end : last;
  return range;
}

/* Computes one element of gradInput from the gradients of the windows that cover it and name it.
 * The thread of the element where a window begins also checks the window's index. Stray indices,
 * which name an element that the window does not cover, are left to searchStrays. */
template <int dimensions, typename Index, typename Names> struct GatherNamed {
  Names names;
  const real *gradOutput;
  const int64_t *indices;
  int *strays;
  THCIndexRange range;

  __device__ void check(const Place<Index> &map) const
  {
    const int64_t index =
        indices[map.plane * names.windows.map.volume() + names.windows.map.flat(map.at)];
    const Index element = names.element(map, index);
    if (element == BAD_ELEMENT)
      THC_reportIndex(index, range);
    else if (element != NO_ELEMENT && names.isStray(map, index))
      atomicOr(strays, 1);
  }

  __device__ void operator()(int64_t i, real &gradInput) const
  {
    const Windows<Index> &windows = names.windows;
    const Place<Index> place = placeOf<dimensions>((Index)i, windows.image);
    const Index firstMap = place.plane * windows.map.volume();
    const Index element = windows.image.flat(place.at);
    accreal sum = 0;
    seeAll<dimensions>(windows, place.at, [&](const Index *tap, const Index *map) {
      const Index from = firstMap + windows.map.flat(map);
      if (names.isTap(indices[from], tap, element))
        sum += gradOutput[from];
    });
    gradInput = real(sum);

    Beginning<Index> z = {0, 1};
    if (dimensions == 3)
      z = windowsAt(windows, 0, place.at[0]);
    const Beginning<Index> y = windowsAt(windows, 1, place.at[1]);
    const Beginning<Index> x = windowsAt(windows, 2, place.at[2]);
    Place<Index> map = {{}, place.plane};
    for (map.at[0] = z.first; map.at[0] < z.end; map.at[0]++)
      for (map.at[1] = y.first; map.at[1] < y.end; map.at[1]++)
        for (map.at[2] = x.first; map.at[2] < x.end; map.at[2]++)
          check(map);
  }
};

/* Computes gradInput again if there are stray indices, which no forward call produces: each element
 * searches its whole plane for indices that name it. */
template <typename Index, typename Names>
__global__ void __launch_bounds__(THC_THREADS)
    searchStrays(Index count, Names names, const real *gradOutput, const int64_t *indices,
                 const int *strays, real *gradInput)
{
  if (*strays == 0)
    return;
  const Index volume = names.windows.map.volume();
  THC_FOR_ELEMENTS(Index, i, count)
  {
    const Place<Index> place = placeOf<3>(i, names.windows.image);
    const Index element = names.windows.image.flat(place.at);
    accreal sum = 0;
    for (Index from = place.plane * volume; from < (place.plane + 1) * volume; from++)
      if (names.element(placeOf<3>(from, names.windows.map), indices[from]) == element)
        sum += gradOutput[from];
    gradInput[i] = real(sum);
  }
}

template <int dimensions, typename Index, typename Names>
void launchBackward(const THCMaxPoolingCall *call, const Names &names, const char *expected,
                    THCTensor *input, THCTensor *gradOutput, THCTensor *gradInput,
                    THCIndexTensor *indices)
{
  const THNNConvolution &geometry = call->geometry;
  const int64_t planes = geometry.batch * geometry.inputPlanes;
  checkNames<Index>(call->state, call->function, names, planes, indices, 5, expected);

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *index = THC_planIn(&plan, indices, 5);
  const THNNBuffer *strays = THC_planScratch(&plan, sizeof(int));
  THC_planAcquire(&plan);

  const int64_t count = planes * volumeOf(geometry.input);
  const GatherNamed<dimensions, Index, Names> gather = {
      names, THC_pointer<const real>(from), THC_pointer<const int64_t>(index),
      THC_pointer<int>(strays), THC_valueDomain(&plan, expected)};
  THC_note(&plan.failure, "cudaMemsetAsync",
           cudaMemsetAsync(strays->data, 0, sizeof(int), call->state->stream));
  THC_apply(&plan, "max pooling backward", count, gather, THC_pointer<real>(to));
  THC_LAUNCH_ELEMENTS(&plan, (searchStrays<Index, Names>), count, count, names, gather.gradOutput,
                      gather.indices, gather.strays, THC_pointer<real>(to));
  THC_planRelease(&plan);
}

} // namespace

/* ---- The functions of a module -------------------------------------------------------------- */

void THCUNN_(max_updateOutput)(const THCMaxPoolingCall *call, THCTensor *input, THCTensor *output,
                               THCIndexTensor *indices)
{
  const THNNConvolution &geometry = call->geometry;
  const bool batched = input->nDimension > call->nDimension;
  const int64_t frames[] = {geometry.batch, geometry.output[1], geometry.output[2]};
  int64_t size[5];
  int nDimension = 2 + batched;
  if (call->naming == THC_NAMED_BY_FRAME)
    for (int i = 0; i < nDimension; i++)
      size[i] = frames[i + !batched];
  else
    nDimension = THNN_convolutionSizes(&geometry, call->nDimension - 1, false, batched, size);

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *names = THC_planOut(&plan, indices, 4, nDimension, size);
  THC_planAcquire(&plan);

  const auto launch = call->naming == THC_NAMED_BY_NUMBER ? launchForward<THC_NAMED_BY_NUMBER>
                      : call->naming == THC_NAMED_BY_TAPS ? launchForward<THC_NAMED_BY_TAPS>
                                                          : launchForward<THC_NAMED_BY_FRAME>;
  launch(&plan, geometry, THC_pointer<const real>(in), THC_pointer<real>(out),
         THC_pointer<int64_t>(names));
  THC_planRelease(&plan);
}

void THCUNN_(max_updateGradInput)(const THCMaxPoolingCall *call, THCTensor *input,
                                  THCTensor *gradOutput, THCTensor *gradInput,
                                  THCIndexTensor *indices)
{
  const THNNConvolution &geometry = call->geometry;
  const int64_t planes = geometry.batch * geometry.inputPlanes;
  chooseKernel(geometry, planes, [&](auto dimensions, auto index) {
    typedef decltype(index) Index;
    constexpr int number = decltype(dimensions)::value;
    const Windows<Index> windows(geometry);
    if (call->naming == THC_NAMED_BY_NUMBER)
      launchBackward<number, Index>(call, NumberNames<Index>{windows, true},
                                    "numbers of elements of an input plane, from 1, or 0", input,
                                    gradOutput, gradInput, indices);
    else if (call->naming == THC_NAMED_BY_TAPS)
      launchBackward<number, Index>(call, TapNames<Index>{windows, true},
                                    "offsets in the windows that lie inside the input", input,
                                    gradOutput, gradInput, indices);
    else
      launchBackward<number, Index>(call, FrameNames<Index>{windows},
                                    "frames of the windows, from 0, inside the input, or -1", input,
                                    gradOutput, gradInput, indices);
  });
}
