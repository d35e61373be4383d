/* Views: tensors over the elements of another tensor.
 *
 * A view "in place" is built as a new tensor whose content then replaces the old one. */

#include "internal.h"

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

  THTensor *self = THTensor_(newSharing)(tensor, tensor->nDimension - 1);
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

  THTensor *self = THTensor_(newSharing)(tensor, n + 1);
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
  THTensor *self = THTensor_(newSharing)(tensor, (int)size->size);
  int64_t contiguous = 1;
  for (int d = self->nDimension - 1; d >= 0; d--) {
    self->size[d] = size->data[d] == -1 ? inferred : size->data[d];
    self->stride[d] = contiguous;
    contiguous *= self->size[d];
  }
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

  THTensor *self = THTensor_(newSharing)(tensor, (int)size->size);
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
  THTensor *self = THTensor_(newSharing)(tensor, tensor->nDimension);
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
  THTensor *self = THTensor_(newSharing)(tensor, tensor->nDimension + 1);
  for (int d = 0; d < tensor->nDimension; d++) {
    self->size[d < dimension ? d : d + 1] = tensor->size[d];
    self->stride[d < dimension ? d : d + 1] = tensor->stride[d];
  }
  bool isLast = dimension == tensor->nDimension;
  self->size[dimension] = 1;
  self->stride[dimension] = isLast ? 1 : tensor->size[dimension] * tensor->stride[dimension];
  return self;
}

/* ---- Views in place */

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
