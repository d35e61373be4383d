/* Sums over the threads of a block, always in the same order. */
#ifndef THC_REDUCE_CUH
#define THC_REDUCE_CUH

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
 * call it; it may be called again at once. */
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

#endif
