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
 * Declaring a tensor checks it and changes nothing. Acquiring first gives outputs that have to grow
 * their memory, then allocates one block for everything else; it can raise only while the plan
 * itself holds no memory. Outputs are resized when nothing can fail any more. So an error never
 * leaks and never changes a tensor, whether it unwinds by longjmp or otherwise. A tensor that
 * becomes a view of another argument does so at the release, since a third argument may share its
 * old memory.
 *
 * A function whose outputs need no more memory can check what its tensors hold in scratch: after
 * THNN_planReserve it has the scratch, and nothing has changed yet; then it calls THNN_planBegin,
 * which cannot fail, or THNN_planAbandon and raises.
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
  /* Flag of a tensor that the library must not resize: a view of a caller's array. */
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
  THNN_ROLE_SCRATCH,
  THNN_ROLE_KEPT /* memory that the caller owns after acquire */
} THNNRole;

/* A tensor of any type, as the plan sees it. */
typedef struct THNNView {
  int nDimension;
  const int64_t *size, *stride; /* strides in elements */
  char *data;
  int64_t available; /* elements from `data` to the end of the storage */
  bool resizable, fixedSize;
} THNNView;

/* One declared tensor or area of memory. */
typedef struct THNNBuffer {
  void *data; /* valid between acquire and release */

  /* The other fields are private to the plan. */
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
  bool elementwise, transposed, planesLast, resized, copied;
  int64_t turned[2][4]; /* sizes and strides in the order of `data` */
} THNNBuffer;

/* What the plan asks of the memory in which tensors live: the host's, or a CUDA device's, whose
 * functions share this plan. `context` is what the plan was started with. */
typedef struct THNNTensorOperations {
  THNNView (*view)(const void *tensor);
  /* Allocates memory for these sizes; the tensor's data may move, but nothing else changes. */
  void (*reserve)(void *context, void *tensor, int nDimension, const int64_t *size);
  void (*resize)(void *tensor, int nDimension, const int64_t *size); /* reserve comes first */
  /* Allocates the memory that `set` needs for a source of nDimension dimensions. */
  void (*reserveDimensions)(void *tensor, int nDimension);
  /* Makes `tensor` the same view of the same storage as `source`, and releases its own storage. */
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
void THNN_planStart(THNNPlan *plan, const char *function, const THNNState *state);

/* Begins a plan for tensors in other memory. */
THNN_PRIVATE void THNN_planStartIn(THNNPlan *plan, const char *function,
                                   const THNNPlanMemory *memory, void *context);

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

/* A tensor that is resized to these sizes, which the caller keeps until acquire, and
 * overwritten. */
#define THNN_planOut(plan, tensor, position, nDimension, size)                                     \
  THNN_planResized(plan, THNN_ELEMENT_OF(tensor), tensor, #tensor, position, nDimension, size)

/* A tensor that is resized to the sizes of another one, and overwritten. */
#define THNN_planOutLike(plan, tensor, position, like)                                             \
  THNN_planOut(plan, tensor, position, (like)->nDimension, (like)->size)

/* In-place functions: `tensor` becomes the same view of the same storage as `other`, which is the
 * tensor that the function works on. */
#define THNN_planShare(plan, tensor, position, other)                                              \
  THNN_planSharing(plan, THNN_ELEMENT_OF(tensor), tensor, #tensor, position,                       \
                   (tensor) == (other) ? (tensor) : (other))

THNN_PRIVATE THNNBuffer *THNN_planTensor(THNNPlan *plan, THNNRole role, THNNElement element,
                                         void *tensor, const char *name, int position);
THNN_PRIVATE THNNBuffer *THNN_planResized(THNNPlan *plan, THNNElement element, void *tensor,
                                          const char *name, int position, int nDimension,
                                          const int64_t *size);

THNN_PRIVATE void THNN_planSharing(THNNPlan *plan, THNNElement element, void *tensor,
                                   const char *name, int position, void *other);

/* `bytes` of 64-byte aligned memory with arbitrary contents. */
THNN_PRIVATE THNNBuffer *THNN_planScratch(THNNPlan *plan, size_t bytes);

/* Memory as of THNN_planScratch that the plan does not free: after acquire the caller owns it, and
 * frees it with THNN_planFree. */
THNNBuffer *THNN_planKept(THNNPlan *plan, size_t bytes);
void THNN_planFree(void *kept);

/* Declares that element i of this output depends on element i of the inputs alone, so that the
 * output may be exactly the same memory as an input. */
static inline void THNN_planElementwise(THNNBuffer *buffer)
{
  buffer->elementwise = true;
}

/* Declares that `data` of this matrix, which is read, is its transpose: that is the memory itself
 * where its columns are dense. */
static inline void THNN_planTransposed(THNNBuffer *buffer)
{
  buffer->transposed = true;
}

/* Whether an output has the sizes already that it is to have. */
bool THNN_hasWantedSize(const THNNBuffer *buffer);

/* Whether a tensor, planes x height x width or a batch of such, is not contiguous, but would be if the
 * planes were its last dimension. */
bool THNN_hasPlanesLast(const THNNBuffer *buffer);

/* Declares that `data` of this tensor, planes x height x width or a batch of such, has the planes
 * last: that is the memory itself where its positions follow one another and have dense planes. */
static inline void THNN_planPlanesLast(THNNBuffer *buffer)
{
  buffer->planesLast = true;
}

/* Resizes the outputs, takes the memory and gathers what has to be copied. */
THNN_PRIVATE void THNN_planAcquire(THNNPlan *plan);

/* The steps of THNN_planAcquire: takes all memory, or raises; resizes and gathers. */
void THNN_planReserve(THNNPlan *plan);
void THNN_planBegin(THNNPlan *plan);

/* Instead of THNN_planBegin: frees the memory, what would have been kept included. */
void THNN_planAbandon(THNNPlan *plan);

/* Scatters copied outputs back and frees the memory. */
THNN_PRIVATE void THNN_planRelease(THNNPlan *plan);

#endif
