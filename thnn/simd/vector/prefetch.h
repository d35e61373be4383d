/* Asking for memory ahead of its turn, and pages of memory. */
#ifndef THNN_SIMD_PREFETCH_H
#define THNN_SIMD_PREFETCH_H

#include <stdint.h>

/* What __builtin_prefetch is told. */
enum { READ, WRITE };
enum { SECOND_LEVEL = 2, FIRST_LEVEL };

/* Where an address leads so many bytes further on, only to be asked for: beyond the end of a tensor
 * that does no harm. */
static inline const void *THNN_ahead(const void *address, int64_t bytes)
{
  return (const void *)((uintptr_t)address + (uintptr_t)bytes);
}

enum { THNN_PAGE_BYTES = 4096 };

/* The first page that begins at an address or behind it. */
static inline char *THNN_nextPage(const void *address)
{
  return (char *)address + (-(uintptr_t)address & (THNN_PAGE_BYTES - 1));
}

/* Values from memory arrive faster when they are asked for beyond the page at hand, where the
 * processor's own guesses end. */
static inline void THNN_fetchNextPage(const void *address, int64_t bytes)
{
  for (int64_t at = 0; at < bytes; at += 64)
    __builtin_prefetch(THNN_ahead(address, THNN_PAGE_BYTES + at));
}

/* The same so many bytes ahead, and only as far as the second-level cache, from where a loop that goes
 * through values one after the other gets them in time. */
static inline void THNN_fetchToSecondLevel(const void *address, int64_t bytes, int64_t ahead)
{
  for (int64_t at = 0; at < bytes; at += 64)
    __builtin_prefetch(THNN_ahead(address, ahead + at), READ, SECOND_LEVEL);
}

#endif
