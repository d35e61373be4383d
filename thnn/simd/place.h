/* Where a loop over windows found a value. */
#ifndef THNN_SIMD_PLACE_H
#define THNN_SIMD_PLACE_H

#include <stdint.h>

/* Where in a window or plane a value was found; as wide as a real, so that the two move through
 * vectors together. -1 means that nothing was found, unless a comment says otherwise. */
#if defined(THNN_REAL_FLOAT)
typedef int32_t Place;
#else
typedef int64_t Place;
#endif

#endif
