/* Long sums, for gradients of weights: each result is the sum of many terms. Terms are cut into
 * segments, whose length depends only on the numbers of results and terms; a block sums one
 * segment, and then the segments are added in order. */
#ifndef THCUNN_SEGMENT_SUMS_CUH
#define THCUNN_SEGMENT_SUMS_CUH

#include "cuda/THC/THCReduce.cuh"
#include "cuda/generic/template.h"

namespace
{

const int64_t SHORTEST_SEGMENT = 1024, LONGEST_SEGMENT = 16384;
const int64_t WANTED_SEGMENTS = 1024; /* segments of all results together that fill a device */

inline int64_t segmentLength(int64_t results, int64_t terms)
{
  int64_t length = LONGEST_SEGMENT;
  while (length > SHORTEST_SEGMENT && results * ((terms + length - 1) / length) < WANTED_SEGMENTS)
    length /= 2;
  return length;
}

inline int64_t segmentsOf(int64_t results, int64_t terms)
{
  const int64_t length = segmentLength(results, terms);
  return terms > 0 ? (terms + length - 1) / length : 1;
}

/* Size of the partial sums that addSums needs. */
inline int64_t segmentBytes(int64_t results, int64_t terms)
{
  return results * segmentsOf(results, terms) * (int64_t)sizeof(accreal);
}

/* partial[result][segment] = the sum of the segment's terms. */
template <typename Index, typename Term>
__global__ void __launch_bounds__(THC_THREADS)
    sumSegments(Index results, Index segments, Index length, Index terms, Term term,
                accreal *partial)
{
  for (Index task = blockIdx.x; task < results * segments; task += gridDim.x) {
    const Index result = task / segments, first = task % segments * length;
    const Index last = first + length < terms ? first + length : terms;
    accreal sum = 0;
    THC_UNROLL_LOADS
    for (Index i = first + threadIdx.x; i < last; i += THC_THREADS)
      sum += term(result, i);
    sum = THC_blockSum<THC_THREADS>(sum);
    if (threadIdx.x == 0)
      partial[task] = sum;
  }
}

template <typename T>
__global__ void __launch_bounds__(THC_THREADS)
    addSegments(int64_t results, int64_t segments, accreal scale, const accreal *partial, T *sums)
{
  THC_FOR_ELEMENTS(int64_t, result, results)
  {
    accreal sum = 0;
    for (int64_t i = 0; i < segments; i++)
      sum += partial[result * segments + i];
    sums[result] += T(scale * sum);
  }
}

/* sums[result] += scale * the sum of term(result, i) over all i < terms. */
template <typename Index, typename Term>
void addSums(THCPlan *plan, int64_t results, int64_t terms, const Term &term, accreal scale,
             real *sums, accreal *partial)
{
  const int64_t segments = segmentsOf(results, terms), tasks = results * segments;
  const dim3 grid((unsigned)(tasks < THC_MOST_BLOCKS ? tasks : THC_MOST_BLOCKS));
  THC_LAUNCH(plan, (sumSegments<Index, Term>), grid, THC_THREADS, 0, results, segments,
             segmentLength(results, terms), terms, term, partial);
  THC_LAUNCH_ELEMENTS(plan, addSegments<real>, results, results, segments, scale, partial, sums);
}

} // namespace

#endif
