/* How a function accesses its tensors: the host's plan (call/plan.h) on device memory. The function
 * declares, acquires, launches and releases:
 *
 *   THCPlan plan;
 *   THC_planStart(&plan, function, state);
 *   THNNBuffer *in = THC_planIn(&plan, input, 2);
 *   THNNBuffer *out = THC_planOutLike(&plan, output, 3, input);
 *   THC_planAcquire(&plan);
 *   THC_LAUNCH_ELEMENTS(&plan, kernel<real>, count, count, THC_pointer<real>(in), …);
 *   THC_planRelease(&plan);
 *
 * It has all properties of the host's plan: declaring checks and changes nothing, acquiring resizes
 * the outputs and then takes one block of memory. The difference is that a launch can fail. The
 * plan keeps the first failure, launches nothing after it, and raises it at the end of the release,
 * when it holds no memory and the caller's device is current again. */
#ifndef THC_PLAN_H
#define THC_PLAN_H

#include "call/plan.h"
#include "THCInternal.h"

struct THCPlan {
  THNNPlan plan;
  THCState *state;
  THCFailure failure;
  bool entered;       /* whether the state's device is current */
  int previousDevice; /* the caller's device; valid while entered */
};

/* Begins a plan; raises when `state` is not a state, or when an earlier call has left an index
 * report. */
void THC_planStart(THCPlan *plan, const char *function, THCState *state);

/* Resizes the outputs, takes the memory, makes the state's device current, and queues the copies of
 * strided inputs. */
void THC_planAcquire(THCPlan *plan);

/* Queues the copies back to strided outputs, frees the memory, makes the caller's device current
 * and raises the first failure. */
void THC_planRelease(THCPlan *plan);

/* Declares `bytes` of scratch memory, aligned to 256 bytes, with undefined contents. */
static inline THNNBuffer *THC_planScratch(THCPlan *plan, int64_t bytes)
{
  return THNN_planScratch(&plan->plan, (size_t)bytes);
}

/* The memory of a buffer, between acquire and release; NULL for an optional argument that is
 * absent. */
template <typename T> static inline T *THC_pointer(const THNNBuffer *buffer)
{
  return buffer ? static_cast<T *>(buffer->data) : nullptr;
}

/* Declare tensors with the roles of call/plan.h; `tensor` is a variable named as in the
 * prototype. */
#define THC_planIn(plan, tensor, position)                                                         \
  THC_planTensor(plan, THNN_ROLE_IN, tensor, #tensor, position)
#define THC_planInOut(plan, tensor, position)                                                      \
  THC_planTensor(plan, THNN_ROLE_INOUT, tensor, #tensor, position)
#define THC_planOut(plan, tensor, position, nDimension, size)                                      \
  THC_planResized(plan, tensor, #tensor, position, nDimension, size)
#define THC_planOutLike(plan, tensor, position, like)                                              \
  THC_planOut(plan, tensor, position, (like)->nDimension, (like)->size)
#define THC_planShare(plan, tensor, position, other)                                               \
  THC_planSharing(plan, tensor, #tensor, position, other)

static inline THNNElement THC_elementOf(const THCudaTensor *)
{
  return THNN_ELEMENT_FLOAT;
}
static inline THNNElement THC_elementOf(const THCudaDoubleTensor *)
{
  return THNN_ELEMENT_DOUBLE;
}
static inline THNNElement THC_elementOf(const THCudaLongTensor *)
{
  return THNN_ELEMENT_LONG;
}
static inline THNNElement THC_elementOf(const THCudaIntTensor *)
{
  return THNN_ELEMENT_INT;
}

/* Raises when a tensor's memory is not on the state's device. */
void THC_planCheckDevice(const THCPlan *plan, const char *name, int position, int device);

template <typename Tensor>
void THC_planCheckTensor(const THCPlan *plan, const Tensor *tensor, const char *name, int position)
{
  if (tensor && tensor->storage && tensor->storage->data)
    THC_planCheckDevice(plan, name, position, tensor->storage->device);
}

template <typename Tensor>
THNNBuffer *THC_planTensor(THCPlan *plan, THNNRole role, Tensor *tensor, const char *name,
                           int position)
{
  THC_planCheckTensor(plan, tensor, name, position);
  return THNN_planTensor(&plan->plan, role, THC_elementOf(tensor), tensor, name, position);
}

template <typename Tensor>
THNNBuffer *THC_planResized(THCPlan *plan, Tensor *tensor, const char *name, int position,
                            int nDimension, const int64_t *size)
{
  THC_planCheckTensor(plan, tensor, name, position);
  return THNN_planResized(&plan->plan, THC_elementOf(tensor), tensor, name, position, nDimension,
                          size);
}

template <typename Tensor>
void THC_planSharing(THCPlan *plan, Tensor *tensor, const char *name, int position, Tensor *other)
{
  THC_planCheckTensor(plan, tensor, name, position);
  THNN_planSharing(&plan->plan, THC_elementOf(tensor), tensor, name, position, other);
}

/* The plan's operations on tensors of each element type (THC/generic/THCTensor.cu). */
extern const THNNTensorOperations THC_CudaTensorOperations, THC_CudaDoubleTensorOperations,
    THC_CudaLongTensorOperations, THC_CudaIntTensorOperations;

/* Copies between a strided view and dense memory (THCStrided.cu). */
void THC_gather(THCPlan *plan, const THNNView *view, size_t elementSize, void *dense);
void THC_scatter(THCPlan *plan, const THNNView *view, size_t elementSize, const void *dense);

#endif
