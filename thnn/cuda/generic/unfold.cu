#include "unfold.cuh"

namespace
{

/* The geometry in the kernel's index type. Arrays are depth, height, width. */
template <typename Index> struct Window {
  Index image[3], map[3], kernel[3], stride[3], pad[3], dilation[3];
  Index tapStep[3], mapStep[3]; /* from a tap that sees an image position to the next that does */
};

int64_t greatestDivisor(int64_t a, int64_t b)
{
  return b == 0 ? a : greatestDivisor(b, a % b);
}

template <typename Index> Window<Index> windowOf(const THNNConvolution *geometry)
{
  Window<Index> window;
  for (int d = 0; d < 3; d++) {
    const int64_t divisor = greatestDivisor(geometry->stride[d], geometry->dilation[d]);
    window.image[d] = (Index)geometry->input[d];
    window.map[d] = (Index)geometry->output[d];
    window.kernel[d] = (Index)geometry->kernel[d];
    window.stride[d] = (Index)geometry->stride[d];
    window.pad[d] = (Index)geometry->pad[d];
    window.dilation[d] = (Index)geometry->dilation[d];
    window.tapStep[d] = (Index)(geometry->stride[d] / divisor);
    window.mapStep[d] = (Index)(geometry->dilation[d] / divisor);
  }
  return window;
}

/* A position in depth, height, width, and the plane and image around it. */
template <typename Index> struct Place {
  Index at[3], plane, image;
};

/* Splits an index that counts images, planes, then positions of `size`. */
template <int dimensions, typename Index>
__device__ Place<Index> placeOf(Index index, const Index *size, Index planes)
{
  Place<Index> place;
  place.at[0] = 0;
  for (int d = 2; d >= 3 - dimensions; d--) {
    place.at[d] = index % size[d];
    index /= size[d];
  }
  place.plane = index % planes;
  place.image = index / planes;
  return place;
}

template <typename Index> __device__ Index flat(const Index *at, const Index *size)
{
  return (at[0] * size[1] + at[1]) * size[2] + at[2];
}

template <typename Index> __device__ bool isInside(Index at, Index size)
{
  return at >= 0 && at < size;
}

/* One thread per image, plane and map position: it goes through the taps. */
template <int dimensions, typename Index, typename T>
__global__ void __launch_bounds__(THC_THREADS)
    unfoldKernel(Index count, Window<Index> window, Planes<const T> images, Columns<T> columns)
{
  THC_FOR_ELEMENTS(Index, i, count)
  {
    const Place<Index> place = placeOf<dimensions>(i, window.map, (Index)images.count);
    const Index volume = window.image[0] * window.image[1] * window.image[2];
    const Index taps = window.kernel[0] * window.kernel[1] * window.kernel[2];
    const T *from = images.data + place.image * images.imageStride + place.plane * volume;
    T *to = columns.data + place.image * columns.imageStride +
            (int64_t)place.plane * taps * columns.rowStride + flat(place.at, window.map);
    Index first[3];
    for (int d = 0; d < 3; d++)
      first[d] = place.at[d] * window.stride[d] - window.pad[d];

    const Index depth = dimensions == 3 ? window.kernel[0] : 1;
    for (Index tz = 0; tz < depth; tz++) {
      const Index z = first[0] + tz * window.dilation[0];
      for (Index ty = 0; ty < window.kernel[1]; ty++) {
        const Index y = first[1] + ty * window.dilation[1];
        const bool rowInside = isInside(z, window.image[0]) && isInside(y, window.image[1]);
        for (Index tx = 0; tx < window.kernel[2]; tx++) {
          const Index x = first[2] + tx * window.dilation[2];
          const Index at[3] = {z, y, x};
          *to = rowInside && isInside(x, window.image[2]) ? from[flat(at, window.image)] : T(0);
          to += columns.rowStride;
        }
      }
    }
  }
}

/* The taps of one dimension that see an image position: tap, tap + tapStep, … at map positions map,
 * map - mapStep, … */
template <typename Index> struct Walk {
  Index tap, map;
};

template <typename Index>
__device__ Walk<Index> walkFrom(const Window<Index> &window, int d, Index position)
{
  const Index padded = position + window.pad[d];
  for (Index tap = 0; tap < window.tapStep[d]; tap++) {
    const Index seen = padded - tap * window.dilation[d];
    if (seen % window.stride[d] == 0)
      return {tap, seen / window.stride[d]};
  }
  return {window.kernel[d], 0};
}

template <typename Index>
__device__ bool walks(const Window<Index> &window, int d, const Walk<Index> &walk)
{
  return walk.tap < window.kernel[d] && walk.map >= 0;
}

template <typename Index>
__device__ void step(const Window<Index> &window, int d, Walk<Index> *walk)
{
  walk->tap += window.tapStep[d];
  walk->map -= window.mapStep[d];
}

/* One thread per image element, which gathers what the taps saw of it: no atomics, and always in
 * the same order. */
template <int dimensions, typename Index, typename T>
__global__ void __launch_bounds__(THC_THREADS)
    foldKernel(Index count, Window<Index> window, Columns<const T> columns, const T *bias,
               Planes<T> images)
{
  THC_FOR_ELEMENTS(Index, i, count)
  {
    const Place<Index> place = placeOf<dimensions>(i, window.image, (Index)images.count);
    const Index volume = window.image[0] * window.image[1] * window.image[2];
    const Index taps = window.kernel[0] * window.kernel[1] * window.kernel[2];
    const T *from = columns.data + place.image * columns.imageStride +
                    (int64_t)place.plane * taps * columns.rowStride;
    const Walk<Index> firstY = walkFrom(window, 1, place.at[1]);
    const Walk<Index> firstX = walkFrom(window, 2, place.at[2]);
    T sum = bias ? bias[place.plane] : T(0);
    Walk<Index> z = {0, 0};
    if (dimensions == 3)
      z = walkFrom(window, 0, place.at[0]);
    for (; walks(window, 0, z); step(window, 0, &z)) {
      for (Walk<Index> y = firstY; walks(window, 1, y); step(window, 1, &y)) {
        const bool rowInside = z.map < window.map[0] && y.map < window.map[1];
        for (Walk<Index> x = firstX; rowInside && walks(window, 2, x); step(window, 2, &x)) {
          const Index tap[3] = {z.tap, y.tap, x.tap}, at[3] = {z.map, y.map, x.map};
          if (x.map < window.map[2])
            sum += from[flat(tap, window.kernel) * columns.rowStride + flat(at, window.map)];
        }
      }
    }
    images.data[place.image * images.imageStride + place.plane * volume +
                flat(place.at, window.image)] = sum;
  }
}

/* Whether every number that the kernels compute fits a 32-bit index. */
bool isSmall(const THNNConvolution *geometry, int64_t images, int64_t planes)
{
  const int64_t image = volumeOf(geometry->input), map = volumeOf(geometry->output);
  bool small = THC_fitsIndex(images * planes * image) && THC_fitsIndex(images * planes * map);
  for (int d = 0; d < 3; d++) {
    const int64_t reach = geometry->kernel[d] * geometry->dilation[d];
    const int64_t pad = geometry->pad[d] < 0 ? -geometry->pad[d] : geometry->pad[d];
    small = small && THC_fitsIndex(geometry->output[d] * geometry->stride[d] + reach + pad) &&
            THC_fitsIndex(geometry->input[d] + reach + pad);
  }
  return small;
}

bool isFlat(const THNNConvolution *geometry)
{
  return geometry->input[0] == 1 && geometry->output[0] == 1 && geometry->kernel[0] == 1 &&
         geometry->pad[0] == 0;
}

template <int dimensions, typename Index>
void launchUnfold(THCPlan *plan, const THNNConvolution *geometry, Planes<const real> images,
                  Columns<real> columns)
{
  const int64_t count = images.images * images.count * volumeOf(geometry->output);
  THC_LAUNCH_ELEMENTS(plan, (unfoldKernel<dimensions, Index, real>), count, count,
                      windowOf<Index>(geometry), images, columns);
}

template <int dimensions, typename Index>
void launchFold(THCPlan *plan, const THNNConvolution *geometry, Columns<const real> columns,
                const real *bias, Planes<real> images)
{
  const int64_t count = images.images * images.count * volumeOf(geometry->input);
  THC_LAUNCH_ELEMENTS(plan, (foldKernel<dimensions, Index, real>), count, count,
                      windowOf<Index>(geometry), columns, bias, images);
}

} // namespace

void THCUNN_(unfold)(THCPlan *plan, const THNNConvolution *geometry, Planes<const real> images,
                     Columns<real> columns)
{
  const bool small = isSmall(geometry, images.images, images.count);
  if (small && isFlat(geometry))
    launchUnfold<2, int>(plan, geometry, images, columns);
  else if (small)
    launchUnfold<3, int>(plan, geometry, images, columns);
  else
    launchUnfold<3, int64_t>(plan, geometry, images, columns);
}

void THCUNN_(fold)(THCPlan *plan, const THNNConvolution *geometry, Columns<const real> columns,
                   const real *bias, Planes<real> images)
{
  const bool small = isSmall(geometry, images.images, images.count);
  if (small && isFlat(geometry))
    launchFold<2, int>(plan, geometry, columns, bias, images);
  else if (small)
    launchFold<3, int>(plan, geometry, columns, bias, images);
  else
    launchFold<3, int64_t>(plan, geometry, columns, bias, images);
}
