/* Sums for each plane of a tensor, over batch and positions. A module provides what an element
 * contributes, and what is done with a plane's sum:
 *
 *   struct Term {
 *     typedef … Sum;
 *     __device__ Sum none() const;                                     the sum of no elements
 *     __device__ void add(Sum &sum, int64_t element, int64_t plane) const;
 *     __device__ Sum operator()(const Sum &a, const Sum &b) const;     the sum of both
 *   };
 *   struct Finish { __device__ void operator()(int64_t plane, const Sum &sum) const; };
 *
 * A first kernel sums segments of planes, a second one adds up the segments of each plane. The size
 * of segments does not depend on the device, and there are many even where planes are few. Where
 * planes have few positions, the threads of a warp take neighbouring columns of the matrix of batch
 * rows and planes * positions columns, so that they read neighbouring memory. */
#ifndef THCUNN_CHANNELWISE_CUH
#define THCUNN_CHANNELWISE_CUH

#include "cuda/THC/THCDivision.cuh"
#include "cuda/THC/THCReduce.cuh"
#include "cuda/generic/shared/segmentSums.cuh"
#include "cuda/generic/template.h"
#include "geometry/planes.h"

namespace
{

enum {
  CHANNEL_FEW_POSITIONS = 8,  /* planes with fewer positions are summed by columns */
  CHANNEL_COLUMNS = THC_WARP, /* columns that a block sums at a time */
  CHANNEL_ROWS = THC_THREADS / THC_WARP
};

const int64_t CHANNEL_ROW_SEGMENT = 256; /* rows that a block sums at a time */

/* How the work on batch x planes x positions is divided. */
struct Channels {
  THNNPlanes shape;
  bool byColumns;
  int64_t segment;  /* elements of a segment of a plane, or rows when byColumns */
  int64_t segments; /* number of segments of a plane, or of the rows */
  int64_t parts;    /* number of a plane's partial sums, which the second kernel adds up */
};

inline Channels channelsOf(const THNNPlanes &shape)
{
  Channels channels = {shape, shape.positions < CHANNEL_FEW_POSITIONS && shape.planes > 1, 0, 0, 0};
  const int64_t length = channels.byColumns ? shape.batch : shape.batch * shape.positions;
  channels.segment = channels.byColumns ? CHANNEL_ROW_SEGMENT : segmentLength(shape.planes, length);
  channels.segments = (length + channels.segment - 1) / channels.segment;
  channels.parts = channels.byColumns ? channels.segments * shape.positions : channels.segments;
  return channels;
}

template <typename Term> static int64_t channelScratchBytes(const Channels &channels)
{
  return channels.shape.planes * channels.parts * (int64_t)sizeof(typename Term::Sum);
}

/* partial[plane][segment] = the sum of a segment of a plane. */
template <typename Index, typename Term>
__global__ void __launch_bounds__(THC_THREADS)
    sumPlaneSegments(Index planes, Index segments, Index segment, Index length,
                     THCDivisor<Index> positions, Term term, typename Term::Sum *partial)
{
  typedef typename Term::Sum Sum;
  THC_SHARED(Sum, shared, [THC_THREADS]);
  for (Index task = blockIdx.x; task < planes * segments; task += gridDim.x) {
    const Index plane = task / segments, first = task % segments * segment;
    const Index last = first + segment < length ? first + segment : length;
    Sum sum = term.none();
    THC_UNROLL_LOADS
    for (Index i = first + threadIdx.x; i < last; i += THC_THREADS) {
      const THCSplit<Index> at = THC_divide(i, positions);
      term.add(sum, (at.quotient * planes + plane) * positions.value + at.remainder, plane);
    }
    sum = THC_blockCombine<THC_THREADS>(shared, sum, term);
    if (threadIdx.x == 0)
      partial[task] = sum;
  }
}

/* partial[plane][segment][position] = the sum of a column over a segment of rows. */
template <typename Index, typename Term>
__global__ void __launch_bounds__(THC_THREADS)
    sumColumnSegments(Index batch, Index columns, Index segments, Index positions, Term term,
                      typename Term::Sum *partial)
{
  typedef typename Term::Sum Sum;
  THC_SHARED(Sum, shared, [THC_THREADS]);
  const int lane = threadIdx.x % CHANNEL_COLUMNS, row = threadIdx.x / CHANNEL_COLUMNS;
  const Index strips = (columns + CHANNEL_COLUMNS - 1) / CHANNEL_COLUMNS;
  for (Index task = blockIdx.x; task < strips * segments; task += gridDim.x) {
    const Index column = task % strips * CHANNEL_COLUMNS + lane, segment = task / strips;
    const Index first = segment * CHANNEL_ROW_SEGMENT, plane = column / positions;
    const Index last = first + CHANNEL_ROW_SEGMENT < batch ? first + CHANNEL_ROW_SEGMENT : batch;
    Sum sum = term.none();
    if (column < columns) {
      THC_UNROLL_LOADS
      for (Index i = first + row; i < last; i += CHANNEL_ROWS)
        term.add(sum, i * columns + column, plane);
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    if (row == 0 && column < columns) {
      for (int r = 1; r < CHANNEL_ROWS; r++)
        sum = term(sum, shared[r * CHANNEL_COLUMNS + lane]);
      partial[(plane * segments + segment) * positions + column % positions] = sum;
    }
    __syncthreads();
  }
}

template <typename Term, typename Finish>
__global__ void __launch_bounds__(THC_THREADS)
    finishChannels(int64_t planes, int64_t parts, Term term, const typename Term::Sum *partial,
                   Finish finish)
{
  typedef typename Term::Sum Sum;
  THC_SHARED(Sum, shared, [THC_THREADS]);
  for (int64_t plane = blockIdx.x; plane < planes; plane += gridDim.x) {
    Sum sum = term.none();
    for (int64_t i = threadIdx.x; i < parts; i += THC_THREADS)
      sum = term(sum, partial[plane * parts + i]);
    sum = THC_blockCombine<THC_THREADS>(shared, sum, term);
    if (threadIdx.x == 0)
      finish(plane, sum);
  }
}

inline dim3 channelGrid(int64_t blocks)
{
  return dim3((unsigned)(blocks < THC_MOST_BLOCKS ? blocks : THC_MOST_BLOCKS));
}

/* Calls finish(plane, sum of its elements) for all planes; `partial` has channelScratchBytes
 * bytes. */
template <typename Term, typename Finish>
void sumChannels(THCPlan *plan, const Channels &channels, Term term, Finish finish,
                 typename Term::Sum *partial)
{
  const THNNPlanes shape = channels.shape;
  const int64_t columns = shape.planes * shape.positions, length = shape.batch * shape.positions;
  THC_withIndex(shape.batch * columns, [&](auto index) {
    typedef decltype(index) Index;
    const int64_t strips = (columns + CHANNEL_COLUMNS - 1) / CHANNEL_COLUMNS;
    if (channels.byColumns)
      THC_LAUNCH(plan, (sumColumnSegments<Index, Term>), channelGrid(strips * channels.segments),
                 THC_THREADS, 0, shape.batch, columns, channels.segments, shape.positions, term,
                 partial);
    else
      THC_LAUNCH(plan, (sumPlaneSegments<Index, Term>),
                 channelGrid(shape.planes * channels.segments), THC_THREADS, 0, shape.planes,
                 channels.segments, channels.segment, length, THCDivisor<Index>(shape.positions),
                 term, partial);
  });
  THC_LAUNCH(plan, (finishChannels<Term, Finish>), channelGrid(shape.planes), THC_THREADS, 0,
             shape.planes, channels.parts, term, partial, finish);
}

/* A Term whose contribution is one number, what(element, plane). */
template <typename What> struct ChannelSum {
  typedef accreal Sum;
  What what;
  __device__ Sum none() const { return 0; }
  __device__ void add(Sum &sum, int64_t element, int64_t plane) const
  {
    sum += what(element, plane);
  }
  __device__ Sum operator()(const Sum &a, const Sum &b) const { return a + b; }
};

/* What of ChannelSum: the elements themselves. */
struct Elements {
  const real *x;
  __device__ accreal operator()(int64_t i, int64_t plane) const
  {
    (void)plane;
    return x[i];
  }
};

/* Adds the sum of a plane to its gradient. */
struct AddScaled {
  accreal scale;
  real *gradient;
  __device__ void operator()(int64_t plane, const accreal &sum) const
  {
    gradient[plane] = (real)(gradient[plane] + scale * sum);
  }
};

} // namespace

#endif
