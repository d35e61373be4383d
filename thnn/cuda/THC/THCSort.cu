/* Radix sort, eight bits at a time, the lowest first: each block counts the digits of its tile, one
 * block turns the counts into output positions, and each block moves its tile there in order. */
#include "THCSort.cuh"

#include "THCReduce.cuh"

namespace
{

enum {
  DIGIT_BITS = 8,
  DIGITS = 1 << DIGIT_BITS,
  WARPS = THC_THREADS / THC_WARP,
  SCANNED_AT_ONCE = 8 /* counts that a thread adds up at a time */
};

const int64_t TILE = 2048;

static_assert((int)DIGITS == (int)THC_THREADS, "a thread for each digit");

int64_t tilesOf(int64_t count)
{
  return (count + TILE - 1) / TILE;
}

int64_t aligned(int64_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

__device__ int digitOf(int64_t key, int shift)
{
  return (int)(key >> shift) & (DIGITS - 1);
}

/* counts[digit][tile] = how often the digit occurs in the tile. */
__global__ void __launch_bounds__(THC_THREADS)
    countDigits(int64_t count, int64_t tiles, int shift, const int64_t *keys, int64_t *counts)
{
  THC_SHARED(int, found, [DIGITS]);
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    found[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = tile * TILE + threadIdx.x; i < (tile + 1) * TILE && i < count;
         i += THC_THREADS)
      atomicAdd(&found[digitOf(keys[i], shift)], 1);
    __syncthreads();
    counts[threadIdx.x * tiles + tile] = found[threadIdx.x];
    __syncthreads();
  }
}

/* Replaces each count by the sum of the counts before it. It runs in one block. */
__global__ void __launch_bounds__(THC_THREADS) sumBefore(int64_t length, int64_t *counts)
{
  THC_SHARED(int64_t, sums, [THC_THREADS]);
  int64_t before = 0;
  for (int64_t start = 0; start < length; start += THC_THREADS * SCANNED_AT_ONCE) {
    const int64_t first = start + threadIdx.x * SCANNED_AT_ONCE;
    int64_t own = 0;
    for (int k = 0; k < SCANNED_AT_ONCE; k++)
      own += first + k < length ? counts[first + k] : 0;
    sums[threadIdx.x] = own;
    THC_sumUpTo(sums);
    int64_t sum = before + sums[threadIdx.x] - own;
    before += sums[THC_THREADS - 1];
    for (int k = 0; k < SCANNED_AT_ONCE && first + k < length; k++) {
      const int64_t value = counts[first + k];
      counts[first + k] = sum;
      sum += value;
    }
    __syncthreads();
  }
}

/* A mask of the warp's lanes that have this digit, without those that are not `present`. */
__device__ unsigned lanesWith(int digit, bool present)
{
  unsigned lanes = __ballot_sync(0xffffffffu, present);
  THC_UNROLL
  for (int bit = 0; bit < DIGIT_BITS; bit++) {
    const bool set = digit >> bit & 1;
    const unsigned with = __ballot_sync(0xffffffffu, set);
    lanes &= set ? with : ~with;
  }
  return lanes;
}

/* Moves each tile to the output positions in `counts`. NULL `positions` stand for 0, 1, 2 … */
__global__ void __launch_bounds__(THC_THREADS)
    moveTile(int64_t count, int64_t tiles, int shift, const int64_t *keys, const int64_t *positions,
             const int64_t *counts, int64_t *sortedKeys, int64_t *sortedPositions)
{
  THC_SHARED(int, found, [WARPS][DIGITS]); /* each warp's counts in this step */
  THC_SHARED(int64_t, places, [DIGITS]);   /* output position of the next element */
  const int warp = threadIdx.x / THC_WARP, lane = threadIdx.x % THC_WARP;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    places[threadIdx.x] = counts[threadIdx.x * tiles + tile];
    for (int64_t start = tile * TILE; start < (tile + 1) * TILE; start += THC_THREADS) {
      for (int w = 0; w < WARPS; w++)
        found[w][threadIdx.x] = 0;
      __syncthreads();
      const int64_t i = start + threadIdx.x;
      const bool present = i < count;
      const int64_t key = present ? keys[i] : 0;
      const int digit = digitOf(key, shift);
      const unsigned same = lanesWith(digit, present);
      const int rank = __popc(same & ((1u << lane) - 1));
      if (present && rank == 0)
        found[warp][digit] = __popc(same);
      __syncthreads();
      if (present) {
        int64_t place = places[digit] + rank;
        for (int w = 0; w < warp; w++)
          place += found[w][digit];
        sortedKeys[place] = key;
        sortedPositions[place] = positions ? positions[i] : i;
      }
      __syncthreads();
      for (int w = 0; w < WARPS; w++)
        places[threadIdx.x] += found[w][threadIdx.x];
      __syncthreads();
    }
  }
}

} // namespace

/* The scratch memory holds two arrays of keys, two of positions, and the counts. */
int64_t THC_sortScratchBytes(int64_t count)
{
  return 4 * aligned(count * (int64_t)sizeof(int64_t)) +
         DIGITS * tilesOf(count) * (int64_t)sizeof(int64_t);
}

THCSorted THC_sort(THCPlan *plan, int64_t count, int64_t largestKey, const THNNBuffer *scratch)
{
  const int64_t step = aligned(count * (int64_t)sizeof(int64_t)) / (int64_t)sizeof(int64_t);
  int64_t *keys = THC_pointer<int64_t>(scratch), *otherKeys = keys + step;
  int64_t *positions = keys + 2 * step, *otherPositions = keys + 3 * step;
  int64_t *counts = keys + 4 * step;
  const int64_t tiles = tilesOf(count);
  const dim3 grid((unsigned)(tiles < THC_MOST_BLOCKS ? tiles : THC_MOST_BLOCKS));
  if (count == 0)
    return THCSorted{0, keys, positions};
  for (int shift = 0; shift == 0 || (shift < 64 && largestKey >> shift > 0); shift += DIGIT_BITS) {
    const int64_t *present = shift == 0 ? nullptr : positions;
    THC_LAUNCH(plan, countDigits, grid, THC_THREADS, 0, count, tiles, shift, keys, counts);
    THC_LAUNCH(plan, sumBefore, 1, THC_THREADS, 0, DIGITS * tiles, counts);
    THC_LAUNCH(plan, moveTile, grid, THC_THREADS, 0, count, tiles, shift, keys, present, counts,
               otherKeys, otherPositions);
    int64_t *swap = keys;
    keys = otherKeys;
    otherKeys = swap;
    swap = positions;
    positions = otherPositions;
    otherPositions = swap;
  }
  return THCSorted{count, keys, positions};
}
