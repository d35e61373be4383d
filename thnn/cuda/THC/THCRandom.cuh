/* Random numbers as a function of their position in a sequence: Philox4x32 with ten rounds
 * (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011). Any thread can
 * compute any of them, so the sequence does not depend on the device. */
#ifndef THC_RANDOM_CUH
#define THC_RANDOM_CUH

#include "THCLaunch.h"

struct THCRandomWords {
  uint32_t word[4];
};

/* The group of four words at position `counter` of the sequence `seed`. */
static __device__ inline THCRandomWords THC_randomWords(uint64_t seed, uint64_t counter)
{
  uint32_t a = (uint32_t)counter, b = (uint32_t)(counter >> 32), c = 0, d = 0;
  uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
  THC_UNROLL
  for (int round = 0; round < 10; round++) {
    const uint64_t first = (uint64_t)0xD2511F53u * a, second = (uint64_t)0xCD9E8D57u * c;
    a = (uint32_t)(second >> 32) ^ b ^ key0;
    b = (uint32_t)second;
    c = (uint32_t)(first >> 32) ^ d ^ key1;
    d = (uint32_t)first;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return THCRandomWords{{a, b, c, d}};
}

/* Numbers uniform in [0, 1): four words make COUNT of them, and at(words, i) is one. */
template <typename T> struct THCUniform;

template <> struct THCUniform<float> {
  enum { COUNT = 4 };
  static __device__ float at(const THCRandomWords &words, int i)
  {
    return (float)(words.word[i] >> 8) * (1.0f / (1 << 24));
  }
};

template <> struct THCUniform<double> {
  enum { COUNT = 2 };
  static __device__ double at(const THCRandomWords &words, int i)
  {
    const uint64_t bits = (uint64_t)words.word[2 * i] << 32 | words.word[2 * i + 1];
    return (double)(bits >> 11) * (1.0 / ((uint64_t)1 << 53));
  }
};

#endif
