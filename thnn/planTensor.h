/* The plan's operations on tensors, one table per element type (generic/planTensor.c). */
#ifndef THNN_PLAN_TENSOR_H
#define THNN_PLAN_TENSOR_H

#include "THNNPlan.h"

typedef struct THNNTensorOperations {
  THNNView (*view)(const void *tensor);
  void (*resize)(void *tensor, int nDimension, const int64_t *size);
  void (*set)(void *tensor, void *source);
  size_t elementSize;
} THNNTensorOperations;

extern const THNNTensorOperations THNN_FloatTensorOperations, THNN_DoubleTensorOperations,
    THNN_LongTensorOperations, THNN_IntTensorOperations;

#endif
