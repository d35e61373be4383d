/* Work on segments of sorted positions (THC/THCSort.cuh): the positions of one row of a table are
 * neighbours, and their terms are summed in order. */
#ifndef THCUNN_SEGMENTS_CUH
#define THCUNN_SEGMENTS_CUH

#include "cuda/generic/shared/rows.cuh"

#include "cuda/THC/THCIndex.cuh"
#include "cuda/THC/THCSort.cuh"

namespace
{

enum { SEGMENT_STRIP = 4 * THC_WARP }; /* columns that a warp works on */

/* A run of equal keys: the elements [first, end) in sorted order. */
struct Segment {
  int64_t key, first, end;
};

/* Calls work(segment, column) for each column of each segment. */
template <typename Work>
__global__ void __launch_bounds__(THC_THREADS)
    segmentKernel(THCSorted sorted, int64_t ignored, int64_t columns, Work work)
{
  const int64_t strips = (columns + SEGMENT_STRIP - 1) / SEGMENT_STRIP;
  THC_FOR_ROWS(int64_t, task, sorted.count *strips, THC_WARP)
  {
    const int64_t first = task / strips, strip = task % strips * SEGMENT_STRIP;
    const int64_t end = THC_segmentEnd(sorted, first, ignored);
    if (end == first)
      continue;
    const Segment segment = {sorted.keys[first], first, end};
    for (int64_t c = strip + threadIdx.x % THC_WARP; c < columns && c < strip + SEGMENT_STRIP;
         c += THC_WARP)
      work(segment, c);
  }
}

template <typename Work>
void forSegments(THCPlan *plan, const THCSorted &sorted, int64_t ignored, int64_t columns,
                 const Work &work)
{
  const int64_t tasks = sorted.count * ((columns + SEGMENT_STRIP - 1) / SEGMENT_STRIP);
  if (tasks > 0)
    THC_LAUNCH(plan, segmentKernel<Work>, THC_rowBlocks(plan, tasks, THC_WARP), THC_THREADS, 0,
               sorted, ignored, columns, work);
}

/* Sums where there are many columns: a thread sums one column. */
template <typename Terms> struct SumByColumn {
  THCSorted sorted;
  Terms terms;
  __device__ void operator()(const Segment &segment, int64_t column) const
  {
    accreal sum = 0;
    THC_UNROLL_LOADS
    for (int64_t i = segment.first; i < segment.end; i++)
      sum += terms.term(sorted.positions[i], column);
    terms.finish(segment, column, sum);
  }
};

/* Sums where there are few columns: a warp sums each of them in turn. */
template <typename Terms>
__global__ void __launch_bounds__(THC_THREADS)
    sumByWarp(THCSorted sorted, int64_t ignored, int64_t columns, Terms terms)
{
  THC_FOR_ROWS(int64_t, first, sorted.count, THC_WARP)
  {
    const int64_t end = THC_segmentEnd(sorted, first, ignored);
    if (end == first)
      continue;
    const Segment segment = {sorted.keys[first], first, end};
    for (int64_t c = 0; c < columns; c++) {
      accreal sum = 0;
      for (int64_t i = first + threadIdx.x % THC_WARP; i < end; i += THC_WARP)
        sum += terms.term(sorted.positions[i], c);
      sum = THC_warpSum(sum);
      if (threadIdx.x % THC_WARP == 0)
        terms.finish(segment, c, sum);
    }
  }
}

/* Calls terms.finish(segment, column, sum of terms.term(position, column) over the segment) for
 * each column of each segment. */
template <typename Terms>
void sumSegments(THCPlan *plan, const THCSorted &sorted, int64_t ignored, int64_t columns,
                 const Terms &terms)
{
  if (columns >= THC_WARP)
    forSegments(plan, sorted, ignored, columns, SumByColumn<Terms>{sorted, terms});
  else if (sorted.count > 0)
    THC_LAUNCH(plan, sumByWarp<Terms>, THC_rowBlocks(plan, sorted.count, THC_WARP), THC_THREADS, 0,
               sorted, ignored, columns, terms);
}

/* The key of an index: its row, or `ignored` for a bad index and for `padding`. */
struct KeyOfIndex {
  THCIndexRange range;
  int64_t padding, ignored;
  __device__ void operator()(int64_t i, int64_t &key, const int64_t &index) const
  {
    (void)i; /* a function that takes i is called for i < count only, never on garbage */
    key = THC_indexIsValid(index, range) && index != padding ? index - TH_INDEX_BASE : ignored;
  }
};

/* Sorts indices of `rows` rows; ignored indices have the key `rows`. */
inline THCSorted sortIndices(THCPlan *plan, int64_t count, const int64_t *indices, int64_t rows,
                             int64_t padding, const THNNBuffer *scratch)
{
  const KeyOfIndex keyOf = {THC_indexRange(plan, TH_INDEX_BASE, rows - 1 + TH_INDEX_BASE), padding,
                            rows};
  THC_apply(plan, plan->plan.function, count, keyOf, THC_sortKeys(scratch), indices);
  return THC_sort(plan, count, rows, scratch);
}

const int64_t NO_PADDING = TH_INDEX_BASE - 1;

} // namespace

#endif
