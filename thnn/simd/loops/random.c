/* Random numbers as a function of their position in a sequence: Philox4x32 with ten rounds (Salmon,
 * Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011). Its key is the seed, its
 * counter the number of a group of four words.
 *
 * Words are drawn in blocks of 64, those of 16 groups: first the first two words of each group, then
 * the last two. The groups of a vector are worked on together, each in a lane of 64 bits, of which
 * the upper half is of no account between rounds. */
#include "simd/vector/words.h"

enum { GROUPS = 16, BLOCK = 4 * GROUPS, ROUNDS = 10 };

static void drawBlock(uint64_t seed, uint64_t block, uint32_t *words)
{
  Words number;
  for (int l = 0; l < WORDS; l++)
    number[l] = block * GROUPS + (uint64_t)l;
  for (int group = 0; group < GROUPS; group += WORDS, number += WORDS) {
    Words a = number, b = number >> 32, c = {0}, d = {0};
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < ROUNDS; round++) {
      const Words first = lowProducts(a, 0xD2511F53u), second = lowProducts(c, 0xCD9E8D57u);
      a = (second >> 32) ^ b ^ key0;
      b = second;
      c = (first >> 32) ^ d ^ key1;
      d = first;
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    const Words pairs[] = {(a & 0xffffffffu) | b << 32, (c & 0xffffffffu) | d << 32};
    for (int half = 0; half < 2; half++)
      __builtin_memcpy(words + 2 * (half * GROUPS + group), &pairs[half], sizeof *pairs);
  }
}

static void dropout(int64_t n, int64_t at, const THNNDropped *dropped, const real *x, real *noise,
                    real *y)
{
  const uint32_t least = dropped->least;
  const real factor = (real)dropped->factor;
  uint32_t words[BLOCK];
  for (int64_t i = 0; i < n; i += BLOCK) {
    drawBlock(dropped->seed, (uint64_t)((at + i) / BLOCK), words);
    const int64_t count = n - i < BLOCK ? n - i : BLOCK;
#pragma omp simd
    for (int64_t j = 0; j < count; j++) {
      const real drawn = words[j] >= least ? factor : 0;
      noise[i + j] = drawn;
      y[i + j] = x[i + j] * drawn;
    }
  }
}

const SimdRandom SIMD_TABLE(Random, THNN_SIMD_LEVEL) = {
    .dropout = dropout,
};
