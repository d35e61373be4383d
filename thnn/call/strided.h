/* Copies between a strided tensor and dense memory. */
#ifndef THNN_STRIDED_H
#define THNN_STRIDED_H

#include "call/plan.h"

/* Whether the elements are contiguous in row-major order. */
THNN_PRIVATE bool THNN_isDense(const THNNView *view);

/* A view's elements with as few dimensions as possible: dimensions of size 1 are dropped,
 * neighbours merged, and at least one is left. At most 62 remain, since each has size 2 or more. */
enum { THNN_FOLDED_DIMENSIONS = 64 };

typedef struct THNNFolded {
  int nDimension;
  int64_t size[THNN_FOLDED_DIMENSIONS], stride[THNN_FOLDED_DIMENSIONS];
} THNNFolded;

THNN_PRIVATE THNNFolded THNN_fold(const THNNView *view);

/* The offset of a row along the last dimension, in elements; rows count in row-major order. */
int64_t THNN_rowOffset(const THNNFolded *folded, int64_t row);

/* Whether two elements may share memory, as in a tensor with a stride of 0. */
THNN_PRIVATE bool THNN_mayShareElements(const THNNFolded *folded);

/* dense = the tensor's elements in row-major order. */
void THNN_gather(const THNNState *state, const THNNView *view, size_t elementSize, void *dense);

/* dense = elements first to first + count - 1, in the same order. */
void THNN_gatherPart(const THNNFolded *folded, const void *data, size_t elementSize, int64_t first,
                     int64_t count, void *dense);

/* The tensor's elements = dense. */
void THNN_scatter(const THNNState *state, const THNNView *view, size_t elementSize,
                  const void *dense);

#endif
