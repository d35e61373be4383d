/* Sums over the threads of a block, always in the same order. */
#ifndef THC_REDUCE_CUH
#define THC_REDUCE_CUH

#include <type_traits>

#include "THCLaunch.h"

enum { THC_WARP = 32 };

/* The sum over the 32 lanes of a full warp, in every lane. */
template <typename T> __device__ T THC_warpSum(T value)
{
  for (int distance = THC_WARP / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

/* The sum over a block of `threads` (a multiple of 32, one dimension), in thread 0. All threads
 * must call it; calls can follow each other without a barrier. */
template <int threads, typename T> __device__ T THC_blockSum(T value)
{
  THC_SHARED(T, partial, [threads / THC_WARP]);
  const int warp = threadIdx.x / THC_WARP, lane = threadIdx.x % THC_WARP;
  value = THC_warpSum(value);
  if (lane == 0)
    partial[warp] = value;
  __syncthreads();
  if (warp == 0)
    value = THC_warpSum(lane < threads / THC_WARP ? partial[lane] : T(0));
  __syncthreads();
  return value;
}

/* Combines the values of a block's threads, of any type, by combine(a, b), in a fixed order. All
 * threads must call it, and all get the result. `values` is shared and has one element per thread;
 * the number of threads is a power of two. Calls can follow each other without a barrier. */
template <int threads, typename T, typename Combine>
__device__ T THC_blockCombine(T *values, const T &value, const Combine &combine)
{
  values[threadIdx.x] = value;
  __syncthreads();
  for (int distance = threads / 2; distance > 0; distance /= 2) {
    if ((int)threadIdx.x < distance)
      values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + distance]);
    __syncthreads();
  }
  const T result = values[0];
  __syncthreads();
  return result;
}

/* The threads of a block that work together on one row: a warp, a part of one (a power of two), or
 * the whole block. All of them must call reduce, and all get the result. */
template <int threads> struct THCTeam {
  enum { SIZE = threads };

  static __device__ int rank() { return threadIdx.x % threads; }

  template <typename T, typename Combine>
  static __device__ T reduce(T value, const Combine &combine)
  {
    constexpr int lanes = threads < THC_WARP ? threads : THC_WARP;
    /* The other teams of the warp may have no rows any more. */
    const unsigned mask = 0xffffffffu >> (THC_WARP - lanes)
                                             << (threadIdx.x % THC_WARP / lanes * lanes);
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      value = combine(value, __shfl_xor_sync(mask, value, distance));
    if (threads <= THC_WARP)
      return value;
    THC_SHARED(T, partial, [(threads + THC_WARP - 1) / THC_WARP]);
    if (threadIdx.x % THC_WARP == 0)
      partial[threadIdx.x / THC_WARP] = value;
    __syncthreads();
    value = partial[0];
    for (int warp = 1; warp < threads / THC_WARP; warp++)
      value = combine(value, partial[warp]);
    __syncthreads();
    return value;
  }

  template <typename T> static __device__ T sum(T value)
  {
    return reduce(value, [](T a, T b) { return a + b; });
  }
};

/* Replaces each of a block's THC_THREADS values in shared memory by the sum of those up to it. */
static __device__ inline void THC_sumUpTo(int64_t *values)
{
  __syncthreads();
  for (int distance = 1; distance < THC_THREADS; distance *= 2) {
    const int64_t left = (int)threadIdx.x >= distance ? values[threadIdx.x - distance] : 0;
    __syncthreads();
    values[threadIdx.x] += left;
    __syncthreads();
  }
}

/* THC_FOR_ROWS(int64_t, row, rows, threads): a loop over the rows of this thread's team, in blocks
 * of THC_THREADS; all threads of a team get the same rows. THC_rowBlocks gives the grid. */
#define THC_FOR_ROWS(Index, row, rows, threads)                                                    \
  for (Index row = (Index)blockIdx.x * (THC_THREADS / (threads)) + threadIdx.x / (threads);        \
       row < (Index)(rows); row += (Index)gridDim.x * (THC_THREADS / (threads)))

enum { THC_WIDE_ROW = 2048 }; /* the fewest elements of a row that a block works on, not a warp */

static inline dim3 THC_rowBlocks(const THCPlan *plan, int64_t rows, int threads)
{
  return THC_blocksFor(plan, rows * threads);
}

/* Calls work(n), n being the number of threads that a team needs for rows of `length` elements, as
 * an integral_constant. */
template <typename Work> void THC_withTeam(int64_t length, const Work &work)
{
  if (length < THC_WIDE_ROW)
    work(std::integral_constant<int, THC_WARP>());
  else
    work(std::integral_constant<int, THC_THREADS>());
}

#endif
