#include "call/plan.h"

#include <stdio.h>
#include <string.h>
#ifndef THNN_SYSTEM_TH
#  include <TH/THMemory.h>
#else
#  include <stdlib.h>
#  define THMemoryError THError /* Torch7 has one kind of error. */
#endif

#include "call/strided.h"
#include "call/planTensor.h"
#include "work/sizes.h"

/* ---- The host's memory ---------------------------------------------------------------------- */

enum { HOST_ALIGNMENT = 64 };

static void *allocateOnHost(void *context, size_t bytes)
{
  (void)context;
#ifndef THNN_SYSTEM_TH
  return THTryAlloc(bytes, HOST_ALIGNMENT);
#else
  return aligned_alloc(HOST_ALIGNMENT, bytes);
#endif
}

static void releaseOnHost(void *context, void *block)
{
  (void)context;
#ifndef THNN_SYSTEM_TH
  THTryFree(block);
#else
  free(block);
#endif
}

/* On the host the context is the state. */
static void gatherOnHost(void *context, const THNNView *view, size_t elementSize, void *dense)
{
  THNN_gather(context, view, elementSize, dense);
}

static void scatterOnHost(void *context, const THNNView *view, size_t elementSize,
                          const void *dense)
{
  THNN_scatter(context, view, elementSize, dense);
}

static const THNNPlanMemory hostMemory = {
    .operations = {[THNN_ELEMENT_FLOAT] = &THNN_FloatTensorOperations,
                   [THNN_ELEMENT_DOUBLE] = &THNN_DoubleTensorOperations,
                   [THNN_ELEMENT_LONG] = &THNN_LongTensorOperations,
                   [THNN_ELEMENT_INT] = &THNN_IntTensorOperations},
    .alignment = HOST_ALIGNMENT,
    .allocate = allocateOnHost,
    .release = releaseOnHost,
    .gather = gatherOnHost,
    .scatter = scatterOnHost,
};

/* ---- Declaring ------------------------------------------------------------------------------ */

static const THNNTensorOperations *operationsOf(const THNNPlan *plan, const THNNBuffer *buffer)
{
  return plan->memory->operations[buffer->element];
}

static size_t elementSize(const THNNPlan *plan, const THNNBuffer *buffer)
{
  return operationsOf(plan, buffer)->elementSize;
}

void THNN_planStart(THNNPlan *plan, const char *function, const THNNState *state)
{
  THNN_State_check(state, function);
  THNN_planStartIn(plan, function, &hostMemory, (void *)state);
}

void THNN_planStartIn(THNNPlan *plan, const char *function, const THNNPlanMemory *memory,
                      void *context)
{
  plan->function = function;
  plan->memory = memory;
  plan->context = context;
  plan->count = 0;
  plan->block = NULL;
}

static THNNBuffer *addBuffer(THNNPlan *plan)
{
  if (plan->count == THNN_PLAN_BUFFERS)
    THError("%s: a plan holds %d buffers", plan->function, THNN_PLAN_BUFFERS);
  THNNBuffer *buffer = &plan->buffers[plan->count++];
  memset(buffer, 0, sizeof *buffer);
  return buffer;
}

static THNNShape shapeOf(const THNNBuffer *buffer)
{
  return THNN_makeShape(buffer->name, buffer->position, buffer->view.nDimension, buffer->view.size);
}

THNNBuffer *THNN_planTensor(THNNPlan *plan, THNNRole role, THNNElement element, void *tensor,
                            const char *name, int position)
{
  if (!tensor)
    THNN_reject(plan->function, name, position, "a tensor", "NULL");
  THNNBuffer *buffer = addBuffer(plan);
  buffer->role = role;
  buffer->element = element;
  buffer->name = name;
  buffer->position = position;
  buffer->tensor = tensor;
  buffer->view = plan->memory->operations[element]->view(tensor);
  return buffer;
}

THNNBuffer *THNN_planResized(THNNPlan *plan, THNNElement element, void *tensor, const char *name,
                             int position, int nDimension, const int64_t *size)
{
  THNNBuffer *buffer = THNN_planTensor(plan, THNN_ROLE_OUT, element, tensor, name, position);
  buffer->nDimension = nDimension;
  buffer->wanted = size;
  /* Raises when the product of the sizes does not fit. */
  THNN_elements(plan->function, THNN_makeShape(name, position, nDimension, size));
  return buffer;
}

void THNN_planSharing(THNNPlan *plan, THNNElement element, void *tensor, const char *name,
                      int position, void *other)
{
  THNNBuffer *buffer = THNN_planTensor(plan, THNN_ROLE_SHARE, element, tensor, name, position);
  buffer->shared = other;
}

THNNBuffer *THNN_planScratch(THNNPlan *plan, size_t bytes)
{
  THNNBuffer *buffer = addBuffer(plan);
  buffer->role = THNN_ROLE_SCRATCH;
  buffer->bytes = bytes;
  return buffer;
}

THNNBuffer *THNN_planKept(THNNPlan *plan, size_t bytes)
{
  THNNBuffer *buffer = THNN_planScratch(plan, bytes);
  buffer->role = THNN_ROLE_KEPT;
  return buffer;
}

void THNN_planFree(void *kept)
{
  if (kept)
    releaseOnHost(NULL, kept);
}

bool THNN_hasWantedSize(const THNNBuffer *buffer)
{
  return buffer->view.nDimension == buffer->nDimension &&
         sameNumbers(buffer->nDimension, buffer->view.size, buffer->wanted);
}

/* Rejects an output that has to be resized but cannot be. */
static void checkResizable(const THNNPlan *plan, const THNNBuffer *buffer)
{
  if (THNN_hasWantedSize(buffer))
    return;
  const THNNText wanted = THNN_shapeText(THNN_makeShape("", 0, buffer->nDimension, buffer->wanted));
  const bool fits = THNN_product(buffer->nDimension, buffer->wanted) <= buffer->view.available;
  if (buffer->view.fixedSize || !(fits || buffer->view.resizable))
    THNN_rejectShape(plan->function, shapeOf(buffer), "%s (it cannot be resized)",
                     wanted.characters);
  for (int i = 0; i < plan->count; i++) {
    const THNNBuffer *other = &plan->buffers[i];
    if (other != buffer && other->tensor == buffer->tensor)
      THNN_rejectShape(plan->function, shapeOf(buffer),
                       "%s, or another tensor than argument #%d '%s'", wanted.characters,
                       other->position, other->name);
  }
}

static bool sameView(const THNNView *a, const THNNView *b)
{
  return a->data == b->data && a->nDimension == b->nDimension &&
         sameNumbers(a->nDimension, a->size, b->size) &&
         sameNumbers(a->nDimension, a->stride, b->stride);
}

/* Rejects a tensor of fixed size, a view of a caller's array, that would have to view other
 * memory. */
static void checkSharing(const THNNPlan *plan, const THNNBuffer *buffer)
{
  const THNNView other = operationsOf(plan, buffer)->view(buffer->shared);
  if (buffer->view.fixedSize && !sameView(&buffer->view, &other))
    THNN_reject(plan->function, buffer->name, buffer->position,
                "the same memory as the tensor that is worked on in place", "other memory");
}

/* Makes all checks before the first change. */
static void checkOutputs(const THNNPlan *plan)
{
  for (int i = 0; i < plan->count; i++) {
    const THNNBuffer *buffer = &plan->buffers[i];
    if (buffer->role == THNN_ROLE_OUT)
      checkResizable(plan, buffer);
    else if (buffer->role == THNN_ROLE_SHARE)
      checkSharing(plan, buffer);
  }
}

static bool becomesView(const THNNBuffer *buffer)
{
  return buffer->role == THNN_ROLE_SHARE && buffer->tensor != buffer->shared;
}

static void reserveOutputs(THNNPlan *plan)
{
  for (int i = 0; i < plan->count; i++) {
    THNNBuffer *buffer = &plan->buffers[i];
    const THNNTensorOperations *of = operationsOf(plan, buffer);
    buffer->resized = buffer->role == THNN_ROLE_OUT && !THNN_hasWantedSize(buffer);
    if (buffer->resized)
      of->reserve(plan->context, buffer->tensor, buffer->nDimension, buffer->wanted);
    else if (becomesView(buffer))
      of->reserveDimensions(buffer->tensor, of->view(buffer->shared).nDimension);
  }
}

static void resizeOutputs(THNNPlan *plan)
{
  for (int i = 0; i < plan->count; i++) {
    THNNBuffer *buffer = &plan->buffers[i];
    const THNNTensorOperations *of = operationsOf(plan, buffer);
    if (buffer->resized) {
      of->resize(buffer->tensor, buffer->nDimension, buffer->wanted);
      buffer->view = of->view(buffer->tensor);
    }
  }
}

/* The number of elements that a tensor has, or will have once it is resized. */
static int64_t elementsOf(const THNNBuffer *buffer)
{
  const int nDimension = buffer->resized ? buffer->nDimension : buffer->view.nDimension;
  return nDimension > 0
             ? THNN_product(nDimension, buffer->resized ? buffer->wanted : buffer->view.size)
             : 0;
}

/* The addresses that a tensor spans: [first, last). */
typedef struct Span {
  const char *first, *last;
} Span;

static Span spanOf(const THNNPlan *plan, const THNNBuffer *buffer)
{
  int64_t before = 0, after = buffer->resized ? elementsOf(buffer) : 1;
  for (int i = 0; i < (buffer->resized ? 0 : buffer->view.nDimension); i++) {
    const int64_t reach = (buffer->view.size[i] - 1) * buffer->view.stride[i];
    *(reach < 0 ? &before : &after) += reach;
  }
  const int64_t size = (int64_t)elementSize(plan, buffer);
  return (Span){buffer->view.data + before * size, buffer->view.data + after * size};
}

static bool isTensor(const THNNBuffer *buffer)
{
  return buffer->tensor && buffer->role != THNN_ROLE_SHARE && elementsOf(buffer) > 0 &&
         buffer->view.data;
}

static bool isWritten(const THNNBuffer *buffer)
{
  return buffer->role == THNN_ROLE_OUT || buffer->role == THNN_ROLE_INOUT;
}

/* Whether this output shares memory with another argument, except as an elementwise function
 * may. */
static bool overlapsAnother(const THNNPlan *plan, const THNNBuffer *buffer)
{
  const Span mine = spanOf(plan, buffer);
  for (int i = 0; i < plan->count; i++) {
    const THNNBuffer *other = &plan->buffers[i];
    if (other == buffer || !isTensor(other))
      continue;
    const Span theirs = spanOf(plan, other);
    if (mine.first >= theirs.last || theirs.first >= mine.last)
      continue;
    if (!(buffer->elementwise && other->role == THNN_ROLE_IN && other->element == buffer->element &&
          sameView(&buffer->view, &other->view)))
      return true;
  }
  return false;
}

/* The bytes of the plan's block that are the buffer's. */
static size_t alignedBytes(const THNNPlan *plan, const THNNBuffer *buffer)
{
  if (buffer->role == THNN_ROLE_KEPT)
    return 0;
  const size_t alignment = plan->memory->alignment;
  return (buffer->bytes + alignment - 1) / alignment * alignment;
}

/* Makes a dimension of the view its last one. */
static void moveToLast(THNNBuffer *buffer, int dimension)
{
  THNNView *view = &buffer->view;
  for (int i = 0; i < view->nDimension; i++) {
    const int last = view->nDimension - 1;
    const int from = i < dimension ? i : i < last ? i + 1 : dimension;
    buffer->turned[0][i] = view->size[from];
    buffer->turned[1][i] = view->stride[from];
  }
  view->size = buffer->turned[0];
  view->stride = buffer->turned[1];
}

bool THNN_hasPlanesLast(const THNNBuffer *buffer)
{
  THNNBuffer moved = *buffer;
  moveToLast(&moved, buffer->view.nDimension - 3);
  return !THNN_isDense(&buffer->view) && THNN_isDense(&moved.view);
}

/* Decides which tensors are worked on in place, and returns the bytes that the others need. */
static size_t planCopies(THNNPlan *plan)
{
  size_t total = 0;
  for (int i = 0; i < plan->count; i++) {
    THNNBuffer *buffer = &plan->buffers[i];
    if (buffer->role == THNN_ROLE_SHARE)
      continue;
    if (buffer->tensor) {
      buffer->view = operationsOf(plan, buffer)->view(buffer->tensor);
      buffer->data = buffer->view.data;
    }
    if (buffer->transposed || buffer->planesLast)
      moveToLast(buffer, buffer->transposed ? 0 : buffer->view.nDimension - 3);
  }
  for (int i = 0; i < plan->count; i++) {
    THNNBuffer *buffer = &plan->buffers[i];
    if (isTensor(buffer)) {
      buffer->copied = (!buffer->resized && !THNN_isDense(&buffer->view)) ||
                       (isWritten(buffer) && overlapsAnother(plan, buffer));
      if (buffer->copied)
        buffer->bytes = (size_t)elementsOf(buffer) * elementSize(plan, buffer);
    }
    total += alignedBytes(plan, buffer);
  }
  return total;
}

void THNN_planAbandon(THNNPlan *plan)
{
  for (int i = 0; i < plan->count; i++) {
    THNNBuffer *buffer = &plan->buffers[i];
    if (buffer->role == THNN_ROLE_KEPT && buffer->data)
      plan->memory->release(plan->context, buffer->data);
    buffer->data = NULL;
  }
  if (plan->block)
    plan->memory->release(plan->context, plan->block);
  plan->block = NULL;
}

/* Allocates the plan's block and what is kept, or raises and holds nothing. */
static void allocate(THNNPlan *plan, size_t bytes)
{
  bool failed = false;
  if (bytes > 0) {
    plan->block = plan->memory->allocate(plan->context, bytes);
    failed = !plan->block;
  }
  THNNBuffer *end = plan->buffers + plan->count, *buffer = plan->buffers;
  for (; buffer < end && !failed; buffer++) {
    if (buffer->role != THNN_ROLE_KEPT)
      continue;
    buffer->data = plan->memory->allocate(plan->context, buffer->bytes);
    failed = !buffer->data;
    bytes += buffer->bytes;
  }
  if (!failed)
    return;
  THNN_planAbandon(plan);
  THMemoryError("%s: not enough memory: it needs %zu bytes beside its arguments", plan->function,
                bytes);
}

void THNN_planReserve(THNNPlan *plan)
{
  checkOutputs(plan);
  reserveOutputs(plan);
  allocate(plan, planCopies(plan));
  char *next = plan->block;
  for (int i = 0; i < plan->count; i++) {
    THNNBuffer *buffer = &plan->buffers[i];
    if (alignedBytes(plan, buffer) == 0)
      continue;
    buffer->data = next;
    next += alignedBytes(plan, buffer);
  }
}

void THNN_planBegin(THNNPlan *plan)
{
  resizeOutputs(plan);
  for (int i = 0; i < plan->count; i++) {
    const THNNBuffer *buffer = &plan->buffers[i];
    if (buffer->copied && buffer->role != THNN_ROLE_OUT)
      plan->memory->gather(plan->context, &buffer->view, elementSize(plan, buffer), buffer->data);
  }
}

void THNN_planAcquire(THNNPlan *plan)
{
  THNN_planReserve(plan);
  THNN_planBegin(plan);
}

static void releaseCopies(THNNPlan *plan)
{
  if (!plan->block)
    return;
  for (int i = 0; i < plan->count; i++) {
    const THNNBuffer *buffer = &plan->buffers[i];
    if (buffer->copied && isWritten(buffer))
      plan->memory->scatter(plan->context, &buffer->view, elementSize(plan, buffer), buffer->data);
  }
  plan->memory->release(plan->context, plan->block);
  plan->block = NULL;
}

void THNN_planRelease(THNNPlan *plan)
{
  releaseCopies(plan);
  for (int i = 0; i < plan->count; i++) {
    const THNNBuffer *buffer = &plan->buffers[i];
    if (becomesView(buffer))
      operationsOf(plan, buffer)->set(plan->context, buffer->tensor, buffer->shared);
  }
}
