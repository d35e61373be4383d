/* Sums over regular windows without dilation, and the transposed operation, for average pooling and
 * subsampling. */
#ifndef THCUNN_WINDOW_SUMS_CUH
#define THCUNN_WINDOW_SUMS_CUH

#include "cuda/generic/template.h"
#include "cuda/generic/shared/windows.cuh"

namespace
{

/* The windows of a geometry. Negative padding cuts the input on the right as well as on the left:
 * its elements from `edge` on are not summed. */
template <int dimensions, typename Index> struct SummedWindows {
  Windows<Index> windows;
  Index edge[3];

  explicit SummedWindows(const THNNConvolution &geometry) : windows(geometry)
  {
    for (int d = 0; d < 3; d++)
      edge[d] = windows.image.size[d] + (windows.pad[d] < 0 ? windows.pad[d] : 0);
  }

  /* The part of a window that is inside the input. */
  __device__ Range<Index> inside(int d, Index position) const
  {
    const Index start = windows.start(d, position), end = start + windows.kernel[d];
    return {start > 0 ? start : 0, end < edge[d] ? end : edge[d]};
  }

  /* The windows that cover an input position. */
  __device__ Range<Index> over(int d, Index position) const
  {
    const Index padded = position + windows.pad[d], before = padded - windows.kernel[d] + 1;
    const Index step = windows.stride[d] - 1, last = windows.map.size[d];
    if (padded < 0 || position >= edge[d])
      return {0, 0};
    const Index begin = before + step > 0 ? quotient(before + step, windows.byStride[d]) : 0;
    const Index end = quotient(padded, windows.byStride[d]) + 1;
    return {begin, end < last ? end : last};
  }

  /* The sum over a window of a plane of the input. */
  __device__ accreal sum(const Place<Index> &map, const real *plane) const
  {
    const Box<Index> &image = windows.image;
    const Range<Index> y = inside(1, map.at[1]), x = inside(2, map.at[2]);
    Range<Index> z = {0, 1};
    if (dimensions == 3)
      z = inside(0, map.at[0]);
    accreal sum = 0;
    for (Index atZ = z.begin; atZ < z.end; atZ++)
      for (Index atY = y.begin; atY < y.end; atY++) {
        const real *row = plane + (atZ * image.size[1] + atY) * image.size[2];
        for (Index atX = x.begin; atX < x.end; atX += LOADED_AT_ONCE) {
          real values[LOADED_AT_ONCE];
          THC_UNROLL
          for (int k = 0; k < LOADED_AT_ONCE; k++)
            values[k] = atX + k < x.end ? row[atX + k] : real(0);
          THC_UNROLL
          for (int k = 0; k < LOADED_AT_ONCE; k++)
            sum += values[k];
        }
      }
    return sum;
  }

  /* The sum, over the windows that cover an input element, of weight(map) times the window's
   * element in the output plane. */
  template <typename Weight>
  __device__ accreal spread(const Place<Index> &image, const real *plane, Weight weight) const
  {
    const Box<Index> &map = windows.map;
    const Range<Index> y = over(1, image.at[1]), x = over(2, image.at[2]);
    Range<Index> z = {0, 1};
    if (dimensions == 3)
      z = over(0, image.at[0]);
    accreal sum = 0;
    Index at[3];
    for (at[0] = z.begin; at[0] < z.end; at[0]++)
      for (at[1] = y.begin; at[1] < y.end; at[1]++)
        for (at[2] = x.begin; at[2] < x.end; at[2]++)
          sum += plane[map.flat(at)] * weight(at);
    return sum;
  }
};

} // namespace

#endif
