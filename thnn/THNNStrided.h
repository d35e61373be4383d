/* Copies between a strided tensor and dense memory. */
#ifndef THNN_STRIDED_H
#define THNN_STRIDED_H

#include "THNNPlan.h"

/* Whether the elements lie one after the other, in row-major order. */
bool THNN_isDense(const THNNView *view);

/* dense = the tensor's elements in row-major order. */
void THNN_gather(const THNNState *state, const THNNView *view, size_t elementSize, void *dense);

/* The tensor's elements = dense. */
void THNN_scatter(const THNNState *state, const THNNView *view, size_t elementSize,
                  const void *dense);

#endif
