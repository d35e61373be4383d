/* Prefetching, and pages of memory. */
#ifndef THNN_SIMD_PREFETCH_H
#define THNN_SIMD_PREFETCH_H

#include <stdint.h>

/* Arguments of __builtin_prefetch. */
enum { READ, WRITE };
enum { SECOND_LEVEL = 2, FIRST_LEVEL };

/* The address `bytes` further on, for prefetching only: it can be past the end of a tensor, where a
 * prefetch does no harm. */
static inline const void *THNN_ahead(const void *address, int64_t bytes)
{
  return (const void *)((uintptr_t)address + (uintptr_t)bytes);
}

enum { THNN_LINE_BYTES = 64, THNN_PAGE_BYTES = 4096 };

/* The first page that begins at or after an address. */
static inline char *THNN_nextPage(const void *address)
{
  return (char *)address + (-(uintptr_t)address & (THNN_PAGE_BYTES - 1));
}

/* What prefetches, has no effect in the eyes of GCC, which leaves out calls of functions that do
 * nothing else. This does not become an instruction, but counts as an effect. */
static inline void THNN_countAsEffect(void)
{
  __asm__ volatile("");
}

/* Prefetches one page ahead. The hardware's own prefetching stops at the end of a page, so that
 * each page would begin with a wait for memory. */
static inline void THNN_fetchNextPage(const void *address, int64_t bytes)
{
  for (int64_t at = 0; at < bytes; at += 64)
    __builtin_prefetch(THNN_ahead(address, THNN_PAGE_BYTES + at));
  THNN_countAsEffect();
}

/* Prefetches `ahead` bytes ahead, and only into the second-level cache, from where a sequential
 * loop gets values in time. */
static inline void THNN_fetchToSecondLevel(const void *address, int64_t bytes, int64_t ahead)
{
  for (int64_t at = 0; at < bytes; at += 64)
    __builtin_prefetch(THNN_ahead(address, ahead + at), READ, SECOND_LEVEL);
  THNN_countAsEffect();
}

#endif
