/* How a function gets at its tensors: it declares each with its role, acquires all at once, works
 * on dense memory, and releases.
 *
 *   THNNPlan plan;
 *   THNN_planStart(&plan, function, state);
 *   THNNBuffer *in = THNN_planIn(&plan, input, 2);
 *   THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
 *   THNNBuffer *tile = THNN_planScratch(&plan, bytes);
 *   THNN_planAcquire(&plan);                  the only place where memory is taken
 *   … in->data, out->data, tile->data …       dense; no error can arise here
 *   THNN_planRelease(&plan);
 *
 * Declaring checks and touches nothing. Acquiring first takes the memory of outputs that have to grow,
 * holding nothing; then one block for everything else, and raises only when it holds nothing. Outputs
 * are resized when nothing can fail any more. So an error never leaks and never changes a tensor,
 * whether it unwinds by longjmp or otherwise. What becomes a view of another argument does so at the
 * release, since its memory may be that of a third one.
 *
 * A tensor is worked on in place when it is contiguous. Otherwise `data` is a dense copy: gathered
 * for inputs, scattered back at release for outputs. An output that shares memory with another
 * argument gets such a copy too, so aliased arguments give the result of separate ones. */
#ifndef THNN_PLAN_H
#define THNN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <TH/TH.h>
#include "call/check.h"
#include <THNNState.h>

enum {
  THNN_PLAN_BUFFERS = 16, /* more than any function has tensors and scratch areas */
  /* Flag of a tensor whose sizes are not the library's to change: a view of a caller's array. */
  THNN_TENSOR_FIXED_SIZE = 64
};

typedef enum THNNElement {
  THNN_ELEMENT_FLOAT,
  THNN_ELEMENT_DOUBLE,
  THNN_ELEMENT_LONG,
  THNN_ELEMENT_INT,
  THNN_ELEMENTS
} THNNElement;

typedef enum THNNRole {
  THNN_ROLE_IN,
  THNN_ROLE_OUT,   /* resized, overwritten */
  THNN_ROLE_INOUT, /* never resized, read and written */
  THNN_ROLE_SHARE, /* becomes a view of another argument */
  THNN_ROLE_SCRATCH
} THNNRole;

/* A tensor of any type, as the plan sees it. */
typedef struct THNNView {
  int nDimension;
  const int64_t *size, *stride; /* strides in elements */
  char *data;
  int64_t available; /* elements from `data` to the end of the storage */
  bool resizable, fixedSize;
} THNNView;

/* One declared tensor or scratch area. */
typedef struct THNNBuffer {
  void *data; /* valid between acquire and release */

  /* The rest is the plan's. */
  THNNRole role;
  THNNElement element;
  const char *name;
  int position;
  void *tensor;
  int nDimension;
  const int64_t *wanted; /* sizes of an output */
  void *shared;          /* the tensor whose view this one becomes */
  THNNView view;
  size_t bytes;
  bool elementwise, resized, copied;
} THNNBuffer;

/* What the plan asks of the memory in which tensors live: the host's, or a CUDA device's, whose
 * functions share this plan. `context` is what the plan was started with. */
typedef struct THNNTensorOperations {
  THNNView (*view)(const void *tensor);
  /* Takes the memory for these sizes; nothing of the tensor changes, but where its data lies. */
  void (*reserve)(void *context, void *tensor, int nDimension, const int64_t *size);
  void (*resize)(void *tensor, int nDimension, const int64_t *size); /* to reserved sizes */
  /* Takes the memory that `set` needs for a source of so many dimensions. */
  void (*reserveDimensions)(void *tensor, int nDimension);
  /* Makes it the same view of the same storage as `source`; its own is freed, unless others have it. */
  void (*set)(void *context, void *tensor, void *source);
  size_t elementSize;
} THNNTensorOperations;

typedef struct THNNPlanMemory {
  const THNNTensorOperations *operations[THNN_ELEMENTS];
  size_t alignment;
  void *(*allocate)(void *context, size_t bytes); /* NULL when there is none; does not raise */
  void (*release)(void *context, void *block);
  void (*gather)(void *context, const THNNView *view, size_t elementSize, void *dense);
  void (*scatter)(void *context, const THNNView *view, size_t elementSize, const void *dense);
} THNNPlanMemory;

typedef struct THNNPlan {
  const char *function;
  const THNNPlanMemory *memory;
  void *context;
  int count;
  void *block;
  THNNBuffer buffers[THNN_PLAN_BUFFERS];
} THNNPlan;

/* Begins a plan; raises when `state` is not a state. */
THNN_API void THNN_planStart(THNNPlan *plan, const char *function, const THNNState *state);

/* Begins a plan for tensors in other memory. */
THNN_API void THNN_planStartIn(THNNPlan *plan, const char *function, const THNNPlanMemory *memory,
                               void *context);

#define THNN_ELEMENT_OF(tensor)                                                                    \
  _Generic((tensor),                                                                               \
      THFloatTensor *: THNN_ELEMENT_FLOAT,                                                         \
      THDoubleTensor *: THNN_ELEMENT_DOUBLE,                                                       \
      THLongTensor *: THNN_ELEMENT_LONG,                                                           \
      THIntTensor *: THNN_ELEMENT_INT)

/* The tensor arguments below are variables named as in the prototype; `position` counts the C
 * arguments from 1. NULL is rejected: an optional tensor is declared only when it was given. */

/* A tensor that is read. */
#define THNN_planIn(plan, tensor, position)                                                        \
  THNN_planTensor(plan, THNN_ROLE_IN, THNN_ELEMENT_OF(tensor), tensor, #tensor, position)

/* A tensor that is read and written, or written without being resized. */
#define THNN_planInOut(plan, tensor, position)                                                     \
  THNN_planTensor(plan, THNN_ROLE_INOUT, THNN_ELEMENT_OF(tensor), tensor, #tensor, position)

/* A tensor that is resized to these sizes, which the caller keeps until acquire, and overwritten. */
#define THNN_planOut(plan, tensor, position, nDimension, size)                                     \
  THNN_planResized(plan, THNN_ELEMENT_OF(tensor), tensor, #tensor, position, nDimension, size)

/* The same with the sizes of another tensor. */
#define THNN_planOutLike(plan, tensor, position, like)                                             \
  THNN_planOut(plan, tensor, position, (like)->nDimension, (like)->size)

/* In-place functions: `tensor` becomes the same view of the same storage as `other`, which is the
 * tensor that the function works on. */
#define THNN_planShare(plan, tensor, position, other)                                              \
  THNN_planSharing(plan, THNN_ELEMENT_OF(tensor), tensor, #tensor, position,                       \
                   (tensor) == (other) ? (tensor) : (other))

THNN_API THNNBuffer *THNN_planTensor(THNNPlan *plan, THNNRole role, THNNElement element,
                                     void *tensor, const char *name, int position);
THNN_API THNNBuffer *THNN_planResized(THNNPlan *plan, THNNElement element, void *tensor,
                                      const char *name, int position, int nDimension,
                                      const int64_t *size);

THNN_API void THNN_planSharing(THNNPlan *plan, THNNElement element, void *tensor, const char *name,
                               int position, void *other);

/* `bytes` of 64-byte aligned memory with arbitrary contents. */
THNN_API THNNBuffer *THNN_planScratch(THNNPlan *plan, size_t bytes);

/* For a scratch area of several parts: adds one to the `bytes` so far and returns where it begins,
 * aligned like the whole. */
static inline size_t THNN_reserve(size_t *bytes, size_t part)
{
  const size_t at = *bytes;
  *bytes += (part + 63) / 64 * 64;
  return at;
}

/* Says that element i of this output depends on element i of the inputs alone, so that it may lie
 * exactly where an input lies. */
static inline void THNN_planElementwise(THNNBuffer *buffer)
{
  buffer->elementwise = true;
}

/* Resizes the outputs, takes the memory and gathers what has to be copied. */
THNN_API void THNN_planAcquire(THNNPlan *plan);

/* Scatters copied outputs back and frees the memory. */
THNN_API void THNN_planRelease(THNNPlan *plan);

#endif
