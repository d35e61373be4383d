/* The plan's operations on tensors, one table per element type (generic/shared/planTensor.c). */
#ifndef THNN_PLAN_TENSOR_H
#define THNN_PLAN_TENSOR_H

#include "call/plan.h"

extern const THNNTensorOperations THNN_FloatTensorOperations, THNN_DoubleTensorOperations,
    THNN_LongTensorOperations, THNN_IntTensorOperations;

#endif
