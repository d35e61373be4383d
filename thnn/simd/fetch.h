/* Asking for memory ahead of its turn. */
#ifndef THNN_SIMD_FETCH_H
#define THNN_SIMD_FETCH_H

#include <stdint.h>

/* Values from memory arrive faster when they are asked for beyond the page at hand, where the
 * processor's own guesses end. Beyond the end of a tensor it does no harm. */
static inline void THNN_fetchNextPage(const void *address, int64_t bytes)
{
  for (int64_t at = 0; at < bytes; at += 64)
    __builtin_prefetch((const char *)((uintptr_t)address + 4096) + at);
}

#endif
