/* Asking for memory ahead of its turn, and pages of memory. */
#ifndef THNN_SIMD_FETCH_H
#define THNN_SIMD_FETCH_H

#include <stdbool.h>
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

/* AMD's processors of family 19h; what is said of them was measured on Zen 4. Compilers that do not know
 * the name take them for others. */
static inline bool THNN_isFamily19h(void)
{
#if defined(__x86_64__) && (__GNUC__ >= 11 || __clang_major__ >= 13)
  return __builtin_cpu_is("amdfam19h");
#else
  return false;
#endif
}

/* How far ahead that pays for a loop that does little else than read. Family 19h reads at two thirds of
 * its speed when asked for what lies a page away. */
static inline int64_t THNN_bytesAhead(void)
{
  return THNN_isFamily19h() ? 1024 : THNN_PAGE_BYTES;
}

#endif
