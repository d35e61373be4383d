/* Moving values to and from the elements that pooling indices name. */
#ifndef THNN_GENERIC_POOLED_INDICES_H
#define THNN_GENERIC_POOLED_INDICES_H

#include "template.h"
#include "../THNNPooledIndices.h"

/* `small` has the indices' shape, `large` the input's; both and `indices` are dense and checked. In
 * each plane, in order: */

/* large = 0, then large[element] += small */
void THNN_(addToElements)(const THNNPooledIndices *pooled, const int64_t *indices,
                          const real *small, real *large);
/* large = 0, then large[element] = small */
void THNN_(setElements)(const THNNPooledIndices *pooled, const int64_t *indices, const real *small,
                        real *large);
/* small = large[element] */
void THNN_(getElements)(const THNNPooledIndices *pooled, const int64_t *indices, const real *large,
                        real *small);

#endif
