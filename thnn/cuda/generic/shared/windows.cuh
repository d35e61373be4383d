/* Windows that slide over planes, on the device: which element a tap of a window sees, and which
 * windows see an element. The geometry is THNNConvolution's: windows slide over the image, and each
 * is one position of the map.
 *
 * Kernels are compiled for two dimensions (the depths are 1) and for three, with 32-bit and with
 * 64-bit indices. Indices are signed (int, int64_t), since windows can begin outside the image. */
#ifndef THCUNN_WINDOWS_CUH
#define THCUNN_WINDOWS_CUH

#include <type_traits>

#include "geometry/convolution.h"
#include "cuda/THC/THCDivision.cuh"

namespace
{

template <typename Index>
using Divisor = THCDivisor<std::conditional_t<sizeof(Index) == 4, uint32_t, int64_t>>;

/* i / divisor, where i is not negative. */
template <typename Index> __device__ Index quotient(Index i, const Divisor<Index> &divisor)
{
  return (Index)divisor.quotient((decltype(divisor.value))i);
}

/* Depth times height times width. */
inline int64_t volumeOf(const int64_t *size)
{
  return size[0] * size[1] * size[2];
}

/* Indices [begin, end) along one dimension. */
template <typename Index> struct Range {
  Index begin, end;
};

/* The sizes of a plane: depth, height, width. */
template <typename Index> struct Box {
  Index size[3];
  Divisor<Index> divisor[3];

  explicit Box(const int64_t *sizes)
      : size{(Index)sizes[0], (Index)sizes[1], (Index)sizes[2]},
        divisor{Divisor<Index>(sizes[0]), Divisor<Index>(sizes[1]), Divisor<Index>(sizes[2])}
  {
  }
  __device__ Index volume() const { return size[0] * size[1] * size[2]; }
  __device__ Index flat(const Index *at) const
  {
    return (at[0] * size[1] + at[1]) * size[2] + at[2];
  }
  __device__ bool contains(int dimension, Index at) const
  {
    return at >= 0 && at < size[dimension];
  }
};

/* A position (depth, height, width) in a plane, and the plane's number, counted over the batch. */
template <typename Index> struct Place {
  Index at[3], plane;
};

/* The place of element `index` of planes with the sizes of `box`. */
template <int dimensions, typename Index>
__device__ Place<Index> placeOf(Index index, const Box<Index> &box)
{
  Place<Index> place;
  place.at[0] = 0;
  THC_UNROLL
  for (int d = 2; d >= 3 - dimensions; d--) {
    const Index rest = quotient(index, box.divisor[d]);
    place.at[d] = index - rest * box.size[d];
    index = rest;
  }
  place.plane = index;
  return place;
}

/* Elements of a row that a thread loads before it looks at them: one load at a time does not fill
 * the memory bus. */
constexpr int LOADED_AT_ONCE = 4;

template <typename Index> struct Windows {
  Box<Index> image, map;
  Index kernel[3], stride[3], pad[3], dilation[3];
  Index tapStep[3], mapStep[3]; /* steps between the taps that see an image position */
  Divisor<Index> byStride[3];

  explicit Windows(const THNNConvolution &geometry);

  /* The image position under tap 0 of a window; it can be outside. */
  __device__ Index start(int d, Index position) const { return position * stride[d] - pad[d]; }
};

inline int64_t greatestDivisor(int64_t a, int64_t b)
{
  return b == 0 ? a : greatestDivisor(b, a % b);
}

template <typename Index>
Windows<Index>::Windows(const THNNConvolution &geometry)
    : image(geometry.input), map(geometry.output),
      byStride{Divisor<Index>(geometry.stride[0]), Divisor<Index>(geometry.stride[1]),
               Divisor<Index>(geometry.stride[2])}
{
  for (int d = 0; d < 3; d++) {
    const int64_t divisor = greatestDivisor(geometry.stride[d], geometry.dilation[d]);
    kernel[d] = (Index)geometry.kernel[d];
    stride[d] = (Index)geometry.stride[d];
    pad[d] = (Index)geometry.pad[d];
    dilation[d] = (Index)geometry.dilation[d];
    tapStep[d] = (Index)(geometry.stride[d] / divisor);
    mapStep[d] = (Index)(geometry.dilation[d] / divisor);
  }
}

/* A walk over the taps that see an image position along one dimension: tap, tap + tapStep, … of the
 * windows map, map - mapStep, … */
template <typename Index> struct Walk {
  Index tap, map;
};

template <typename Index>
__device__ Walk<Index> walkFrom(const Windows<Index> &windows, int d, Index position)
{
  const Index padded = position + windows.pad[d];
  for (Index tap = 0; tap < windows.tapStep[d]; tap++) {
    const Index seen = padded - tap * windows.dilation[d];
    if (seen < 0)
      break;
    const Index map = quotient(seen, windows.byStride[d]), rest = seen - map * windows.stride[d];
    if (rest == 0)
      return {tap, map};
    if (windows.dilation[d] == 1) /* the tap `rest` further on sees the position */
      return {tap + rest, map};
  }
  return {windows.kernel[d], 0};
}

template <typename Index>
__device__ bool walks(const Windows<Index> &windows, int d, const Walk<Index> &walk)
{
  return walk.tap < windows.kernel[d] && walk.map >= 0;
}

template <typename Index>
__device__ void step(const Windows<Index> &windows, int d, Walk<Index> *walk)
{
  walk->tap += windows.tapStep[d];
  walk->map -= windows.mapStep[d];
}

/* Calls see(tap, map) for all pairs of a tap and a window that see an image position; both are
 * (depth, height, width). */
template <int dimensions, typename Index, typename See>
__device__ void seeAll(const Windows<Index> &windows, const Index *at, See see)
{
  const Walk<Index> firstY = walkFrom(windows, 1, at[1]), firstX = walkFrom(windows, 2, at[2]);
  Walk<Index> z = {0, 0};
  if (dimensions == 3)
    z = walkFrom(windows, 0, at[0]);
  for (; walks(windows, 0, z); step(windows, 0, &z))
    for (Walk<Index> y = firstY; walks(windows, 1, y); step(windows, 1, &y)) {
      const bool inside = z.map < windows.map.size[0] && y.map < windows.map.size[1];
      for (Walk<Index> x = firstX; inside && walks(windows, 2, x); step(windows, 2, &x)) {
        const Index tap[3] = {z.tap, y.tap, x.tap}, map[3] = {z.map, y.map, x.map};
        if (x.map < windows.map.size[2])
          see(tap, map);
      }
    }
}

/* Whether every number that kernels compute for `planes` planes fits into a 32-bit index. */
inline bool fitsWindows(const THNNConvolution &geometry, int64_t planes)
{
  const int64_t image = volumeOf(geometry.input), map = volumeOf(geometry.output);
  bool small = THC_fitsIndex(planes * image) && THC_fitsIndex(planes * map);
  for (int d = 0; d < 3; d++) {
    const int64_t reach = geometry.kernel[d] * geometry.dilation[d];
    const int64_t pad = geometry.pad[d] < 0 ? -geometry.pad[d] : geometry.pad[d];
    small = small && THC_fitsIndex(geometry.output[d] * geometry.stride[d] + reach + pad) &&
            THC_fitsIndex(geometry.input[d] + reach + pad);
  }
  return small;
}

inline bool isFlat(const THNNConvolution &geometry)
{
  return geometry.input[0] == 1 && geometry.output[0] == 1 && geometry.kernel[0] == 1 &&
         geometry.pad[0] == 0;
}

/* The number of a kernel's dimensions, as a type. */
template <int value> using Dimensions = std::integral_constant<int, value>;

/* Calls launch(Dimensions<d>(), Index()) with the fewest dimensions and the narrowest index type
 * that suffice: where indices are small, and where planes are flat. */
template <typename Launch> void chooseKernel(bool small, bool flat, Launch launch)
{
  if (small && flat)
    launch(Dimensions<2>(), int());
  else if (small)
    launch(Dimensions<3>(), int());
  else
    launch(Dimensions<3>(), int64_t());
}

template <typename Launch>
void chooseKernel(const THNNConvolution &geometry, int64_t planes, Launch launch)
{
  chooseKernel(fitsWindows(geometry, planes), isFlat(geometry), launch);
}

} // namespace

#endif
