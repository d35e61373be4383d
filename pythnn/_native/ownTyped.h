/* Template of native.c, included once per element type: what a pythnn_Owned may hold. */

#define TYPED(NAME) TH_CONCAT_2(NAME, Real)
#define THTensor TH_CONCAT_3(TH, Real, Tensor)
#define THTensor_(NAME) TH_CONCAT_4(TH, Real, Tensor_, NAME)
#define THStorage TH_CONCAT_3(TH, Real, Storage)
#define THStorage_(NAME) TH_CONCAT_4(TH, Real, Storage_, NAME)

static void *TYPED(newTensor)(void)
{
  return THTensor_(new)();
}

static void *TYPED(newView)(void *tensor)
{
  return THTensor_(newWithTensor)(tensor);
}

static void *TYPED(newStorage)(ptrdiff_t size)
{
  return THStorage_(newWithAllocator)(size, &THBlockAllocator, NULL);
}

static void *TYPED(newArrayStorage)(void *data, ptrdiff_t size, void *object)
{
  THStorage *storage = THStorage_(newWithDataAndAllocator)(data, size, &arrayAllocator, object);
  THStorage_(clearFlag)(storage, TH_STORAGE_RESIZABLE);
  return storage;
}

static void TYPED(setStorage)(void *tensor, void *storage, int nDimension, int64_t *size)
{
  THTensor_(setStorageNd)(tensor, storage, 0, nDimension, size, NULL);
}

static void TYPED(retainStorage)(void *storage)
{
  THStorage_(retain)(storage);
}

static void TYPED(freeTensor)(void *tensor)
{
  THTensor_(free)(tensor);
}

static void TYPED(freeStorage)(void *storage)
{
  THStorage_(free)(storage);
}

static const Type TYPED(type) = {
    .newTensor = TYPED(newTensor),
    .newView = TYPED(newView),
    .newStorage = TYPED(newStorage),
    .newArrayStorage = TYPED(newArrayStorage),
    .setStorage = TYPED(setStorage),
    .retainStorage = TYPED(retainStorage),
    .freeTensor = TYPED(freeTensor),
    .freeStorage = TYPED(freeStorage),
};

#undef TYPED
#undef THTensor
#undef THTensor_
#undef THStorage
#undef THStorage_
