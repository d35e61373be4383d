/* Tensors: life, access, views. */

#include "real.h"

static void testNew(void)
{
  THTensor *empty = THTensor_(new)();
  CHECK(empty->refcount == 1 && empty->flag == TH_TENSOR_REFCOUNTED);
  CHECK(empty->nDimension == 0 && !empty->size && !empty->stride && !empty->storage);
  CHECK(THTensor_(nElement)(empty) == 0 && THTensor_(data)(empty) == NULL);
  CHECK(THTensor_(isContiguous)(empty));
  THTensor_(free)(empty);

  THTensor *tensor = THTensor_(newWithSize4d)(2, 3, 4, 5);
  CHECK(hasSizes(tensor, SIZES(2, 3, 4, 5)) && hasStrides(tensor, STRIDES(60, 20, 5, 1)));
  CHECK(tensor->storage->size == 120 && tensor->storage->refcount == 1);
  CHECK(tensor->storage->flag ==
        (TH_STORAGE_REFCOUNTED | TH_STORAGE_RESIZABLE | TH_STORAGE_FREEMEM));
  CHECK(tensor->storage->allocator == &THDefaultAllocator);
  CHECK(THTensor_(nElement)(tensor) == 120);
  CHECK(strcmp(THTensor_(sizeDesc)(tensor).str, "[2 x 3 x 4 x 5]") == 0);
  THTensor_(free)(tensor);
  THTensor_(free)(NULL);
}

static void testReferences(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  THTensor *view = THTensor_(newWithTensor)(tensor);
  CHECK(THTensor_(isSetTo)(view, tensor) && tensor->storage->refcount == 2);
  THTensor_(retain)(tensor);
  CHECK(tensor->refcount == 2);
  THTensor_(free)(tensor);
  THTensor_(free)(tensor);
  CHECK(view->storage->refcount == 1 && THTensor_(get3d)(view, 1, 2, 3) == 23);

  THTensor *same = THTensor_(newContiguous)(view);
  CHECK(same == view && view->refcount == 2);
  THTensor_(free)(same);
  THTensor *clone = THTensor_(newClone)(view);
  CHECK(clone->storage != view->storage && THTensor_(equal)(clone, view));
  THTensor_(free)(clone);
  THTensor_(free)(view);
}

/* Who frees tensors by other means takes the flag away: then references are not counted. */
static void testFlags(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  THTensor_(clearFlag)(tensor, TH_TENSOR_REFCOUNTED);
  THTensor_(retain)(tensor);
  THTensor_(free)(tensor);
  CHECK(tensor->flag == 0 && tensor->refcount == 1 && THTensor_(get3d)(tensor, 1, 2, 3) == 23);
  THTensor_(setFlag)(tensor, TH_TENSOR_REFCOUNTED);
  THTensor_(retain)(tensor);
  CHECK(tensor->flag == TH_TENSOR_REFCOUNTED && tensor->refcount == 2);
  THTensor_(free)(tensor);
  THTensor_(free)(tensor);
}

static void testAccess(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  THTensor *matrix = THTensor_(newSelect)(tensor, 0, 1);
  THTensor *vector = THTensor_(newSelect)(matrix, 1, 2);
  CHECK(THTensor_(get2d)(matrix, 2, 3) == 23);
  CHECK(THTensor_(get1d)(vector, 1) == 18);
  THTensor_(set1d)(vector, 1, 7);
  CHECK(THTensor_(get3d)(tensor, 1, 1, 2) == 7);
  CHECK(THTensor_(size)(tensor, 2) == 4 && THTensor_(stride)(tensor, 0) == 12);
  CHECK(THTensor_(nDimension)(vector) == 1 && THTensor_(storageOffset)(vector) == 14);
  CHECK(THTensor_(storage)(vector) == tensor->storage);

  THTensor *four = THTensor_(newWithSize4d)(2, 2, 2, 3);
  THTensor_(zero)(four);
  THTensor_(set4d)(four, 1, 0, 1, 2, 5);
  CHECK(THTensor_(get4d)(four, 1, 0, 1, 2) == 5 && four->storage->data[17] == 5);
  CHECK(THTensor_(sumall)(four) == 5);
  THTensor_(free)(four);

  CHECK_RAISES(THTensor_(get1d)(vector, 3), "index 3 is out of range");
  CHECK(checkArgument == 2);
  CHECK_RAISES(THTensor_(set3d)(tensor, 0, 0, -1, 0), "index -1 is out of range");
  CHECK(checkArgument == 4);
  CHECK_RAISES(THTensor_(get2d)(tensor, 0, 0), "2 dimensions");
  CHECK_RAISES(THTensor_(size)(tensor, 3), "dimension 3 is out of range");
  CHECK_RAISES(THTensor_(stride)(tensor, -1), "dimension -1 is out of range");

  THLongStorage *sizes = THTensor_(newSizeOf)(tensor);
  THLongStorage *strides = THTensor_(newStrideOf)(tensor);
  CHECK(sizes->size == 3 && sizes->data[0] == 2 && sizes->data[2] == 4);
  CHECK(strides->size == 3 && strides->data[0] == 12 && strides->data[2] == 1);
  CHECK(THTensor_(isSize)(tensor, sizes) && !THTensor_(isSize)(matrix, sizes));
  THLongStorage_free(sizes);
  THLongStorage_free(strides);
  THTensor_(free)(vector);
  THTensor_(free)(matrix);
  THTensor_(free)(tensor);
}

static void testNarrowSelectTranspose(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  THTensor *view = THTensor_(newNarrow)(tensor, 1, 1, 2);
  CHECK(hasSizes(view, SIZES(2, 2, 4)) && hasStrides(view, STRIDES(12, 4, 1)));
  CHECK(view->storageOffset == 4 && !THTensor_(isContiguous)(view));
  CHECK(THTensor_(get3d)(view, 1, 1, 3) == 23);
  THTensor_(retain)(view);
  THTensor_(select)(view, NULL, 0, 1);
  CHECK(view->refcount == 2);
  THTensor_(free)(view);
  CHECK(hasSizes(view, SIZES(2, 4)) && view->storageOffset == 16);
  THTensor_(transpose)(view, NULL, 0, 1);
  CHECK(hasSizes(view, SIZES(4, 2)) && hasStrides(view, STRIDES(1, 4)));
  CHECK(THTensor_(get2d)(view, 3, 1) == 23 && !THTensor_(isContiguous)(view));

  THTensor *contiguous = THTensor_(newContiguous)(view);
  CHECK(contiguous != view && hasStrides(contiguous, STRIDES(2, 1)));
  CHECK(THTensor_(equal)(contiguous, view));
  THTensor_(free)(contiguous);

  /* A source with another storage: the old one is given up. */
  THTensor *other = newCounting(5, 1, 1);
  THTensor_(narrow)(other, tensor, 2, 0, 1);
  CHECK(other->storage == tensor->storage && hasSizes(other, SIZES(2, 3, 1)));
  THTensor_(free)(other);

  CHECK_RAISES(THTensor_(newSelect)(tensor, 3, 0), "dimension 3");
  CHECK(checkArgument == 2);
  CHECK_RAISES(THTensor_(select)(view, tensor, 2, 4), "index 4");
  CHECK(checkArgument == 4);
  CHECK_RAISES(THTensor_(narrow)(view, tensor, 1, 3, 1), "index 3");
  CHECK(checkArgument == 4);
  CHECK_RAISES(THTensor_(newNarrow)(tensor, 1, 1, 3), "size 3");
  CHECK(checkArgument == 4);
  CHECK_RAISES(THTensor_(newNarrow)(tensor, 1, 1, 0), "size 0");
  CHECK_RAISES(THTensor_(newTranspose)(tensor, 0, 3), "dimension 3");
  CHECK(checkArgument == 3);
  THTensor_(narrow)(view, tensor, 1, 0, 1);
  THTensor_(select)(view, NULL, 0, 0);
  THTensor_(select)(view, NULL, 0, 0);
  CHECK_RAISES(THTensor_(select)(view, NULL, 0, 0), "one dimension");
  THTensor_(free)(view);
  THTensor_(free)(tensor);
}

static void testUnfold(void)
{
  THTensor *tensor = newCounting(2, 7, 1);
  THTensor *windows = THTensor_(newUnfold)(tensor, 1, 3, 2);
  CHECK(hasSizes(windows, SIZES(2, 3, 1, 3)) && hasStrides(windows, STRIDES(7, 2, 1, 1)));
  CHECK(THTensor_(get4d)(windows, 1, 2, 0, 1) == 7 + 5);
  CHECK_RAISES(THTensor_(unfold)(windows, tensor, 1, 8, 1), "8 elements do not fit");
  CHECK(checkArgument == 4);
  CHECK_RAISES(THTensor_(unfold)(windows, tensor, 1, 1, 0), "step");
  CHECK(hasSizes(windows, SIZES(2, 3, 1, 3)));
  THTensor_(unfold)(windows, tensor, 1, 7, INT64_MAX);
  CHECK(hasSizes(windows, SIZES(2, 1, 1, 7)) && THTensor_(get4d)(windows, 1, 0, 0, 6) == 13);
  const int64_t large = INT64_C(1) << 40; /* elements, which are all the same one */
  THTensor *expanded = THTensor_(newWithStorage1d)(NULL, 0, large, 0);
  CHECK_RAISES(THTensor_(unfold)(windows, expanded, 0, large / 2, 1), "are too many elements");
  CHECK(hasSizes(windows, SIZES(2, 1, 1, 7)));
  THTensor_(free)(expanded);
  THTensor_(free)(windows);
  THTensor_(free)(tensor);
}

static void testSqueeze(void)
{
  THTensor *tensor = THTensor_(newWithSize4d)(1, 3, 1, 2);
  countUp(tensor, 0);
  THTensor *view = THTensor_(new)();
  THTensor_(squeeze)(view, tensor);
  CHECK(hasSizes(view, SIZES(3, 2)) && THTensor_(get2d)(view, 2, 1) == 5);
  THTensor_(unsqueeze1d)(view, NULL, 1);
  CHECK(hasSizes(view, SIZES(3, 1, 2)) && hasStrides(view, STRIDES(2, 2, 1)));
  THTensor_(unsqueeze1d)(view, NULL, 3);
  CHECK(hasSizes(view, SIZES(3, 1, 2, 1)) && THTensor_(isContiguous)(view));
  THTensor_(squeeze1d)(view, tensor, 1);
  CHECK(hasSizes(view, SIZES(1, 3, 1, 2)));
  THTensor_(squeeze1d)(view, tensor, 2);
  CHECK(hasSizes(view, SIZES(1, 3, 2)));
  CHECK_RAISES(THTensor_(unsqueeze1d)(view, NULL, 4), "cannot stand at 4");
  THTensor_(free)(tensor);

  tensor = THTensor_(newWithSize3d)(1, 1, 1);
  THTensor_(squeeze)(tensor, NULL);
  CHECK(hasSizes(tensor, SIZES(1)));
  THTensor_(squeeze1d)(tensor, NULL, 0);
  CHECK(hasSizes(tensor, SIZES(1)));
  THTensor_(free)(tensor);
  THTensor_(free)(view);
}

/* A list of sizes. */
static THLongStorage *newList(ptrdiff_t n, int64_t a, int64_t b, int64_t c)
{
  THLongStorage *list = THLongStorage_newWithSize(3);
  list->data[0] = a;
  list->data[1] = b;
  list->data[2] = c;
  THLongStorage_resize(list, n);
  return list;
}

static void testViewAndExpand(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  THLongStorage *sizes = newList(2, -1, 6, 0);
  THTensor *view = THTensor_(newView)(tensor, sizes);
  CHECK(hasSizes(view, SIZES(4, 6)) && hasStrides(view, STRIDES(6, 1)));
  CHECK(THTensor_(get2d)(view, 3, 5) == 23);
  sizes->data[1] = 7;
  CHECK_RAISES(THTensor_(newView)(tensor, sizes), "[-1 x 7] are no sizes");
  sizes->data[1] = -1;
  CHECK_RAISES(THTensor_(newView)(tensor, sizes), "no sizes");
  THTensor_(transpose)(view, NULL, 0, 1);
  CHECK_RAISES(THTensor_(newView)(view, sizes), "contiguous");
  THTensor_(narrow)(view, NULL, 0, 0, 1);
  THTensor_(narrow)(view, NULL, 1, 0, 1);
  sizes->data[0] = -1;
  sizes->data[1] = -1;
  CHECK_RAISES(THTensor_(newView)(view, sizes), "[-1 x -1] are no sizes");
  THLongStorage_free(sizes);
  THTensor_(free)(view);

  sizes = newList(3, 5, 3, 4);
  CHECK_RAISES(THTensor_(newExpand)(tensor, sizes), "cannot be expanded to [5 x 3 x 4]");
  THTensor_(narrow)(tensor, NULL, 0, 1, 1);
  view = THTensor_(newExpand)(tensor, sizes);
  CHECK(hasSizes(view, SIZES(5, 3, 4)) && hasStrides(view, STRIDES(0, 4, 1)));
  CHECK(THTensor_(get3d)(view, 4, 2, 3) == 23);
  THTensor_(free)(view);
  THTensor_(select)(tensor, NULL, 0, 0);
  view = THTensor_(newExpand)(tensor, sizes);
  CHECK(hasSizes(view, SIZES(5, 3, 4)) && THTensor_(get3d)(view, 4, 2, 3) == 23);
  sizes->data[0] = INT64_MAX / 4;
  CHECK_RAISES(THTensor_(newExpand)(tensor, sizes), "cannot be expanded");
  THLongStorage_free(sizes);
  THTensor_(free)(view);
  THTensor_(free)(tensor);
}

static void testStorageViews(void)
{
  THStorage *storage = THStorage_(newWithSize)(10);
  for (int i = 0; i < 10; i++)
    THStorage_(set)(storage, i, (real)i);
  THTensor *tensor = THTensor_(newWithStorage2d)(storage, 1, 2, 4, 3, -1);
  CHECK(storage->refcount == 2 && hasStrides(tensor, STRIDES(4, 1)));
  CHECK(THTensor_(get2d)(tensor, 1, 2) == 7);
  THTensor_(setStorage2d)(tensor, storage, 2, 2, 3, 3, 1);
  CHECK(hasSizes(tensor, SIZES(2, 3)) && hasStrides(tensor, STRIDES(3, 1)));
  CHECK(storage->refcount == 2 && THTensor_(get2d)(tensor, 1, 2) == 7);
  THTensor_(setStorage3d)(tensor, storage, 0, 2, 5, 2, 2, 1, 1);
  CHECK(storage->refcount == 2 && THTensor_(get3d)(tensor, 1, 1, 0) == 7);
  CHECK_RAISES(THTensor_(setStorage1d)(tensor, storage, -1, 2, 1), "negative storage offset");
  CHECK(tensor->storageOffset == 0 && tensor->nDimension == 3);
  THTensor_(setStorageNd)(tensor, NULL, 0, 0, NULL, NULL);
  CHECK(storage->refcount == 1 && tensor->nDimension == 0 && !tensor->storage);
  THTensor_(free)(tensor);
  CHECK_RAISES(THStorage_(get)(storage, 10), "index 10 is out of range");
  CHECK_RAISES(THStorage_(set)(storage, -1, 0), "index -1 is out of range");
  THStorage_(free)(storage);
}

static void testFreeCopyTo(void)
{
  THTensor *tensor = newCounting(2, 3, 4);
  THTensor *transposed = THTensor_(newTranspose)(tensor, 0, 2);
  THTensor *contiguous = THTensor_(newContiguous)(transposed);
  countUp(contiguous, 100);
  THTensor_(freeCopyTo)(contiguous, transposed);
  CHECK(THTensor_(get3d)(tensor, 1, 2, 3) == 100 + (3 * 3 + 2) * 2 + 1);
  THTensor_(retain)(tensor);
  THTensor_(freeCopyTo)(tensor, tensor);
  CHECK(tensor->refcount == 1);
  THTensor_(free)(transposed);
  THTensor_(free)(tensor);
}

int main(void)
{
  catchErrors();
  testNew();
  testReferences();
  testFlags();
  testAccess();
  testNarrowSelectTranspose();
  testUnfold();
  testSqueeze();
  testViewAndExpand();
  testStorageViews();
  testFreeCopyTo();
  return checkResult();
}
