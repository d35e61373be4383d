/* Which elements dropout keeps. */
#ifndef THNN_SIMD_DROPPED_H
#define THNN_SIMD_DROPPED_H

#include <stdint.h>

/* To element i, of a tensor of any sizes, belongs word i of the sequence of random numbers that the
 * seed has; the element is kept, and multiplied by the factor, if its word is `least` or more. */
typedef struct THNNDropped {
  uint64_t seed;
  uint32_t least;
  double factor;
} THNNDropped;

#endif
