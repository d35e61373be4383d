/* Sorts positions by a key, so that all positions of one row of a table are neighbours: lookup
 * tables and sparse layers can then gather gradients instead of scattering them. The sort is
 * stable: positions with the same key stay in order. */
#ifndef THC_SORT_CUH
#define THC_SORT_CUH

#include "THCLaunch.h"

/* Sorted keys with their positions: keys[i] belongs to positions[i]. A segment is a run of equal
 * keys. */
struct THCSorted {
  int64_t count;
  const int64_t *keys, *positions;
};

/* Size of the scratch memory for a sort. The caller writes the keys to its first `count`
 * elements. */
int64_t THC_sortScratchBytes(int64_t count);

static inline int64_t *THC_sortKeys(const THNNBuffer *scratch)
{
  return THC_pointer<int64_t>(scratch);
}

/* Sorts the keys in `scratch`, which are from 0 to largestKey, with the positions 0, 1, 2 … */
THCSorted THC_sort(THCPlan *plan, int64_t count, int64_t largestKey, const THNNBuffer *scratch);

/* The end of the segment that begins at `first`; `first` itself if none begins there or if its key
 * is `ignored`. All threads get the same result, without synchronisation. */
static __device__ inline int64_t THC_segmentEnd(const THCSorted &sorted, int64_t first,
                                                int64_t ignored)
{
  const int64_t key = sorted.keys[first];
  if (key == ignored || (first > 0 && sorted.keys[first - 1] == key))
    return first;
  int64_t low = first + 1, high = first + 1, step = 1;
  while (high < sorted.count && sorted.keys[high] == key) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  if (high > sorted.count)
    high = sorted.count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (sorted.keys[middle] == key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

#endif
