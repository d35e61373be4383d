/* Work on the planes of a tensor at each position, each vector by a team of threads: a warp, a part
 * of one or a block where the vector's elements are contiguous, otherwise the threads of a block
 * that share a position. The work is a struct with
 *   template <typename Team, int kept>
 *   __device__ void operator()(const Vector &of, Team, std::integral_constant<int, kept>) const;
 * which all threads of the team call. */
#ifndef THCUNN_VECTORS_CUH
#define THCUNN_VECTORS_CUH

#include "cuda/generic/shared/rows.cuh"
#include "geometry/planes.h"

namespace
{

/* A vector of a tensor: its elements are at `first` + i * stride, i < length. Vectors are counted
 * by batch and position; the length is 0 where a block has more threads than there are
 * positions. */
struct Vector {
  int64_t first, stride, length, number;
};

enum { COLUMN_POSITIONS = THC_WARP }; /* positions that a block works on at a time */

/* The threads of a block that share a position. */
struct ColumnTeam {
  enum { SIZE = THC_THREADS / COLUMN_POSITIONS };
  static __device__ int rank() { return threadIdx.x / COLUMN_POSITIONS; }

  template <typename T, typename Combine>
  static __device__ T reduce(T value, const Combine &combine)
  {
    THC_SHARED(T, shared, [THC_THREADS]);
    shared[threadIdx.x] = value;
    __syncthreads();
    value = shared[threadIdx.x % COLUMN_POSITIONS];
    for (int other = 1; other < SIZE; other++)
      value = combine(value, shared[other * COLUMN_POSITIONS + threadIdx.x % COLUMN_POSITIONS]);
    __syncthreads();
    return value;
  }

  template <typename T> static __device__ T sum(T value)
  {
    return reduce(value, [](T a, T b) { return a + b; });
  }
};

/* Calls work(vector, team, kept) for each row. A thread keeps at most `kept` elements in registers;
 * 0: rows are too long for that. */
template <int threads, int kept, typename Work>
__global__ void __launch_bounds__(THC_THREADS) vectorRows(int64_t rows, int64_t length, Work work)
{
  THC_FOR_ROWS(int64_t, row, rows, threads)
  work(Vector{row * length, 1, length, row}, THCTeam<threads>(),
       std::integral_constant<int, kept>());
}

template <int kept, typename Work>
__global__ void __launch_bounds__(THC_THREADS)
    vectorColumns(int64_t batch, int64_t planes, int64_t positions, Work work)
{
  const int64_t strips = (positions + COLUMN_POSITIONS - 1) / COLUMN_POSITIONS;
  for (int64_t task = blockIdx.x; task < batch * strips; task += gridDim.x) {
    const int64_t sample = task / strips;
    const int64_t position = task % strips * COLUMN_POSITIONS + threadIdx.x % COLUMN_POSITIONS;
    const Vector of = {sample * planes * positions + position, positions,
                       position < positions ? planes : 0, sample * positions + position};
    work(of, ColumnTeam(), std::integral_constant<int, kept>());
  }
}

template <int threads, int kept, typename Work>
void launchRows(THCPlan *plan, const THNNPlanes &shape, const Work &work)
{
  THC_LAUNCH(plan, (vectorRows<threads, kept, Work>), THC_rowBlocks(plan, shape.batch, threads),
             THC_THREADS, 0, shape.batch, shape.planes, work);
}

template <int kept, typename Work>
void launchColumns(THCPlan *plan, const THNNPlanes &shape, const Work &work)
{
  const int64_t threads =
      shape.batch * ((shape.positions + COLUMN_POSITIONS - 1) / COLUMN_POSITIONS) * THC_THREADS;
  THC_LAUNCH(plan, (vectorColumns<kept, Work>), THC_blocksFor(plan, threads), THC_THREADS, 0,
             shape.batch, shape.planes, shape.positions, work);
}

} // namespace

#endif
