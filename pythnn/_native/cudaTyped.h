/* Template of cuda.c, included once per element type: what a pythnn_CudaOwned may hold. */

#define TYPED(NAME) TH_CONCAT_2(NAME, CReal)
#define THCTensor TH_CONCAT_3(TH, CReal, Tensor)
#define THCTensor_(NAME) TH_CONCAT_4(TH, CReal, Tensor_, NAME)
#define THCStorage TH_CONCAT_3(TH, CReal, Storage)
#define THCStorage_(NAME) TH_CONCAT_4(TH, CReal, Storage_, NAME)

static void *TYPED(newTensor)(THCState *state, void *storage, ptrdiff_t offset, int nDimension,
                              const int64_t *size, const int64_t *stride)
{
  if (!storage)
    return THCTensor_(new)(state);
  return THCTensor_(newWithStorage)(state, storage, offset, nDimension, size, stride);
}

static void *TYPED(newStorage)(THCState *state, ptrdiff_t size)
{
  return THCStorage_(newWithSize)(state, size);
}

static void *TYPED(newArrayStorage)(THCState *state, uintptr_t data, ptrdiff_t size,
                                    const THCAllocator *allocator, void *object)
{
  THCStorage *storage = THCStorage_(newWithData)(state, (real *)data, size);
  storage->allocator = allocator;
  storage->allocatorContext = object;
  storage->flag |= TH_STORAGE_FREEMEM;
  return storage;
}

static void TYPED(retainStorage)(THCState *state, void *storage)
{
  THCStorage_(retain)(state, storage);
}

static void TYPED(freeTensor)(THCState *state, void *tensor)
{
  THCTensor_(free)(state, tensor);
}

static void TYPED(freeStorage)(THCState *state, void *storage)
{
  THCStorage_(free)(state, storage);
}

static const Type TYPED(type) = {
    .newTensor = TYPED(newTensor),
    .newStorage = TYPED(newStorage),
    .newArrayStorage = TYPED(newArrayStorage),
    .retainStorage = TYPED(retainStorage),
    .freeTensor = TYPED(freeTensor),
    .freeStorage = TYPED(freeStorage),
};

#undef TYPED
#undef THCTensor
#undef THCTensor_
#undef THCStorage
#undef THCStorage_
