/* Memory: the raising and the trying functions, and what each function of the library does when
 * its 1st, 2nd, 3rd … allocation fails: a clean error, nothing leaked, its tensors as before. */

#include "../allocations.h"
#include "real.h"

static void testFunctions(void)
{
  CHECK(THAlloc(0) == NULL);
  CHECK(THRealloc(THAlloc(3), 0) == NULL && liveAllocations == 0);
  char *block = THAlloc(3);
  memcpy(block, "ab", 3);
  block = THRealloc(block, 100000);
  CHECK(strcmp(block, "ab") == 0 && liveAllocations == 1);
  CHECK_RAISES(THAlloc(-1), "negative number of bytes");
  CHECK_RAISES(THRealloc(block, -1), "negative number of bytes");
  failAllocation(1);
  CHECK_RAISES(THRealloc(block, 200000), "not enough memory");
  failAllocation(1);
  CHECK_RAISES(THAlloc(5), "not enough memory: could not allocate 5 bytes");
  CHECK(strcmp(block, "ab") == 0);
  THFree(block);
  THFree(NULL);
  CHECK(liveAllocations == 0);
}

static void testTryAlloc(void)
{
  for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    char *block = THTryAlloc(alignment + 3, alignment);
    CHECK((uintptr_t)block % alignment == 0);
    memset(block, 1, alignment + 3);
    THTryFree(block);
  }
  void *empty = THTryAlloc(0, 64);
  CHECK(empty != NULL);
  THTryFree(empty);
  THTryFree(NULL);
  CHECK(THTryAlloc(SIZE_MAX - 10, 64) == NULL);
  failAllocation(1);
  CHECK(THTryAlloc(10, 64) == NULL);
  CHECK(liveAllocations == 0);
}

/* ---- Failing allocations
 *
 * Each call gets the same tensors, and frees what it makes. */

typedef struct Arguments {
  THTensor *matrix;     /* 3 x 5, counted up from 0 */
  THTensor *transposed; /* 5 x 4, not contiguous */
  THTensor *gappy;      /* 5 x 8, contiguous in neither dimension */
  THTensor *turned;     /* gappy transposed: 8 x 5 */
  THTensor *vector;     /* 8 elements, all the same one */
  THTensor *empty;
  THLongTensor *noIndices;
} Arguments;

static void callNew(Arguments *a)
{
  (void)a;
  THTensor_(free)(THTensor_(new)());
  THTensor_(free)(THTensor_(newWithSize3d)(2, 3, 4));
}

static void callNewWithStorage(Arguments *a)
{
  THTensor_(free)(THTensor_(newWithStorage2d)(a->matrix->storage, 2, 5, 1, 2, 1));
}

static void callNewWithStorageThatGrows(Arguments *a)
{
  THStorage *storage = a->matrix->storage;
  THTensor_(free)(THTensor_(newWithStorage2d)(storage, 2, 50, 10, 20, 1));
}

static void callNewClone(Arguments *a)
{
  THTensor_(free)(THTensor_(newClone)(a->matrix));
}

static void callNewContiguous(Arguments *a)
{
  THTensor_(free)(THTensor_(newContiguous)(a->transposed));
}

static void callNewWithTensor(Arguments *a)
{
  THTensor_(free)(THTensor_(newWithTensor)(a->transposed));
}

static void callNewSelect(Arguments *a)
{
  THTensor_(free)(THTensor_(newSelect)(a->matrix, 0, 1));
}

static void callNewUnfold(Arguments *a)
{
  THTensor_(free)(THTensor_(newUnfold)(a->matrix, 1, 2, 1));
}

static void callNewSizeOf(Arguments *a)
{
  THLongStorage_free(THTensor_(newSizeOf)(a->matrix));
}

static void callSet(Arguments *a)
{
  THTensor_(set)(a->empty, a->transposed);
}

static void callSetStorage(Arguments *a)
{
  THTensor_(setStorage4d)(a->matrix, NULL, 3, 2, -1, 3, -1, 4, -1, 5, -1);
}

static void callResizeEmpty(Arguments *a)
{
  THTensor_(resize3d)(a->empty, 2, 3, 4);
}

static void callResizeLarger(Arguments *a)
{
  THTensor_(resize5d)(a->matrix, 2, 3, 4, 5, 6);
}

static void callSelect(Arguments *a)
{
  THTensor_(select)(a->matrix, NULL, 1, 2);
}

static void callNarrow(Arguments *a)
{
  THTensor_(narrow)(a->matrix, a->transposed, 1, 1, 2);
}

static void callTranspose(Arguments *a)
{
  THTensor_(transpose)(a->matrix, NULL, 0, 1);
}

static void callUnfold(Arguments *a)
{
  THTensor_(unfold)(a->matrix, NULL, 1, 2, 1);
}

static void callSqueeze(Arguments *a)
{
  THTensor_(squeeze)(a->empty, a->matrix);
}

static void callCopy(Arguments *a)
{
  THTensor_(narrow)(a->transposed, NULL, 1, 0, 3);
  THTensor_(copy)(a->matrix, a->transposed);
}

static void callAdd(Arguments *a)
{
  THTensor_(add)(a->empty, a->transposed, 1);
}

static void callSum(Arguments *a)
{
  THTensor_(sum)(a->empty, a->transposed, 0, 0);
}

static void callCumsum(Arguments *a)
{
  THTensor_(cumsum)(a->empty, a->transposed, 0);
}

static void callStorage(Arguments *a)
{
  (void)a;
  THStorage *storage = THStorage_(newWithSize)(10);
  THStorage_(free)(storage);
}

static void callStorageWithData(Arguments *a)
{
  static real data[2];
  (void)a;
  THStorage *storage = THStorage_(newWithData)(data, 2);
  THStorage_(clearFlag)(storage, TH_STORAGE_FREEMEM);
  THStorage_(free)(storage);
}

static void callGenerator(Arguments *a)
{
  (void)a;
  THGenerator_free(THGenerator_new());
}

static void callSort(Arguments *a)
{
  THTensor_(sort)(a->empty, a->noIndices, a->matrix, 0, 1);
}

#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)

static void callAddmm(Arguments *a)
{
  THTensor_(resize2d)(a->empty, 8, 8);
  THTensor_(addmm)(a->empty, 0, a->empty, 1, a->turned, a->gappy);
}

static void callAddmv(Arguments *a)
{
  THTensor_(resize1d)(a->empty, 5);
  THTensor_(addmv)(a->empty, 0, a->empty, 1, a->gappy, a->vector);
}

#endif

typedef struct Call {
  const char *name;
  void (*function)(Arguments *arguments);
} Call;

static const Call calls[] = {
    {"new", callNew},
    {"newWithStorage", callNewWithStorage},
    {"newWithStorage that grows", callNewWithStorageThatGrows},
    {"newClone", callNewClone},
    {"newContiguous", callNewContiguous},
    {"newWithTensor", callNewWithTensor},
    {"newSelect", callNewSelect},
    {"newUnfold", callNewUnfold},
    {"newSizeOf", callNewSizeOf},
    {"set", callSet},
    {"setStorage", callSetStorage},
    {"resize of an empty tensor", callResizeEmpty},
    {"resize to more dimensions", callResizeLarger},
    {"select", callSelect},
    {"narrow", callNarrow},
    {"transpose", callTranspose},
    {"unfold", callUnfold},
    {"squeeze", callSqueeze},
    {"copy", callCopy},
    {"add", callAdd},
    {"sum", callSum},
    {"cumsum", callCumsum},
    {"sort", callSort},
    {"storage", callStorage},
    {"storage of data", callStorageWithData},
    {"generator", callGenerator},
#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)
    {"addmm", callAddmm},
    {"addmv", callAddmv},
#endif
};

static Arguments makeArguments(void)
{
  Arguments a = {.empty = THTensor_(new)(), .noIndices = THLongTensor_new()};
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
    /* All but these need memory. */
    CHECK(n > 1 || calls[i].function == callCopy);
  }
}

int main(void)
{
  countAllocations();
  catchErrors();
  testFunctions();
  testTryAlloc();
  testFailingAllocations();
  return checkResult();
}
