/* Copies between a strided tensor and dense memory. */
#ifndef THNN_STRIDED_H
#define THNN_STRIDED_H

#include "call/plan.h"

/* Whether the elements lie one after the other, in row-major order. */
THNN_API bool THNN_isDense(const THNNView *view);

/* The same elements with as few dimensions as possible: sizes of 1 dropped, neighbours merged, at
 * least one dimension left. Sizes of 2 or more let at most 62 remain: 2^63 elements. */
enum { THNN_FOLDED_DIMENSIONS = 64 };

typedef struct THNNFolded {
  int nDimension;
  int64_t size[THNN_FOLDED_DIMENSIONS], stride[THNN_FOLDED_DIMENSIONS];
} THNNFolded;

THNN_API THNNFolded THNN_fold(const THNNView *view);

/* Where a row along the last dimension begins, in elements; rows count in row-major order. */
int64_t THNN_rowOffset(const THNNFolded *folded, int64_t row);

/* Whether two elements may lie at the same place, as in a tensor with a stride of 0. */
THNN_API bool THNN_mayShareElements(const THNNFolded *folded);

/* dense = the tensor's elements in row-major order. */
void THNN_gather(const THNNState *state, const THNNView *view, size_t elementSize, void *dense);

/* dense = `count` of the elements in that order, from number `first` on. */
void THNN_gatherPart(const THNNFolded *folded, const void *data, size_t elementSize, int64_t first,
                     int64_t count, void *dense);

/* The tensor's elements = dense. */
void THNN_scatter(const THNNState *state, const THNNView *view, size_t elementSize,
                  const void *dense);

#endif
