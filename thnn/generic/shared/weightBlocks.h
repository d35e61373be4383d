/* Products of few rows with a weight that is packed in blocks of columns, each of which is read as
 * one stream. */
#ifndef THNN_WEIGHT_BLOCKS_H
#define THNN_WEIGHT_BLOCKS_H

#include "generic/template.h"
#include "call/state.h"

/* Whether that is faster than products with the weight as it lies. */
bool THNN_(weightBlocks_fit)(const THNNState *state, int64_t rows, int64_t columns, int64_t terms);

/* The elements of a weight of `terms` rows and `columns` columns in blocks; packs it. */
int64_t THNN_(weightBlocks_elements)(const THNNState *state, int64_t columns, int64_t terms);
void THNN_(weightBlocks_pack)(const THNNState *state, int64_t columns, int64_t terms,
                              const real *weight, real *blocks);

/* y = x * weight; x and y are dense. With `backwards`, the last blocks come first: of two products
 * one after the other, the second begins with what the first has left in the caches. */
void THNN_(weightBlocks_multiply)(const THNNState *state, int64_t rows, int64_t columns,
                                  int64_t terms, const real *x, const real *blocks, bool backwards,
                                  real *y);

#endif
