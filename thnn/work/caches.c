#include "work/caches.h"

#include "simd/tuning.h"

bool THNN_leavesLargeCaches(int64_t elements, size_t elementBytes)
{
  enum { SHARE = 8 }; /* other processors use the cache, too */
  return THNN_leavesCaches(elements, elementBytes) &&
         (THNN_leavesCaches(elements / 2, elementBytes) ||
          elements * (int64_t)elementBytes > THNN_tuning.lastCacheBytes / SHARE);
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
