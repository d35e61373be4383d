/* When results are written with streaming stores, past the caches, and where cache lines begin. */
#ifndef THNN_WORK_CACHES_H
#define THNN_WORK_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/vector/prefetch.h"

/* Whether a tensor is so large that most of it has left the caches by the time it is read again:
 * more than 16 MB. */
static inline bool THNN_leavesCaches(int64_t elements, size_t elementBytes)
{
  return elements > (int64_t)((16 << 20) / elementBytes);
}

/* The same for this processor's last-level cache: up to twice as many elements stay in it if it is
 * as large as a server's. */
bool THNN_leavesLargeCaches(int64_t elements, size_t elementBytes);

/* Whether to write a result with streaming stores. `tensorsRead` tensors of its size, at most two,
 * are read for it and pass through the caches, too. Measured with 32 MB of last-level cache: if one
 * tensor is read, streaming stores are slower for results up to 32 MB, as fast up to 51 MB, and
 * faster at 102 MB. If two are read, they are slower up to 38 MB of tensors in all and faster from
 * 48 MB on; with 480 MB of cache they are slower at 60 MB and faster at 300 MB. */
bool THNN_streamsResult(int tensorsRead, int64_t elements, size_t elementBytes);

/* The most bytes that are worth keeping from call to call, for data that is larger than what it is
 * made of, such as transformed weights. More than that would have to be read from memory, since
 * other tensors pass through the caches between two calls. Measured with 32 MB of last-level cache:
 * keeping 8 MB of transformed weights is faster than making them anew; keeping 16 MB and more is up
 * to 16 % slower. Reproducible calls have the same limit on every processor, since the choice of an
 * algorithm depends on what is kept. */
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
