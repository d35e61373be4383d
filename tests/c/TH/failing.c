/* What each function of the library does when its 1st, 2nd, 3rd … allocation fails: a clean error, nothing
 * leaked, its tensors as before. test_interface.py compares the calls with the headers. */

#include "../allocations.h"
#include "real.h"

/* Each call gets the same arguments, and frees what it makes. */
typedef struct Arguments {
  THTensor *matrix;     /* 3 x 5, counted up from 0 */
  THTensor *transposed; /* 5 x 4, not contiguous */
  THTensor *gappy;      /* 5 x 8, contiguous in neither dimension */
  THTensor *turned;     /* gappy transposed: 8 x 5 */
  THTensor *vector;     /* 8 elements, all the same one */
  THTensor *empty;
  THLongTensor *noIndices;
  THStorage *storage;   /* 4 elements */
  THLongStorage *sizes; /* 5 x 3 */
  THLongStorage *more;  /* 2 x 3 x 5 */
  THGenerator *generator;
  void *data; /* of 4 elements; what takes it over sets it to NULL */
} Arguments;

/* A call of a function; a name and a statement. */
#define CALL(NAME, STATEMENT)                                                                      \
  static void call_##NAME(Arguments *a)                                                            \
  {                                                                                                \
    (void)a;                                                                                       \
    STATEMENT;                                                                                     \
  }

/* ---- Storages */

CALL(storageNew, THStorage_(free)(THStorage_(new)()))
CALL(storageNewWithSize, THStorage_(free)(THStorage_(newWithSize)(10)))
CALL(storageNewWithAllocator,
     THStorage_(free)(THStorage_(newWithAllocator)(10, &THDefaultAllocator, NULL)))
CALL(storageResize, THStorage_(resize)(a->storage, 10))

static void call_storageNewWithData(Arguments *a)
{
  THStorage *storage = THStorage_(newWithData)(a->data, 4);
  a->data = NULL;
  THStorage_(free)(storage);
}

static void call_storageNewWithDataAndAllocator(Arguments *a)
{
  THStorage *storage = THStorage_(newWithDataAndAllocator)(a->data, 4, &THDefaultAllocator, NULL);
  a->data = NULL;
  THStorage_(free)(storage);
}

/* ---- New tensors */

CALL(newSizeOf, THLongStorage_free(THTensor_(newSizeOf)(a->matrix)))
CALL(newStrideOf, THLongStorage_free(THTensor_(newStrideOf)(a->matrix)))
CALL(new, THTensor_(free)(THTensor_(new)()))
CALL(newWithSize, THTensor_(free)(THTensor_(newWithSize)(a->sizes, NULL)))
CALL(newWithSize1d, THTensor_(free)(THTensor_(newWithSize1d)(2)))
CALL(newWithSize2d, THTensor_(free)(THTensor_(newWithSize2d)(2, 3)))
CALL(newWithSize3d, THTensor_(free)(THTensor_(newWithSize3d)(2, 3, 4)))
CALL(newWithSize4d, THTensor_(free)(THTensor_(newWithSize4d)(2, 3, 4, 5)))
CALL(newWithStorage,
     THTensor_(free)(THTensor_(newWithStorage)(a->matrix->storage, 0, a->sizes, NULL)))
CALL(newWithStorage1d, THTensor_(free)(THTensor_(newWithStorage1d)(a->matrix->storage, 2, 5, 1)))
CALL(newWithStorage2d,
     THTensor_(free)(THTensor_(newWithStorage2d)(a->matrix->storage, 2, 5, 1, 2, 1)))
CALL(newWithStorage3d, THTensor_(free)(THTensor_(newWithStorage3d)(NULL, 2, 5, 1, 2, 1, 2, 1)))
CALL(newWithStorage4d,
     THTensor_(free)(THTensor_(newWithStorage4d)(NULL, 2, 5, 1, 2, 1, 2, 1, 2, 1)))
CALL(newWithStorageThatGrows,
     THTensor_(free)(THTensor_(newWithStorage2d)(a->storage, 2, 50, 10, 20, 1)))
CALL(newWithTensor, THTensor_(free)(THTensor_(newWithTensor)(a->transposed)))
CALL(newSelect, THTensor_(free)(THTensor_(newSelect)(a->matrix, 0, 1)))
CALL(newNarrow, THTensor_(free)(THTensor_(newNarrow)(a->matrix, 0, 1, 2)))
CALL(newTranspose, THTensor_(free)(THTensor_(newTranspose)(a->matrix, 0, 1)))
CALL(newUnfold, THTensor_(free)(THTensor_(newUnfold)(a->matrix, 1, 2, 1)))
CALL(newView, THTensor_(free)(THTensor_(newView)(a->matrix, a->sizes)))
CALL(newExpand, THTensor_(free)(THTensor_(newExpand)(a->matrix, a->more)))
CALL(newClone, THTensor_(free)(THTensor_(newClone)(a->matrix)))
CALL(newContiguous, THTensor_(free)(THTensor_(newContiguous)(a->transposed)))

/* ---- Sizes and views */

CALL(resize, THTensor_(resize)(a->empty, a->sizes, NULL))
CALL(resizeAs, THTensor_(resizeAs)(a->empty, a->matrix))
CALL(resizeNd, THTensor_(resizeNd)(a->empty, 3, SIZES(2, 3, 4), NULL))
CALL(resize1d, THTensor_(resize1d)(a->empty, 2))
CALL(resize2d, THTensor_(resize2d)(a->empty, 2, 3))
CALL(resize3d, THTensor_(resize3d)(a->empty, 2, 3, 4))
CALL(resize4d, THTensor_(resize4d)(a->matrix, 2, 3, 4, 5))
CALL(resize5d, THTensor_(resize5d)(a->matrix, 2, 3, 4, 5, 6))
CALL(set, THTensor_(set)(a->empty, a->transposed))
CALL(setStorage, THTensor_(setStorage)(a->empty, NULL, 3, a->sizes, NULL))
CALL(setStorageNd, THTensor_(setStorageNd)(a->empty, NULL, 3, 2, SIZES(2, 3), STRIDES(3, 1)))
CALL(setStorage1d, THTensor_(setStorage1d)(a->matrix, NULL, 3, 2, -1))
CALL(setStorage2d, THTensor_(setStorage2d)(a->matrix, NULL, 3, 2, -1, 3, -1))
CALL(setStorage3d, THTensor_(setStorage3d)(a->matrix, NULL, 3, 2, -1, 3, -1, 4, -1))
CALL(setStorage4d, THTensor_(setStorage4d)(a->matrix, NULL, 3, 2, -1, 3, -1, 4, -1, 5, -1))
CALL(select, THTensor_(select)(a->empty, a->transposed, 1, 2))
CALL(narrow, THTensor_(narrow)(a->matrix, a->transposed, 1, 1, 2))
CALL(transpose, THTensor_(transpose)(a->matrix, NULL, 0, 1))
CALL(unfold, THTensor_(unfold)(a->matrix, NULL, 1, 2, 1))
CALL(squeeze, THTensor_(squeeze)(a->empty, a->matrix))
CALL(squeeze1d, THTensor_(squeeze1d)(a->empty, a->matrix, 0))
CALL(unsqueeze1d, THTensor_(unsqueeze1d)(a->matrix, NULL, 0))

/* ---- Elements */

static void call_copyNarrowed(Arguments *a)
{
  THTensor_(narrow)(a->transposed, NULL, 1, 0, 3);
  THTensor_(copy)(a->matrix, a->transposed);
}

CALL(add, THTensor_(add)(a->empty, a->transposed, 1))
CALL(sub, THTensor_(sub)(a->empty, a->transposed, 1))
CALL(mul, THTensor_(mul)(a->empty, a->transposed, 1))
CALL(cadd, THTensor_(cadd)(a->empty, a->transposed, 1, a->transposed))
CALL(csub, THTensor_(csub)(a->empty, a->transposed, 1, a->transposed))
CALL(cmul, THTensor_(cmul)(a->empty, a->transposed, a->transposed))
CALL(addcmul, THTensor_(addcmul)(a->empty, a->gappy, 1, a->gappy, a->gappy))
CALL(abs, THTensor_(abs)(a->empty, a->transposed))
CALL(sum, THTensor_(sum)(a->empty, a->transposed, 0, 0))
CALL(cumsum, THTensor_(cumsum)(a->empty, a->transposed, 0))
CALL(sort, THTensor_(sort)(a->empty, a->noIndices, a->matrix, 0, 1))
CALL(generatorNew, THGenerator_free(THGenerator_new()))
CALL(randperm, THTensor_(randperm)(a->empty, a->generator, 5))

#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)
CALL(div, THTensor_(div)(a->empty, a->transposed, 2))
CALL(cdiv, THTensor_(cdiv)(a->empty, a->transposed, a->transposed))
CALL(addcdiv, THTensor_(addcdiv)(a->empty, a->gappy, 1, a->gappy, a->gappy))
CALL(sqrt, THTensor_(sqrt)(a->empty, a->transposed))
CALL(sigmoid, THTensor_(sigmoid)(a->empty, a->transposed))
CALL(tanh, THTensor_(tanh)(a->empty, a->transposed))

static void call_addr(Arguments *a)
{
  THTensor_(resize2d)(a->empty, 8, 8);
  THTensor_(addr)(a->empty, 0, a->empty, 1, a->vector, a->vector);
}

static void call_addmm(Arguments *a)
{
  THTensor_(resize2d)(a->empty, 8, 8);
  THTensor_(addmm)(a->empty, 0, a->empty, 1, a->turned, a->gappy);
}

static void call_addmv(Arguments *a)
{
  THTensor_(resize1d)(a->empty, 5);
  THTensor_(addmv)(a->empty, 0, a->empty, 1, a->gappy, a->vector);
}

static void call_baddbmm(Arguments *a)
{
  THTensor_(resize3d)(a->empty, 1, 8, 8);
  THTensor_(unsqueeze1d)(a->turned, NULL, 0);
  THTensor_(unsqueeze1d)(a->gappy, NULL, 0);
  THTensor_(baddbmm)(a->empty, 0, a->empty, 1, a->turned, a->gappy);
}
#endif

typedef struct Call {
  const char *name;
  void (*function)(Arguments *arguments);
} Call;

#define LISTED(NAME) {#NAME, call_##NAME}

static const Call calls[] = {
    LISTED(storageNew),
    LISTED(storageNewWithSize),
    LISTED(storageNewWithAllocator),
    LISTED(storageResize),
    LISTED(storageNewWithData),
    LISTED(storageNewWithDataAndAllocator),
    LISTED(newSizeOf),
    LISTED(newStrideOf),
    LISTED(new),
    LISTED(newWithSize),
    LISTED(newWithSize1d),
    LISTED(newWithSize2d),
    LISTED(newWithSize3d),
    LISTED(newWithSize4d),
    LISTED(newWithStorage),
    LISTED(newWithStorage1d),
    LISTED(newWithStorage2d),
    LISTED(newWithStorage3d),
    LISTED(newWithStorage4d),
    LISTED(newWithStorageThatGrows),
    LISTED(newWithTensor),
    LISTED(newSelect),
    LISTED(newNarrow),
    LISTED(newTranspose),
    LISTED(newUnfold),
    LISTED(newView),
    LISTED(newExpand),
    LISTED(newClone),
    LISTED(newContiguous),
    LISTED(resize),
    LISTED(resizeAs),
    LISTED(resizeNd),
    LISTED(resize1d),
    LISTED(resize2d),
    LISTED(resize3d),
    LISTED(resize4d),
    LISTED(resize5d),
    LISTED(set),
    LISTED(setStorage),
    LISTED(setStorageNd),
    LISTED(setStorage1d),
    LISTED(setStorage2d),
    LISTED(setStorage3d),
    LISTED(setStorage4d),
    LISTED(select),
    LISTED(narrow),
    LISTED(transpose),
    LISTED(unfold),
    LISTED(squeeze),
    LISTED(squeeze1d),
    LISTED(unsqueeze1d),
    LISTED(copyNarrowed),
    LISTED(add),
    LISTED(sub),
    LISTED(mul),
    LISTED(cadd),
    LISTED(csub),
    LISTED(cmul),
    LISTED(addcmul),
    LISTED(abs),
    LISTED(sum),
    LISTED(cumsum),
    LISTED(sort),
    LISTED(generatorNew),
    LISTED(randperm),
#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)
    LISTED(div),
    LISTED(cdiv),
    LISTED(addcdiv),
    LISTED(sqrt),
    LISTED(sigmoid),
    LISTED(tanh),
    LISTED(addr),
    LISTED(addmm),
    LISTED(addmv),
    LISTED(baddbmm),
#endif
};

static Arguments makeArguments(void)
{
  Arguments a = {.empty = THTensor_(new)(),
                 .noIndices = THLongTensor_new(),
                 .storage = THStorage_(newWithSize)(4),
                 .sizes = THLongStorage_newWithSize(2),
                 .more = THLongStorage_newWithSize(3),
                 .generator = THGenerator_new(),
                 .data = THAlloc(4 * sizeof(real))};
  memcpy(a.sizes->data, STRIDES(5, 3), 2 * sizeof(int64_t));
  memcpy(a.more->data, STRIDES(2, 3, 5), 3 * sizeof(int64_t));
  a.matrix = newCounting(1, 3, 5);
  THTensor_(select)(a.matrix, NULL, 0, 0);
  a.transposed = newCounting(1, 4, 5);
  THTensor_(select)(a.transposed, NULL, 0, 0);
  THTensor_(transpose)(a.transposed, NULL, 0, 1);
  a.gappy = newCounting(5, 8, 2);
  THTensor_(select)(a.gappy, NULL, 2, 1);
  a.turned = THTensor_(newTranspose)(a.gappy, 0, 1);
  a.vector = THTensor_(newWithStorage1d)(NULL, 0, 8, 0);
  THTensor_(fill)(a.vector, 1);
  return a;
}

static void freeArguments(Arguments *a)
{
  THTensor_(free)(a->matrix);
  THTensor_(free)(a->transposed);
  THTensor_(free)(a->gappy);
  THTensor_(free)(a->turned);
  THTensor_(free)(a->vector);
  THTensor_(free)(a->empty);
  THLongTensor_free(a->noIndices);
  THStorage_(free)(a->storage);
  THLongStorage_free(a->sizes);
  THLongStorage_free(a->more);
  THGenerator_free(a->generator);
  THFree(a->data);
}

/* Whether the elements of a result lie in its storage. */
static int isValid(const THTensor *tensor)
{
  ptrdiff_t end = tensor->storageOffset + 1;
  for (int d = 0; d < tensor->nDimension; d++)
    end += (tensor->size[d] - 1) * tensor->stride[d];
  return tensor->nDimension == 0 || (tensor->storage && tensor->storage->size >= end);
}

/* Calls with the n-th allocation failing; returns whether that raised an error. */
static int failsAt(const Call *call, long n)
{
  Arguments a = makeArguments(), before = makeArguments();
  const long live = liveAllocations;
  volatile int failed = 1;
  failAllocation(n);
  if (setjmp(checkJump) == 0) {
    call->function(&a);
    failed = 0;
  }
  failAllocation(0);
  if (failed) {
    CHECK(strncmp(checkMessage, "not enough memory", 17) == 0);
    CHECK(hasSizes(a.matrix, SIZES(3, 5)) && THTensor_(equal)(a.matrix, before.matrix));
    CHECK(THTensor_(equal)(a.transposed, before.transposed));
    CHECK(a.matrix->storage->refcount == 1 && a.transposed->storage->refcount == 1);
    CHECK(a.storage->refcount == 1 && a.storage->size >= 4 && a.data);
    CHECK(isValid(a.empty));
  }
  /* Whatever is live now belongs to a tensor: nothing is when they are gone. */
  freeArguments(&a);
  freeArguments(&before);
  if (liveAllocations != 0)
    printf("%s: %ld of %ld allocations leaked\n", call->name, liveAllocations, live);
  CHECK(liveAllocations == 0);
  liveAllocations = 0;
  return failed;
}

static void testFailingAllocations(void)
{
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    long n = 1;
    while (n < 100 && failsAt(&calls[i], n))
      n++;
    CHECK(n < 100);
    /* All but this one need memory. */
    CHECK(n > 1 || calls[i].function == call_copyNarrowed);
  }
}

int main(void)
{
  countAllocations();
  catchErrors();
  testFailingAllocations();
  return checkResult();
}
