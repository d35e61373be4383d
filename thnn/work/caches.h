/* When results are written with streaming stores, past the caches, and where cache lines begin. */
#ifndef THNN_WORK_CACHES_H
#define THNN_WORK_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { THNN_LINE_BYTES = 64 };

/* Whether a tensor is so large that most of it has left the caches by the time it is read again. */
static inline bool THNN_leavesCaches(int64_t elements, size_t elementBytes)
{
  return elements > (int64_t)((16 << 20) / elementBytes);
}

/* THNN_leavesCaches for this processor's last-level cache: where that is as large as a server's,
 * up to twice as many elements stay in it. */
bool THNN_leavesLargeCaches(int64_t elements, size_t elementBytes);

/* Whether to write a result with streaming stores. `tensorsRead` tensors of its size, at most two,
 * are read for it and pass through the caches, too. Measured with 32 MB of last-level cache: after
 * one tensor, streaming stores are slower for results up to 32 MB, as fast up to 51 MB, and faster
 * at 102 MB. After two, they are slower up to 38 MB of tensors in all and faster from 48 MB on;
 * with 480 MB of cache they are slower at 60 MB and faster at 300 MB. */
bool THNN_streamsResult(int tensorsRead, int64_t elements, size_t elementBytes);

/* The most bytes that are worth keeping from call to call where they are larger than what they are made
 * of: more would come from memory, since other tensors have passed through the caches in between.
 * Measured with 32 MB of last-level cache: transformed weights of 8 MB are faster than making
 * them anew, those of 16 MB and more are up to 16 % slower. For reproducible calls it is the same on
 * every processor, since the choice of an algorithm goes by what is kept. */
int64_t THNN_mostKeptBytes(bool reproducible);

/* Number of elements between the last cache-line boundary and the address. */
static inline int64_t THNN_elementsPastCacheLine(const void *address, size_t elementBytes)
{
  return (int64_t)((uintptr_t)address % THNN_LINE_BYTES / elementBytes);
}

/* `elements` rounded up to whole cache lines, so that no line is written by two threads. */
static inline int64_t THNN_wholeLines(int64_t elements, size_t elementBytes)
{
  const int64_t line = THNN_LINE_BYTES / (int64_t)elementBytes;
  return (elements + line - 1) / line * line;
}

#endif
