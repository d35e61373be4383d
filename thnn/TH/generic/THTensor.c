/* Tensors: access, construction, sizes.
 *
 * Errors leave by longjmp, so a function must not own anything when it raises one. Constructors
 * therefore check first, then allocate the storage, which may raise, and last the tensor itself,
 * which does not: allocateTensor returns NULL and the caller cleans up. */

#include "internal.h"

#include <string.h>

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(offsetof(THTensor, stride) == 8 && offsetof(THTensor, nDimension) == 16 &&
                   offsetof(THTensor, storage) == 24 && offsetof(THTensor, storageOffset) == 32 &&
                   offsetof(THTensor, refcount) == 40 && offsetof(THTensor, flag) == 44 &&
                   sizeof(THTensor) == 48,
               "the layout is Torch7's");
#endif

/* ---- Access */

THStorage *THTensor_(storage)(const THTensor *self)
{
  return self->storage;
}

ptrdiff_t THTensor_(storageOffset)(const THTensor *self)
{
  return self->storageOffset;
}

int THTensor_(nDimension)(const THTensor *self)
{
  return self->nDimension;
}

int64_t THTensor_(size)(const THTensor *self, int dimension)
{
  THTensor_(checkDimension)(self, dimension, 2);
  return self->size[dimension];
}

int64_t THTensor_(stride)(const THTensor *self, int dimension)
{
  THTensor_(checkDimension)(self, dimension, 2);
  return self->stride[dimension];
}

real *THTensor_(data)(const THTensor *self)
{
  /* Not `NULL + offset`, which is undefined. */
  return self->storage && self->storage->data ? self->storage->data + self->storageOffset : NULL;
}

ptrdiff_t THTensor_(nElement)(const THTensor *self)
{
  if (self->nDimension == 0)
    return 0;
  ptrdiff_t elements = 1;
  for (int d = 0; d < self->nDimension; d++)
    elements *= self->size[d];
  return elements;
}

/* A storage with one entry per dimension. */
static THLongStorage *newListOf(const THTensor *self, const int64_t *entries)
{
  THLongStorage *list = THLongStorage_newWithSize(self->nDimension);
  for (int d = 0; d < self->nDimension; d++)
    list->data[d] = entries[d];
  return list;
}

THLongStorage *THTensor_(newSizeOf)(THTensor *self)
{
  return newListOf(self, self->size);
}

THLongStorage *THTensor_(newStrideOf)(THTensor *self)
{
  return newListOf(self, self->stride);
}

THDescBuff THTensor_(sizeDesc)(const THTensor *self)
{
  return _THSizeDesc(self->size, self->nDimension);
}

int THTensor_(isContiguous)(const THTensor *self)
{
  int64_t contiguous = 1;
  for (int d = self->nDimension - 1; d >= 0; d--) {
    if (self->size[d] == 1)
      continue;
    if (self->stride[d] != contiguous)
      return 0;
    contiguous *= self->size[d];
  }
  return 1;
}

/* Whether two lists of n entries are the same. */
static bool sameList(int n, const int64_t *first, const int64_t *second)
{
  for (int i = 0; i < n; i++)
    if (first[i] != second[i])
      return false;
  return true;
}

int THTensor_(isSameSizeAs)(const THTensor *self, const THTensor *other)
{
  return self->nDimension == other->nDimension &&
         sameList(self->nDimension, self->size, other->size);
}

int THTensor_(isSetTo)(const THTensor *self, const THTensor *other)
{
  return self->storage && self->storage == other->storage &&
         self->storageOffset == other->storageOffset && THTensor_(isSameSizeAs)(self, other) &&
         sameList(self->nDimension, self->stride, other->stride);
}

int THTensor_(isSize)(const THTensor *self, const THLongStorage *sizes)
{
  return self->nDimension == sizes->size && sameList(self->nDimension, self->size, sizes->data);
}

/* The address of the element with these n indices; raises an error if there is none. */
static real *elementAt(const THTensor *self, int n, const int64_t *index)
{
  THArgCheck(self->nDimension == n, 1, "a tensor of %d dimensions is needed, this one has %d", n,
             self->nDimension);
  ptrdiff_t offset = self->storageOffset;
  for (int d = 0; d < n; d++) {
    THArgCheck(index[d] >= 0 && index[d] < self->size[d], d + 2,
               "index %lld is out of range: dimension %d has size %lld", (long long)index[d], d,
               (long long)self->size[d]);
    offset += index[d] * self->stride[d];
  }
  return self->storage->data + offset;
}

real THTensor_(get1d)(const THTensor *self, int64_t x0)
{
  return *elementAt(self, 1, &x0);
}

real THTensor_(get2d)(const THTensor *self, int64_t x0, int64_t x1)
{
  return *elementAt(self, 2, (int64_t[]){x0, x1});
}

real THTensor_(get3d)(const THTensor *self, int64_t x0, int64_t x1, int64_t x2)
{
  return *elementAt(self, 3, (int64_t[]){x0, x1, x2});
}

real THTensor_(get4d)(const THTensor *self, int64_t x0, int64_t x1, int64_t x2, int64_t x3)
{
  return *elementAt(self, 4, (int64_t[]){x0, x1, x2, x3});
}

void THTensor_(set1d)(THTensor *self, int64_t x0, real value)
{
  *elementAt(self, 1, &x0) = value;
}

void THTensor_(set2d)(THTensor *self, int64_t x0, int64_t x1, real value)
{
  *elementAt(self, 2, (int64_t[]){x0, x1}) = value;
}

void THTensor_(set3d)(THTensor *self, int64_t x0, int64_t x1, int64_t x2, real value)
{
  *elementAt(self, 3, (int64_t[]){x0, x1, x2}) = value;
}

void THTensor_(set4d)(THTensor *self, int64_t x0, int64_t x1, int64_t x2, int64_t x3, real value)
{
  *elementAt(self, 4, (int64_t[]){x0, x1, x2, x3}) = value;
}

/* ---- Layouts: lists of sizes and strides as the callers give them */

typedef struct Layout {
  int nDimension;
  const int64_t *size;
  const int64_t *stride; /* NULL or a negative entry: the contiguous stride */
} Layout;

/* A layout whose sizes are all positive: the list ends before the first that is not. */
static Layout layoutOf(int nDimension, const int64_t *size, const int64_t *stride)
{
  int n = 0;
  while (n < nDimension && size[n] > 0)
    n++;
  return (Layout){n, size, stride};
}

/* The layout given by lists of sizes and strides, either of which may be NULL. */
static Layout layoutOfStorages(const THLongStorage *size, const THLongStorage *stride)
{
  if (size && stride && size->size != stride->size)
    THError("the lists of sizes (%td) and strides (%td) differ in length", size->size,
            stride->size);
  return layoutOf(size ? (int)size->size : 0, size ? size->data : NULL,
                  size && stride ? stride->data : NULL);
}

/* The stride of dimension d, given the one that makes it contiguous. */
static int64_t strideIn(const Layout *layout, int d, int64_t contiguous)
{
  return layout->stride && layout->stride[d] >= 0 ? layout->stride[d] : contiguous;
}

/* The number of elements that a storage needs for this layout; 0 if it is empty. Raises an error
 * when the number of elements or an offset in the storage overflows. */
static ptrdiff_t storageSizeFor(const Layout *layout, ptrdiff_t storageOffset)
{
  if (storageOffset < 0)
    THError("a tensor cannot have a negative storage offset (%td)", storageOffset);
  if (layout->nDimension == 0)
    return 0;
  int64_t elements = 1, contiguous = 1, end;
  bool overflow = TH_ADD_OVERFLOWS((int64_t)storageOffset, 1, &end);
  for (int d = layout->nDimension - 1; d >= 0 && !overflow; d--) {
    int64_t reach, stride = strideIn(layout, d, contiguous);
    overflow = TH_MULTIPLY_OVERFLOWS(elements, layout->size[d], &elements) ||
               TH_MULTIPLY_OVERFLOWS(layout->size[d] - 1, stride, &reach) ||
               TH_ADD_OVERFLOWS(end, reach, &end) ||
               TH_MULTIPLY_OVERFLOWS(layout->size[d], stride, &contiguous);
  }
  if (overflow)
    THError("a tensor of size %s is too large", _THSizeDesc(layout->size, layout->nDimension).str);
  return (ptrdiff_t)end;
}

/* Gives self the sizes and strides of the layout. Its arrays must be long enough; they may be the
 * layout's lists themselves. */
static void writeLayout(THTensor *self, const Layout *layout)
{
  int n = layout->nDimension;
  int64_t contiguous = 1;
  if (n > 0)
    memmove(self->size, layout->size, (size_t)n * sizeof(int64_t));
  if (n > 0 && layout->stride)
    memmove(self->stride, layout->stride, (size_t)n * sizeof(int64_t));
  for (int d = n - 1; d >= 0; d--) {
    if (!layout->stride || self->stride[d] < 0)
      self->stride[d] = contiguous;
    contiguous = self->size[d] * self->stride[d];
  }
  self->nDimension = n;
}

/* ---- Construction */

/* An empty tensor with room for n dimensions, or NULL when there is no memory. */
static THTensor *allocateTensor(int n)
{
  THTensor *self = THRawAlloc(sizeof(THTensor));
  if (!self)
    return NULL;
  *self = (THTensor){.refcount = 1, .flag = TH_TENSOR_REFCOUNTED};
  if (n == 0)
    return self;
  self->size = THRawAlloc((size_t)n * sizeof(int64_t));
  self->stride = THRawAlloc((size_t)n * sizeof(int64_t));
  if (self->size && self->stride)
    return self;
  THTensor_(free)(self);
  return NULL;
}

/* A storage of at least `needed` elements, for a tensor to hold: this one, which grows if it is too
 * small, or a new one for NULL. */
static THStorage *heldStorage(THStorage *storage, ptrdiff_t needed)
{
  if (!storage && needed > 0)
    return THStorage_(newWithSize)(needed);
  if (storage && storage->size < needed)
    THStorage_(resize)(storage, needed);
  THStorage_(retain)(storage);
  return storage;
}

/* A new tensor over a storage, which it retains; over a new storage if `storage` is NULL. */
static THTensor *newWithLayout(THStorage *storage, ptrdiff_t storageOffset, Layout layout)
{
  ptrdiff_t needed = storageSizeFor(&layout, storageOffset);
  storage = heldStorage(storage, needed);
  THTensor *self = allocateTensor(layout.nDimension);
  if (!self) {
    THStorage_(free)(storage);
    THOutOfMemory(sizeof(THTensor));
  }
  writeLayout(self, &layout);
  self->storage = storage;
  self->storageOffset = storageOffset;
  return self;
}

THTensor *THTensor_(newSharing)(const THTensor *tensor, int n)
{
  THTensor *self = allocateTensor(n);
  if (!self)
    THOutOfMemory(sizeof(THTensor));
  THStorage_(retain)(tensor->storage);
  self->storage = tensor->storage;
  self->storageOffset = tensor->storageOffset;
  self->nDimension = n;
  return self;
}

THTensor *THTensor_(new)(void)
{
  return newWithLayout(NULL, 0, layoutOf(0, NULL, NULL));
}

void THTensor_(retain)(THTensor *self)
{
  if (self && (self->flag & TH_TENSOR_REFCOUNTED))
    TH_ATOMIC_FETCH_ADD(&self->refcount, 1);
}

void THTensor_(free)(THTensor *self)
{
  if (!self || !(self->flag & TH_TENSOR_REFCOUNTED))
    return;
  if (TH_ATOMIC_FETCH_ADD(&self->refcount, -1) != 1)
    return;
  THRawFree(self->size);
  THRawFree(self->stride);
  THStorage_(free)(self->storage);
  THRawFree(self);
}

void THTensor_(setFlag)(THTensor *self, const char flag)
{
  self->flag |= flag;
}

void THTensor_(clearFlag)(THTensor *self, const char flag)
{
  self->flag &= (char)~flag;
}

void THTensor_(freeCopyTo)(THTensor *self, THTensor *destination)
{
  if (self != destination)
    THTensor_(copy)(destination, self);
  THTensor_(free)(self);
}

THTensor *THTensor_(newWithStorage)(THStorage *storage, ptrdiff_t storageOffset,
                                    THLongStorage *size, THLongStorage *stride)
{
  return newWithLayout(storage, storageOffset, layoutOfStorages(size, stride));
}

THTensor *THTensor_(newWithStorage1d)(THStorage *storage, ptrdiff_t storageOffset, int64_t size0,
                                      int64_t stride0)
{
  return newWithLayout(storage, storageOffset, layoutOf(1, &size0, &stride0));
}

THTensor *THTensor_(newWithStorage2d)(THStorage *storage, ptrdiff_t storageOffset, int64_t size0,
                                      int64_t stride0, int64_t size1, int64_t stride1)
{
  int64_t size[] = {size0, size1};
  int64_t stride[] = {stride0, stride1};
  return newWithLayout(storage, storageOffset, layoutOf(2, size, stride));
}

THTensor *THTensor_(newWithStorage3d)(THStorage *storage, ptrdiff_t storageOffset, int64_t size0,
                                      int64_t stride0, int64_t size1, int64_t stride1,
                                      int64_t size2, int64_t stride2)
{
  int64_t size[] = {size0, size1, size2};
  int64_t stride[] = {stride0, stride1, stride2};
  return newWithLayout(storage, storageOffset, layoutOf(3, size, stride));
}

THTensor *THTensor_(newWithStorage4d)(THStorage *storage, ptrdiff_t storageOffset, int64_t size0,
                                      int64_t stride0, int64_t size1, int64_t stride1,
                                      int64_t size2, int64_t stride2, int64_t size3,
                                      int64_t stride3)
{
  int64_t size[] = {size0, size1, size2, size3};
  int64_t stride[] = {stride0, stride1, stride2, stride3};
  return newWithLayout(storage, storageOffset, layoutOf(4, size, stride));
}

THTensor *THTensor_(newWithSize)(THLongStorage *size, THLongStorage *stride)
{
  return THTensor_(newWithStorage)(NULL, 0, size, stride);
}

THTensor *THTensor_(newWithSize1d)(int64_t size0)
{
  return THTensor_(newWithStorage1d)(NULL, 0, size0, -1);
}

THTensor *THTensor_(newWithSize2d)(int64_t size0, int64_t size1)
{
  return THTensor_(newWithStorage2d)(NULL, 0, size0, -1, size1, -1);
}

THTensor *THTensor_(newWithSize3d)(int64_t size0, int64_t size1, int64_t size2)
{
  return THTensor_(newWithStorage3d)(NULL, 0, size0, -1, size1, -1, size2, -1);
}

THTensor *THTensor_(newWithSize4d)(int64_t size0, int64_t size1, int64_t size2, int64_t size3)
{
  return THTensor_(newWithStorage4d)(NULL, 0, size0, -1, size1, -1, size2, -1, size3, -1);
}

THTensor *THTensor_(newWithTensor)(THTensor *tensor)
{
  THTensor *self = THTensor_(newSharing)(tensor, tensor->nDimension);
  writeLayout(self, &(Layout){tensor->nDimension, tensor->size, tensor->stride});
  return self;
}

THTensor *THTensor_(newClone)(THTensor *tensor)
{
  THTensor *self = newWithLayout(NULL, 0, layoutOf(tensor->nDimension, tensor->size, NULL));
  THTensor_(copy)(self, tensor); /* raises no error: the sizes are equal */
  return self;
}

THTensor *THTensor_(newContiguous)(THTensor *tensor)
{
  if (!THTensor_(isContiguous)(tensor))
    return THTensor_(newClone)(tensor);
  THTensor_(retain)(tensor);
  return tensor;
}

/* ---- Sizes */

/* Whether self has the layout's sizes, and the strides that it gives. */
static bool hasLayout(const THTensor *self, const Layout *layout)
{
  if (self->nDimension != layout->nDimension)
    return false;
  for (int d = 0; d < self->nDimension; d++)
    if (self->size[d] != layout->size[d] || self->stride[d] != strideIn(layout, d, self->stride[d]))
      return false;
  return true;
}

/* Makes self a view of a storage, which grows if it is too small; NULL means a new storage. */
static void setLayout(THTensor *self, THStorage *storage, ptrdiff_t storageOffset, Layout layout)
{
  ptrdiff_t needed = storageSizeFor(&layout, storageOffset);
  if (layout.nDimension > self->nDimension) {
    self->size = THRealloc(self->size, layout.nDimension * (ptrdiff_t)sizeof(int64_t));
    self->stride = THRealloc(self->stride, layout.nDimension * (ptrdiff_t)sizeof(int64_t));
  }
  THStorage *old = self->storage;
  storage = heldStorage(storage, needed);
  writeLayout(self, &layout);
  self->storage = storage;
  self->storageOffset = storageOffset;
  THStorage_(free)(old);
}

/* Resizes self unless it has the layout already. */
static void resizeTo(THTensor *self, Layout layout)
{
  if (!hasLayout(self, &layout))
    setLayout(self, self->storage, self->storageOffset, layout);
}

void THTensor_(resizeNd)(THTensor *self, int nDimension, int64_t *size, int64_t *stride)
{
  resizeTo(self, layoutOf(nDimension, size, stride));
}

void THTensor_(resize)(THTensor *self, THLongStorage *size, THLongStorage *stride)
{
  resizeTo(self, layoutOfStorages(size, stride));
}

void THTensor_(resizeAs)(THTensor *self, THTensor *other)
{
  resizeTo(self, layoutOf(other->nDimension, other->size, NULL));
}

void THTensor_(resize1d)(THTensor *self, int64_t size0)
{
  resizeTo(self, layoutOf(1, &size0, NULL));
}

void THTensor_(resize2d)(THTensor *self, int64_t size0, int64_t size1)
{
  resizeTo(self, layoutOf(2, (int64_t[]){size0, size1}, NULL));
}

void THTensor_(resize3d)(THTensor *self, int64_t size0, int64_t size1, int64_t size2)
{
  resizeTo(self, layoutOf(3, (int64_t[]){size0, size1, size2}, NULL));
}

void THTensor_(resize4d)(THTensor *self, int64_t size0, int64_t size1, int64_t size2, int64_t size3)
{
  resizeTo(self, layoutOf(4, (int64_t[]){size0, size1, size2, size3}, NULL));
}

void THTensor_(resize5d)(THTensor *self, int64_t size0, int64_t size1, int64_t size2, int64_t size3,
                         int64_t size4)
{
  resizeTo(self, layoutOf(5, (int64_t[]){size0, size1, size2, size3, size4}, NULL));
}

/* ---- Views of storages in place */

void THTensor_(set)(THTensor *self, THTensor *source)
{
  if (source && source != self)
    setLayout(self, source->storage, source->storageOffset,
              (Layout){source->nDimension, source->size, source->stride});
}

void THTensor_(setStorageNd)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                             int nDimension, int64_t *size, int64_t *stride)
{
  setLayout(self, storage, storageOffset, layoutOf(nDimension, size, stride));
}

void THTensor_(setStorage)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                           THLongStorage *size, THLongStorage *stride)
{
  setLayout(self, storage, storageOffset, layoutOfStorages(size, stride));
}

void THTensor_(setStorage1d)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                             int64_t size0, int64_t stride0)
{
  setLayout(self, storage, storageOffset, layoutOf(1, &size0, &stride0));
}

void THTensor_(setStorage2d)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                             int64_t size0, int64_t stride0, int64_t size1, int64_t stride1)
{
  int64_t size[] = {size0, size1};
  int64_t stride[] = {stride0, stride1};
  setLayout(self, storage, storageOffset, layoutOf(2, size, stride));
}

void THTensor_(setStorage3d)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                             int64_t size0, int64_t stride0, int64_t size1, int64_t stride1,
                             int64_t size2, int64_t stride2)
{
  int64_t size[] = {size0, size1, size2};
  int64_t stride[] = {stride0, stride1, stride2};
  setLayout(self, storage, storageOffset, layoutOf(3, size, stride));
}

void THTensor_(setStorage4d)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                             int64_t size0, int64_t stride0, int64_t size1, int64_t stride1,
                             int64_t size2, int64_t stride2, int64_t size3, int64_t stride3)
{
  int64_t size[] = {size0, size1, size2, size3};
  int64_t stride[] = {stride0, stride1, stride2, stride3};
  setLayout(self, storage, storageOffset, layoutOf(4, size, stride));
}
