#include "work/caches.h"

#include "simd/tuning.h"

bool THNN_leavesLargeCaches(int64_t elements, size_t elementBytes)
{
  enum { SHARE = 8 }; /* other cores use the cache, too */
  return THNN_leavesCaches(elements, elementBytes) &&
         (THNN_leavesCaches(elements / 2, elementBytes) ||
          elements * (int64_t)elementBytes > THNN_tuning.lastCacheBytes / SHARE);
}

int64_t THNN_mostKeptBytes(bool reproducible)
{
  enum { SHARE = 4, USUAL_BYTES = 16 << 20 }; /* USUAL_BYTES: if the size of the cache is unknown */
  const int64_t bytes = reproducible ? 0 : THNN_tuning.lastCacheBytes;
  return (bytes > 0 ? bytes : USUAL_BYTES) / SHARE;
}

bool THNN_streamsResult(int tensorsRead, int64_t elements, size_t elementBytes)
{
  switch (tensorsRead) {
  case 0:
    return THNN_leavesCaches(elements, elementBytes);
  case 1:
    return THNN_leavesCaches(elements / 2, elementBytes);
  default:
    return THNN_leavesLargeCaches(elements + elements / THNN_tuning.passingPart, elementBytes);
  }
}
