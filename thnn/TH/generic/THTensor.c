/* Tensors: access, construction, sizes, views.
 *
 * Errors leave by longjmp, so a function must not own anything when it raises one. Constructors
 * therefore check first, then allocate the storage, which may raise, and last the tensor itself,
 * which does not: allocateTensor returns NULL and the caller cleans up. A view "in place" is built
 * as a new tensor whose content then replaces the old one. */

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

/* A new tensor over a storage, which it retains; over a new storage if `storage` is NULL. */
static THTensor *newWithLayout(THStorage *storage, ptrdiff_t storageOffset, Layout layout)
{
  ptrdiff_t needed = storageSizeFor(&layout, storageOffset);
  if (!storage && needed > 0) {
    storage = THStorage_(newWithSize)(needed);
  } else {
    if (storage && storage->size < needed)
      THStorage_(resize)(storage, needed);
    THStorage_(retain)(storage);
  }

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

/* A new tensor that shares the storage of another, with n sizes and strides left to the caller. */
static THTensor *newSharing(const THTensor *tensor, int n)
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
  THTensor *self = newSharing(tensor, tensor->nDimension);
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

/* ---- New views
 *
 * `position`, for error messages, is that of the first argument after the tensor. */

static THTensor *newSelected(THTensor *tensor, int dimension, int64_t index, int position)
{
  if (tensor->nDimension == 1)
    THError("cannot select a slice of a tensor of one dimension");
  THTensor_(checkDimension)(tensor, dimension, position);
  THArgCheck(index >= 0 && index < tensor->size[dimension], position + 1,
             "index %lld is out of range: dimension %d has size %lld", (long long)index, dimension,
             (long long)tensor->size[dimension]);

  THTensor *self = newSharing(tensor, tensor->nDimension - 1);
  self->storageOffset += index * tensor->stride[dimension];
  for (int d = 0; d < self->nDimension; d++) {
    self->size[d] = tensor->size[d < dimension ? d : d + 1];
    self->stride[d] = tensor->stride[d < dimension ? d : d + 1];
  }
  return self;
}

static THTensor *newNarrowed(THTensor *tensor, int dimension, int64_t first, int64_t size,
                             int position)
{
  THTensor_(checkDimension)(tensor, dimension, position);
  int64_t available = tensor->size[dimension];
  THArgCheck(first >= 0 && first < available, position + 1,
             "index %lld is out of range: dimension %d has size %lld", (long long)first, dimension,
             (long long)available);
  THArgCheck(size > 0 && size <= available - first, position + 2,
             "size %lld is out of range: dimension %d has %lld elements from index %lld on",
             (long long)size, dimension, (long long)(available - first), (long long)first);

  THTensor *self = THTensor_(newWithTensor)(tensor);
  self->storageOffset += first * self->stride[dimension];
  self->size[dimension] = size;
  return self;
}

static THTensor *newTransposed(THTensor *tensor, int dimension1, int dimension2, int position)
{
  THTensor_(checkDimension)(tensor, dimension1, position);
  THTensor_(checkDimension)(tensor, dimension2, position + 1);
  THTensor *self = THTensor_(newWithTensor)(tensor);
  self->size[dimension1] = tensor->size[dimension2];
  self->stride[dimension1] = tensor->stride[dimension2];
  self->size[dimension2] = tensor->size[dimension1];
  self->stride[dimension2] = tensor->stride[dimension1];
  return self;
}

static THTensor *newUnfolded(THTensor *tensor, int dimension, int64_t size, int64_t step,
                             int position)
{
  THTensor_(checkDimension)(tensor, dimension, position);
  THArgCheck(size > 0 && size <= tensor->size[dimension], position + 1,
             "windows of %lld elements do not fit: dimension %d has size %lld", (long long)size,
             dimension, (long long)tensor->size[dimension]);
  THArgCheck(step > 0, position + 2, "the step must be positive, found %lld", (long long)step);

  int n = tensor->nDimension;
  int64_t windows = (tensor->size[dimension] - size) / step + 1;
  int64_t elements = windows;
  bool overflow = TH_MULTIPLY_OVERFLOWS(elements, size, &elements);
  for (int d = 0; d < n; d++)
    if (d != dimension)
      overflow = overflow || TH_MULTIPLY_OVERFLOWS(elements, tensor->size[d], &elements);
  if (overflow)
    THError("the windows of a tensor of size %s are too many elements",
            THTensor_(sizeDesc)(tensor).str);

  THTensor *self = newSharing(tensor, n + 1);
  for (int d = 0; d < n; d++) {
    self->size[d] = tensor->size[d];
    self->stride[d] = tensor->stride[d];
  }
  self->size[n] = size;
  self->stride[n] = tensor->stride[dimension];
  self->size[dimension] = windows;
  /* With a single window the step does not matter, and the stride could overflow. */
  if (windows > 1)
    self->stride[dimension] *= step;
  return self;
}

THTensor *THTensor_(newSelect)(THTensor *tensor, int dimension, int64_t index)
{
  return newSelected(tensor, dimension, index, 2);
}

THTensor *THTensor_(newNarrow)(THTensor *tensor, int dimension, int64_t first, int64_t size)
{
  return newNarrowed(tensor, dimension, first, size, 2);
}

THTensor *THTensor_(newTranspose)(THTensor *tensor, int dimension1, int dimension2)
{
  return newTransposed(tensor, dimension1, dimension2, 2);
}

THTensor *THTensor_(newUnfold)(THTensor *tensor, int dimension, int64_t size, int64_t step)
{
  return newUnfolded(tensor, dimension, size, step, 2);
}

/* The size that -1 stands for in a list of sizes for `elements` elements; raises an error if the
 * sizes do not fit that number. */
static int64_t inferSize(const THLongStorage *sizes, int64_t elements)
{
  int64_t known = 1;
  int unknown = 0;
  bool valid = elements > 0;
  for (ptrdiff_t d = 0; d < sizes->size; d++) {
    if (sizes->data[d] == -1)
      unknown++;
    else if (sizes->data[d] <= 0 || TH_MULTIPLY_OVERFLOWS(known, sizes->data[d], &known))
      valid = false;
  }
  if (!valid || unknown > 1 || (unknown == 1 ? elements % known != 0 : elements != known))
    THError("%s are no sizes for a tensor of %lld elements",
            _THSizeDesc(sizes->data, sizes->size).str, (long long)elements);
  return elements / known;
}

THTensor *THTensor_(newView)(THTensor *tensor, THLongStorage *size)
{
  THArgCheck(THTensor_(isContiguous)(tensor), 1, "the tensor must be contiguous");
  int64_t inferred = inferSize(size, THTensor_(nElement)(tensor));
  THTensor *self = newSharing(tensor, (int)size->size);
  for (int d = 0; d < self->nDimension; d++)
    self->size[d] = size->data[d] == -1 ? inferred : size->data[d];
  writeLayout(self, &(Layout){self->nDimension, self->size, NULL});
  return self;
}

THTensor *THTensor_(newExpand)(THTensor *tensor, THLongStorage *size)
{
  int added = (int)size->size - tensor->nDimension;
  int64_t elements = 1;
  bool valid = tensor->nDimension > 0 && added >= 0;
  for (int d = 0; d < size->size && valid; d++) {
    bool repeated = d < added || tensor->size[d - added] == 1;
    valid = size->data[d] > 0 && (repeated || size->data[d] == tensor->size[d - added]) &&
            !TH_MULTIPLY_OVERFLOWS(elements, size->data[d], &elements);
  }
  if (!valid)
    THError("a tensor of size %s cannot be expanded to %s", THTensor_(sizeDesc)(tensor).str,
            _THSizeDesc(size->data, size->size).str);

  THTensor *self = newSharing(tensor, (int)size->size);
  for (int d = 0; d < self->nDimension; d++) {
    bool kept = d >= added && tensor->size[d - added] == size->data[d];
    self->size[d] = size->data[d];
    self->stride[d] = kept ? tensor->stride[d - added] : 0;
  }
  return self;
}

/* A view without the dimensions of size 1 from `first` to `last`; at least one dimension stays. */
static THTensor *newSqueezed(const THTensor *tensor, int first, int last)
{
  THTensor *self = newSharing(tensor, tensor->nDimension);
  int n = 0;
  for (int d = 0; d < tensor->nDimension; d++) {
    bool dropped = d >= first && d <= last && tensor->size[d] == 1;
    if (dropped && !(n == 0 && d == tensor->nDimension - 1))
      continue;
    self->size[n] = tensor->size[d];
    self->stride[n] = tensor->stride[d];
    n++;
  }
  self->nDimension = n;
  return self;
}

/* A view with a new dimension of size 1. */
static THTensor *newUnsqueezed(const THTensor *tensor, int dimension)
{
  THTensor *self = newSharing(tensor, tensor->nDimension + 1);
  for (int d = 0; d < tensor->nDimension; d++) {
    self->size[d < dimension ? d : d + 1] = tensor->size[d];
    self->stride[d < dimension ? d : d + 1] = tensor->stride[d];
  }
  bool isLast = dimension == tensor->nDimension;
  self->size[dimension] = 1;
  self->stride[dimension] = isLast ? 1 : tensor->size[dimension] * tensor->stride[dimension];
  return self;
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
  if (!storage && needed > 0) {
    storage = THStorage_(newWithSize)(needed);
  } else {
    if (storage && storage->size < needed)
      THStorage_(resize)(storage, needed);
    THStorage_(retain)(storage);
  }
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

/* ---- Views in place */

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

/* Moves the content of a view into self and frees the view. */
static void become(THTensor *self, THTensor *view)
{
  THTensor old = *self;
  *self = *view;
  *view = old;
  view->refcount = self->refcount;
  view->flag = self->flag;
  self->refcount = old.refcount;
  self->flag = old.flag;
  THTensor_(free)(view);
}

void THTensor_(select)(THTensor *self, THTensor *source, int dimension, int64_t index)
{
  become(self, newSelected(source ? source : self, dimension, index, 3));
}

void THTensor_(narrow)(THTensor *self, THTensor *source, int dimension, int64_t first, int64_t size)
{
  become(self, newNarrowed(source ? source : self, dimension, first, size, 3));
}

void THTensor_(transpose)(THTensor *self, THTensor *source, int dimension1, int dimension2)
{
  become(self, newTransposed(source ? source : self, dimension1, dimension2, 3));
}

void THTensor_(unfold)(THTensor *self, THTensor *source, int dimension, int64_t size, int64_t step)
{
  become(self, newUnfolded(source ? source : self, dimension, size, step, 3));
}

void THTensor_(squeeze)(THTensor *self, THTensor *source)
{
  source = source ? source : self;
  become(self, newSqueezed(source, 0, source->nDimension - 1));
}

void THTensor_(squeeze1d)(THTensor *self, THTensor *source, int dimension)
{
  source = source ? source : self;
  THTensor_(checkDimension)(source, dimension, 3);
  become(self, newSqueezed(source, dimension, dimension));
}

void THTensor_(unsqueeze1d)(THTensor *self, THTensor *source, int dimension)
{
  source = source ? source : self;
  THArgCheck(source->nDimension > 0, 2, "an empty tensor cannot get a dimension");
  THArgCheck(dimension >= 0 && dimension <= source->nDimension, 3,
             "a new dimension cannot stand at %d: the tensor has %d dimensions", dimension,
             source->nDimension);
  become(self, newUnsqueezed(source, dimension));
}
