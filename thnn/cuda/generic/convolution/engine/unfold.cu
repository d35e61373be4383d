#include "cuda/generic/convolution/engine/unfold.cuh"

namespace
{

/* An image of a call, and a plane's number among the planes of that image which the call works
 * on. */
template <typename Index> struct PlaneOf {
  Index plane, image;
};

template <typename Index>
__device__ PlaneOf<Index> planeOf(Index number, const Divisor<Index> &planes)
{
  const Index image = quotient(number, planes);
  return {number - image * (Index)planes.value, image};
}

template <typename Index> __device__ Index tapsOf(const Windows<Index> &windows)
{
  return windows.kernel[0] * windows.kernel[1] * windows.kernel[2];
}

/* A thread copies what all taps see at one map position of one plane. */
template <int dimensions, typename Index, typename T>
__global__ void __launch_bounds__(THC_THREADS)
    unfoldKernel(Index count, Windows<Index> windows, Divisor<Index> planes, Planes<const T> images,
                 Columns<T> columns)
{
  THC_FOR_ELEMENTS(Index, i, count)
  {
    const Place<Index> place = placeOf<dimensions>(i, windows.map);
    const PlaneOf<Index> of = planeOf(place.plane, planes);
    const T *from = images.data + of.image * images.imageStride + of.plane * windows.image.volume();
    T *to = columns.data + of.image * columns.imageStride +
            (int64_t)of.plane * tapsOf(windows) * columns.rowStride +
            windows.map.flat(place.at) * columns.positionStride;
    const Index depth = dimensions == 3 ? windows.kernel[0] : 1;
    for (Index tz = 0; tz < depth; tz++) {
      const Index z = windows.start(0, place.at[0]) + tz * windows.dilation[0];
      for (Index ty = 0; ty < windows.kernel[1]; ty++) {
        const Index y = windows.start(1, place.at[1]) + ty * windows.dilation[1];
        const bool rowInside = windows.image.contains(0, z) && windows.image.contains(1, y);
        for (Index tx = 0; tx < windows.kernel[2]; tx++) {
          const Index x = windows.start(2, place.at[2]) + tx * windows.dilation[2];
          const Index at[3] = {z, y, x};
          *to = rowInside && windows.image.contains(2, x) ? from[windows.image.flat(at)] : T(0);
          to += columns.rowStride;
        }
      }
    }
  }
}

/* A thread sums what the taps saw of one image element: without atomics, and in a fixed order. */
template <int dimensions, typename Index, typename T>
__global__ void __launch_bounds__(THC_THREADS)
    foldKernel(Index count, Windows<Index> windows, Divisor<Index> planes, Columns<const T> columns,
               const T *bias, Planes<T> images, bool add)
{
  THC_FOR_ELEMENTS(Index, i, count)
  {
    const Place<Index> place = placeOf<dimensions>(i, windows.image);
    const PlaneOf<Index> of = planeOf(place.plane, planes);
    const T *from = columns.data + of.image * columns.imageStride +
                    (int64_t)of.plane * tapsOf(windows) * columns.rowStride;
    T *to = images.data + of.image * images.imageStride + of.plane * windows.image.volume() +
            windows.image.flat(place.at);
    T sum = add ? *to : T(0);
    if (bias)
      sum += bias[of.plane];
    seeAll<dimensions>(windows, place.at, [&](const Index *tap, const Index *map) {
      const Index row = (tap[0] * windows.kernel[1] + tap[1]) * windows.kernel[2] + tap[2];
      sum += from[row * columns.rowStride + windows.map.flat(map) * columns.positionStride];
    });
    *to = sum;
  }
}

} // namespace

void THCUNN_(unfold_toColumns)(THCPlan *plan, const THNNConvolution *geometry,
                               Planes<const real> images, Columns<real> columns)
{
  const int64_t planes = images.images * images.count, count = planes * volumeOf(geometry->output);
  chooseKernel(*geometry, planes, [&](auto dimensions, auto index) {
    typedef decltype(index) Index;
    THC_LAUNCH_ELEMENTS(plan, (unfoldKernel<decltype(dimensions)::value, Index, real>), count,
                        count, Windows<Index>(*geometry), Divisor<Index>(images.count), images,
                        columns);
  });
}

void THCUNN_(unfold_toImage)(THCPlan *plan, const THNNConvolution *geometry,
                             Columns<const real> columns, const real *bias, Planes<real> images,
                             bool add)
{
  const int64_t planes = images.images * images.count, count = planes * volumeOf(geometry->input);
  chooseKernel(*geometry, planes, [&](auto dimensions, auto index) {
    typedef decltype(index) Index;
    THC_LAUNCH_ELEMENTS(plan, (foldKernel<decltype(dimensions)::value, Index, real>), count, count,
                        Windows<Index>(*geometry), Divisor<Index>(images.count), columns, bias,
                        images, add);
  });
}
