/* Lists of offsets, through which the direct algorithms read what they add up. */
#ifndef THNN_CONVOLUTION_OFFSETS_H
#define THNN_CONVOLUTION_OFFSETS_H

#include "generic/template.h"

/* offsets = first, first + step, first + 2*step, … */
static inline void listOffsets(int64_t n, THNNOffsets first, THNNOffsets step, THNNOffsets *offsets)
{
  for (int64_t i = 0; i < n; i++) {
    offsets[i] = first;
    first.scalar += step.scalar;
    first.vector += step.vector;
  }
}

/* moved = offsets + by; the two do not overlap. */
static inline void moveOffsets(int64_t n, const THNNOffsets *offsets, THNNOffsets by,
                               THNNOffsets *moved)
{
  for (int64_t i = 0; i < n; i++) {
    moved[i].scalar = offsets[i].scalar + by.scalar;
    moved[i].vector = offsets[i].vector + by.vector;
  }
}

#endif
