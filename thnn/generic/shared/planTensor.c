/* What the plan does with a tensor of this element type. */
#include "generic/template.h"
#include "call/planTensor.h"

static THNNView view(const void *untyped)
{
  const THTensor *tensor = untyped;
  THNNView view = {
      .nDimension = tensor->nDimension,
      .size = tensor->size,
      .stride = tensor->stride,
      .resizable = !tensor->storage || (tensor->storage->flag & TH_STORAGE_RESIZABLE),
      .fixedSize = (tensor->flag & THNN_TENSOR_FIXED_SIZE) != 0,
  };
  if (tensor->storage && tensor->storage->data) {
    view.data = (char *)(tensor->storage->data + tensor->storageOffset);
    view.available = tensor->storage->size - tensor->storageOffset;
  }
  return view;
}

/* Makes room in the lists of sizes and strides, without any change that a caller can see. */
static void reserveDimensions(void *untyped, int nDimension)
{
  THTensor *tensor = untyped;
  if (nDimension <= tensor->nDimension)
    return;
  const ptrdiff_t bytes = nDimension * (ptrdiff_t)sizeof(int64_t);
  tensor->size = THRealloc(tensor->size, bytes);
  tensor->stride = THRealloc(tensor->stride, bytes);
}

static void reserve(void *context, void *untyped, int nDimension, const int64_t *size)
{
  (void)context;
  THTensor *tensor = untyped;
  reserveDimensions(tensor, nDimension);
  const int64_t needed = tensor->storageOffset + THNN_product(nDimension, size);
  if (!tensor->storage)
    tensor->storage = THStorage_(new)();
  if (tensor->storage->size < needed)
    THStorage_(resize)(tensor->storage, needed);
}

static void resize(void *untyped, int nDimension, const int64_t *size)
{
  THTensor *tensor = untyped;
  int64_t stride = 1;
  for (int d = nDimension - 1; d >= 0; d--) {
    tensor->size[d] = size[d];
    tensor->stride[d] = stride;
    stride *= size[d];
  }
  tensor->nDimension = nDimension;
}

/* Does what THTensor_(set) does, but does not allocate the lists anew, so that it cannot fail. */
static void set(void *context, void *untyped, void *untypedSource)
{
  (void)context;
  THTensor *tensor = untyped;
  const THTensor *source = untypedSource;
  THStorage *old = tensor->storage;
  if (source->storage)
    THStorage_(retain)(source->storage);
  tensor->storage = source->storage;
  tensor->storageOffset = source->storageOffset;
  tensor->nDimension = source->nDimension;
  for (int d = 0; d < source->nDimension; d++) {
    tensor->size[d] = source->size[d];
    tensor->stride[d] = source->stride[d];
  }
  THStorage_(free)(old);
}

const THNNTensorOperations THNN_(TensorOperations) = {.view = view,
                                                      .reserve = reserve,
                                                      .resize = resize,
                                                      .reserveDimensions = reserveDimensions,
                                                      .set = set,
                                                      .elementSize = sizeof(real)};
