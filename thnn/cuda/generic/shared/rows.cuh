/* Work on the rows of a matrix, each by a team of threads: a warp where rows are short, a block
 * where they are long. The work is a struct with
 *   template <typename Team> __device__ void operator()(int64_t row, Team) const;
 * which all threads of the team call (THC/THCReduce.cuh). */
#ifndef THCUNN_ROWS_CUH
#define THCUNN_ROWS_CUH

#include "cuda/generic/template.h"

#include "cuda/THC/THCReduce.cuh"

namespace
{

template <int threads, typename Work>
__global__ void __launch_bounds__(THC_THREADS) rowKernel(int64_t rows, Work work)
{
  THC_FOR_ROWS(int64_t, row, rows, threads) work(row, THCTeam<threads>());
}

template <typename Work> void forRows(THCPlan *plan, int64_t rows, int64_t length, const Work &work)
{
  if (rows == 0)
    return;
  THC_withTeam(length, [&](auto threads) {
    constexpr int size = decltype(threads)::value;
    THC_LAUNCH(plan, (rowKernel<size, Work>), THC_rowBlocks(plan, rows, size), THC_THREADS, 0, rows,
               work);
  });
}

} // namespace

#endif
