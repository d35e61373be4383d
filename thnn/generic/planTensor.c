/* What the plan does with a tensor of this element type. */
#include "template.h"
#include "../planTensor.h"

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

static void resize(void *context, void *tensor, int nDimension, const int64_t *size)
{
  (void)context;
  THTensor_(resizeNd)(tensor, nDimension, (int64_t *)size, NULL);
}

static void set(void *context, void *tensor, void *source)
{
  (void)context;
  THTensor_(set)(tensor, source);
}

const THNNTensorOperations THNN_(TensorOperations) = {
    .view = view, .resize = resize, .set = set, .elementSize = sizeof(real)};
