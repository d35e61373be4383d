#include "template.h"

#include <string.h>
#include <TH/THPortability.h>

#include "call/strided.h"
#include "../THCApply.cuh"

THCTensor *THCTensor_(new)(THCState *state)
{
  THC_checkState(state, "THCTensor_new");
  THCTensor *self = (THCTensor *)THAlloc(sizeof *self);
  memset(self, 0, sizeof *self);
  self->refcount = 1;
  self->flag = TH_TENSOR_REFCOUNTED;
  return self;
}

void THCTensor_(retain)(THCState *state, THCTensor *self)
{
  (void)state;
  if (self->flag & TH_TENSOR_REFCOUNTED)
    TH_ATOMIC_FETCH_ADD(&self->refcount, 1);
}

void THCTensor_(free)(THCState *state, THCTensor *self)
{
  if (!self || !(self->flag & TH_TENSOR_REFCOUNTED))
    return;
  THC_checkState(state, "THCTensor_free");
  if (TH_ATOMIC_FETCH_ADD(&self->refcount, -1) != 1)
    return;
  THCStorage *storage = self->storage;
  THFree(self->size);
  THFree(self->stride);
  THFree(self);
  THCStorage_(free)(state, storage);
}

real *THCTensor_(data)(THCState *state, const THCTensor *self)
{
  (void)state;
  return self->storage && self->storage->data ? self->storage->data + self->storageOffset : nullptr;
}

ptrdiff_t THCTensor_(nElement)(THCState *state, const THCTensor *self)
{
  (void)state;
  return (ptrdiff_t)THNN_product(self->nDimension, self->size);
}

/* ---- Views for the plan --------------------------------------------------------------------- */

static THNNView viewOf(const void *untyped)
{
  const THCTensor *tensor = (const THCTensor *)untyped;
  THNNView view;
  memset(&view, 0, sizeof view);
  view.nDimension = tensor->nDimension;
  view.size = tensor->size;
  view.stride = tensor->stride;
  view.resizable = !tensor->storage || (tensor->storage->flag & TH_STORAGE_RESIZABLE);
  view.fixedSize = (tensor->flag & THNN_TENSOR_FIXED_SIZE) != 0;
  if (tensor->storage && tensor->storage->data) {
    view.data = (char *)(tensor->storage->data + tensor->storageOffset);
    view.available = tensor->storage->size - tensor->storageOffset;
  }
  return view;
}

int THCTensor_(isContiguous)(THCState *state, const THCTensor *self)
{
  (void)state;
  const THNNView view = viewOf(self);
  return THNN_isDense(&view);
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* The number of sizes before the first one that is not positive. */
static int usedDimensions(int nDimension, const int64_t *size)
{
  int used = 0;
  while (used < nDimension && size[used] > 0)
    used++;
  return used;
}

static int64_t strideOf(int nDimension, const int64_t *size, const int64_t *stride, int dimension)
{
  if (stride && stride[dimension] >= 0)
    return stride[dimension];
  int64_t contiguous = 1;
  for (int d = dimension + 1; d < nDimension; d++)
    contiguous *= size[d];
  return contiguous;
}

static bool hasLayout(const THCTensor *self, int nDimension, const int64_t *size,
                      const int64_t *stride)
{
  if (self->nDimension != nDimension)
    return false;
  for (int d = 0; d < nDimension; d++)
    if (self->size[d] != size[d] ||
        (stride && self->stride[d] != strideOf(nDimension, size, stride, d)))
      return false;
  return true;
}

/* The number of storage elements that a layout spans from its first element; 0 for an empty one. */
static int64_t reachOf(int nDimension, const int64_t *size, const int64_t *stride)
{
  int64_t reach = nDimension > 0 ? 1 : 0;
  for (int d = 0; d < nDimension; d++)
    reach += (size[d] - 1) * strideOf(nDimension, size, stride, d);
  return reach;
}

static void ensureStorage(THCState *state, THCTensor *self, int64_t elements)
{
  if (elements == 0)
    return;
  if (!self->storage)
    self->storage = THCStorage_(new)(state);
  if (self->storage->size < elements)
    THCStorage_(resize)(state, self->storage, (ptrdiff_t)elements);
}

/* Allocates lists for at least nDimension dimensions; sizes and strides keep their values. */
static void reserveDimensions(void *untyped, int nDimension)
{
  THCTensor *self = (THCTensor *)untyped;
  if (nDimension <= self->nDimension)
    return;
  const ptrdiff_t bytes = nDimension * (ptrdiff_t)sizeof(int64_t);
  self->size = (int64_t *)THRealloc(self->size, bytes);
  self->stride = (int64_t *)THRealloc(self->stride, bytes);
}

/* Allocates the lists and the storage for a layout, which may raise; the layout stays. */
static void reserve(THCState *state, THCTensor *self, int nDimension, const int64_t *size,
                    const int64_t *stride)
{
  reserveDimensions(self, nDimension);
  const int64_t reach = reachOf(nDimension, size, stride);
  ensureStorage(state, self, reach > 0 ? reach + self->storageOffset : 0);
}

/* Sets sizes and strides. The lists must be long enough; `size` and `stride` may be the tensor's
 * own. */
static void setLayout(THCTensor *self, int nDimension, const int64_t *size, const int64_t *stride)
{
  for (int d = 0; d < nDimension; d++) {
    self->stride[d] = strideOf(nDimension, size, stride, d);
    self->size[d] = size[d];
  }
  self->nDimension = nDimension;
}

void THCTensor_(resizeNd)(THCState *state, THCTensor *self, int nDimension, const int64_t *size,
                          const int64_t *stride)
{
  THC_checkState(state, "THCTensor_resizeNd");
  nDimension = usedDimensions(nDimension, size);
  if (hasLayout(self, nDimension, size, stride))
    return;
  THArgCheck(nDimension == 0 || THNN_product(nDimension, size) > 0, 4,
             "THCTensor_resizeNd: the sizes' product does not fit into memory");
  reserve(state, self, nDimension, size, stride); /* all that can raise, before any change */
  setLayout(self, nDimension, size, stride);
}

static void reserveFor(void *context, void *tensor, int nDimension, const int64_t *size)
{
  reserve(((THCPlan *)context)->state, (THCTensor *)tensor, nDimension, size, nullptr);
}

static void resizeTo(void *tensor, int nDimension, const int64_t *size)
{
  setLayout((THCTensor *)tensor, nDimension, size, nullptr);
}

/* Makes self a view like `source`. Its lists must be long enough; the caller frees its old
 * storage. */
static void pointAt(THCState *state, THCTensor *self, const THCTensor *source)
{
  const size_t bytes = (size_t)source->nDimension * sizeof(int64_t);
  if (bytes > 0) {
    memcpy(self->size, source->size, bytes);
    memcpy(self->stride, source->stride, bytes);
  }
  self->nDimension = source->nDimension;
  self->storageOffset = source->storageOffset;
  THCStorage_(retain)(state, source->storage);
  self->storage = source->storage;
}

static void setFor(void *context, void *tensor, void *source)
{
  THCPlan *plan = (THCPlan *)context;
  THCStorage *old = ((THCTensor *)tensor)->storage;
  pointAt(plan->state, (THCTensor *)tensor, (const THCTensor *)source);
  THCStorage_(drop)(plan->state, old, &plan->failure);
}

#define OPERATIONS TH_CONCAT_3(THC_, CReal, TensorOperations)
extern const THNNTensorOperations OPERATIONS = {viewOf, reserveFor,  resizeTo, reserveDimensions,
                                                setFor, sizeof(real)};

void THCTensor_(resizeAs)(THCState *state, THCTensor *self, const THCTensor *other)
{
  THCTensor_(resizeNd)(state, self, other->nDimension, other->size, nullptr);
}

/* ---- Views ---------------------------------------------------------------------------------- */

THCTensor *THCTensor_(newWithStorage)(THCState *state, THCStorage *storage, ptrdiff_t storageOffset,
                                      int nDimension, const int64_t *size, const int64_t *stride)
{
  const char *function = "THCTensor_newWithStorage";
  THC_checkState(state, function);
  nDimension = usedDimensions(nDimension, size);
  const int64_t reach = reachOf(nDimension, size, stride);
  THArgCheck(reach == 0 ||
                 (storage && storageOffset >= 0 && storageOffset + reach <= storage->size),
             2, "%s: the tensor goes outside its storage", function);
  const ptrdiff_t bytes = nDimension * (ptrdiff_t)sizeof(int64_t);
  THCTensor *self = THCTensor_(new)(state);
  self->size = (int64_t *)THAlloc(bytes);
  self->stride = (int64_t *)THAlloc(bytes);
  setLayout(self, nDimension, size, stride);
  self->storageOffset = storageOffset;
  self->storage = storage;
  THCStorage_(retain)(state, storage);
  return self;
}

void THCTensor_(set)(THCState *state, THCTensor *self, THCTensor *source)
{
  THC_checkState(state, "THCTensor_set");
  if (self == source)
    return;
  reserveDimensions(self, source->nDimension);
  THCStorage *old = self->storage;
  pointAt(state, self, source);
  THCStorage_(free)(state, old);
}

/* ---- Content -------------------------------------------------------------------------------- */

namespace
{
struct Fill {
  real value;
  __device__ void operator()(real &element) const { element = value; }
};
struct Copy {
  __device__ void operator()(real &to, const real &from) const { to = from; }
};
} // namespace

void THCTensor_(fill)(THCState *state, THCTensor *self, real value)
{
  THCPlan plan;
  THC_planStart(&plan, "THCTensor_fill", state);
  THNNBuffer *all = THC_planOutLike(&plan, self, 2, self);
  THC_planAcquire(&plan);
  THC_apply(&plan, "fill", THCTensor_(nElement)(state, self), Fill{value}, THC_pointer<real>(all));
  THC_planRelease(&plan);
}

void THCTensor_(copy)(THCState *state, THCTensor *self, THCTensor *source)
{
  const char *function = "THCTensor_copy";
  THCPlan plan;
  THC_planStart(&plan, function, state);
  THNNBuffer *from = THC_planIn(&plan, source, 3);
  THNNBuffer *to = THC_planOutLike(&plan, self, 2, self);
  const ptrdiff_t count = THCTensor_(nElement)(state, self);
  THArgCheck(count == THCTensor_(nElement)(state, source), 3,
             "%s: expected as many elements in both tensors", function);
  THC_planAcquire(&plan);
  THC_apply(&plan, "copy", count, Copy{}, THC_pointer<real>(to), THC_pointer<const real>(from));
  THC_planRelease(&plan);
}
