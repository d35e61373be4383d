/* A block of scratch memory, which is cut into areas one after the other. One function lays out
 * what a computation needs: run with a block that has no memory, it measures; run again with the
 * memory, it takes the same areas. */
#ifndef THNN_SCRATCH_H
#define THNN_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

typedef struct Scratch {
  char *base;  /* aligned to a cache line; NULL only measures */
  size_t used; /* bytes that have been taken, a multiple of a cache line */
} Scratch;

/* Takes an area of `count` elements of `size` bytes, which begins on a cache line; NULL where the
 * block only measures. */
static inline void *THNN_take(Scratch *scratch, int64_t count, size_t size)
{
  enum { CACHE_LINE_BYTES = 64 };
  void *area = scratch->base ? scratch->base + scratch->used : NULL;
  const size_t bytes = (size_t)count * size;
  scratch->used += (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
  return area;
}

/* A thread's block, out of several blocks of `bytes` bytes that follow each other. */
static inline Scratch THNN_scratchOf(void *memory, size_t bytes, int thread)
{
  return (Scratch){.base = (char *)memory + (size_t)thread * bytes};
}

#endif
