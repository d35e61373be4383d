/* Resizing, rule by rule. */

#include "real.h"

static void testContentAndStorageAreKept(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  real *data = tensor->storage->data;
  THTensor_(resize2d)(tensor, 3, 2);
  CHECK(hasSizes(tensor, SIZES(3, 2)) && hasStrides(tensor, STRIDES(2, 1)));
  CHECK(tensor->storage->data == data && tensor->storage->size == 24);
  CHECK(THTensor_(get2d)(tensor, 2, 1) == 5);
  THTensor_(resize1d)(tensor, 100);
  CHECK(tensor->storage->size == 100 && THTensor_(get1d)(tensor, 23) == 23);
  THTensor_(free)(tensor);
}

static void testOffsetCounts(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  THTensor_(narrow)(tensor, NULL, 0, 1, 1);
  THTensor_(resize1d)(tensor, 12);
  CHECK(tensor->storage->size == 24 && tensor->storageOffset == 12);
  THTensor_(resize1d)(tensor, 13);
  CHECK(tensor->storage->size == 25 && THTensor_(get1d)(tensor, 11) == 23);
  THTensor_(free)(tensor);
}

static void testSameSizesKeepStrides(void)
{
  THTensor *tensor = newCounting(1, 3, 4);
  THTensor_(transpose)(tensor, NULL, 1, 2);
  THTensor_(resize3d)(tensor, 1, 4, 3);
  CHECK(hasStrides(tensor, STRIDES(12, 1, 4)));
  THTensor *like = THTensor_(newWithSize3d)(1, 4, 3);
  THTensor_(resizeAs)(tensor, like);
  CHECK(hasStrides(tensor, STRIDES(12, 1, 4)));
  THTensor_(resize2d)(tensor, 4, 3);
  CHECK(hasStrides(tensor, STRIDES(3, 1)));
  THTensor_(free)(like);
  THTensor_(free)(tensor);
}

static void testDimensionListIsCut(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  THTensor_(resize4d)(tensor, 5, 2, 0, 3);
  CHECK(hasSizes(tensor, SIZES(5, 2)));
  THTensor_(resize2d)(tensor, -1, 3);
  CHECK(tensor->nDimension == 0 && tensor->storage->size == 24);
  THTensor_(resize5d)(tensor, 1, 2, 3, 4, 5);
  CHECK(hasSizes(tensor, SIZES(1, 2, 3, 4, 5)) && tensor->storage->size == 120);
  THTensor_(free)(tensor);
}

static void testEmptyTensors(void)
{
  THTensor *tensor = THTensor_(new)();
  THTensor_(resize1d)(tensor, 0);
  CHECK(tensor->nDimension == 0 && !tensor->storage);
  THTensor_(resize1d)(tensor, 3);
  CHECK(tensor->storage->size == 3 && tensor->storage->refcount == 1);
  CHECK(tensor->storage->allocator == &THDefaultAllocator && tensor->storage->flag == 7);
  THTensor_(free)(tensor);

  THStorage *storage = THStorage_(new)();
  tensor = THTensor_(newWithStorage)(storage, 0, NULL, NULL);
  THTensor_(resize2d)(tensor, 2, 2);
  CHECK(tensor->storage == storage && storage->size == 4);
  THTensor_(free)(tensor);
  THStorage_(free)(storage);
}

static void testStridesAreHonoured(void)
{
  THTensor *tensor = THTensor_(new)();
  THTensor_(resizeNd)(tensor, 2, (int64_t[]){3, 2}, (int64_t[]){5, -1});
  CHECK(hasStrides(tensor, STRIDES(5, 1)) && tensor->storage->size == 12);
  THTensor_(resizeNd)(tensor, 2, (int64_t[]){3, 2}, (int64_t[]){-1, 4});
  CHECK(hasStrides(tensor, STRIDES(8, 4)) && tensor->storage->size == 21);
  THTensor_(resizeNd)(tensor, 2, (int64_t[]){9, 2}, (int64_t[]){0, 1});
  CHECK(hasStrides(tensor, STRIDES(0, 1)) && tensor->storage->size == 21);

  /* The lists may be the tensor's own, from some dimension on. */
  THTensor_(resize3d)(tensor, 2, 3, 4);
  THTensor_(resizeNd)(tensor, 2, tensor->size + 1, NULL);
  CHECK(hasSizes(tensor, SIZES(3, 4)) && hasStrides(tensor, STRIDES(4, 1)));
  THTensor_(free)(tensor);
}

static void testUnresizableStorage(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  THStorage_(clearFlag)(tensor->storage, TH_STORAGE_RESIZABLE);
  THTensor_(resize2d)(tensor, 4, 6);
  CHECK(hasSizes(tensor, SIZES(4, 6)));
  CHECK_RAISES(THTensor_(resize2d)(tensor, 5, 5), "Trying to resize storage that is not resizable");
  CHECK(hasSizes(tensor, SIZES(4, 6)) && tensor->storage->size == 24);
  CHECK(THTensor_(get2d)(tensor, 3, 5) == 23);
  THTensor_(free)(tensor);
}

/* An allocator without realloc; counts its calls. */
static int allocations, releases;

static void *allocate(void *context, ptrdiff_t bytes)
{
  (void)context;
  allocations++;
  return THAlloc(bytes);
}

static void release(void *context, void *block)
{
  (void)context;
  releases++;
  THFree(block);
}

static void testAllocatorWithoutRealloc(void)
{
  THAllocator allocator = {allocate, NULL, release};
  THStorage *storage = THStorage_(newWithAllocator)(2, &allocator, NULL);
  storage->data[0] = 3;
  storage->data[1] = 4;
  THStorage_(resize)(storage, 5);
  CHECK(storage->size == 5 && storage->data[0] == 3 && storage->data[1] == 4);
  CHECK(allocations == 2 && releases == 1);
  THStorage_(resize)(storage, 0);
  CHECK(storage->size == 0 && storage->data == NULL && releases == 2);
  THStorage_(free)(storage);
  CHECK(releases == 2);
}

/* Data that the storage does not own is left alone when it grows. */
static void testForeignData(void)
{
  real data[] = {1, 2, 3};
  THStorage *storage = THStorage_(newWithData)(data, 3);
  THStorage_(clearFlag)(storage, TH_STORAGE_FREEMEM);
  THStorage_(resize)(storage, 4);
  CHECK(storage->data != data && storage->data[2] == 3 && data[2] == 3);
  CHECK(storage->flag & TH_STORAGE_FREEMEM);
  THStorage_(free)(storage);
}

static void testOverflow(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  const int64_t large = INT64_C(1) << 32;
  CHECK_RAISES(THTensor_(resize2d)(tensor, large, large), "too large");
  CHECK_RAISES(THTensor_(resize1d)(tensor, INT64_MAX), "not enough memory");
  CHECK_RAISES(THTensor_(resizeNd)(tensor, 2, (int64_t[]){3, 3}, (int64_t[]){INT64_MAX / 2, 1}),
               "too large");
  const int64_t half = INT64_MAX / 2;
  CHECK_RAISES(THTensor_(resizeNd)(tensor, 3, (int64_t[]){2, 2, 2}, (int64_t[]){half, half, half}),
               "too large");
  CHECK_RAISES(THTensor_(resizeNd)(tensor, 2, (int64_t[]){large, large}, (int64_t[]){0, 0}),
               "too large");
  CHECK_RAISES(THTensor_(newWithSize2d)(INT64_MAX, 2), "too large");
  CHECK_RAISES(THStorage_(newWithSize)(PTRDIFF_MAX), "not enough memory");
  CHECK_RAISES(THStorage_(newWithSize)(-1), "negative size");
  CHECK_RAISES(THStorage_(resize)(tensor->storage, -1), "negative size");
  CHECK(hasSizes(tensor, SIZES(2, 3, 4)) && THTensor_(get3d)(tensor, 1, 2, 3) == 23);
  THTensor_(free)(tensor);
}

static void testLists(void)
{
  THLongStorage *sizes = THLongStorage_newWithSize(2), *strides = THLongStorage_newWithSize(2);
  sizes->data[0] = 2;
  sizes->data[1] = 3;
  strides->data[0] = 1;
  strides->data[1] = 2;
  THTensor *tensor = THTensor_(newWithSize)(sizes, strides);
  CHECK(hasSizes(tensor, SIZES(2, 3)) && hasStrides(tensor, STRIDES(1, 2)));
  THTensor_(resize)(tensor, sizes, NULL);
  CHECK(hasStrides(tensor, STRIDES(1, 2)));
  THTensor_(setStorage)(tensor, tensor->storage, 0, sizes, NULL);
  CHECK(hasStrides(tensor, STRIDES(3, 1)) && tensor->storage->refcount == 1);
  THLongStorage_resize(strides, 1);
  CHECK_RAISES(THTensor_(resize)(tensor, sizes, strides), "differ in length");
  THLongStorage_free(sizes);
  THLongStorage_free(strides);
  THTensor_(free)(tensor);
}

int main(void)
{
  catchErrors();
  testContentAndStorageAreKept();
  testOffsetCounts();
  testSameSizesKeepStrides();
  testDimensionListIsCut();
  testEmptyTensors();
  testStridesAreHonoured();
  testUnresizableStorage();
  testAllocatorWithoutRealloc();
  testForeignData();
  testOverflow();
  testLists();
  return checkResult();
}
