/* Memory: the raising and the trying functions. */

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

int main(void)
{
  countAllocations();
  catchErrors();
  testFunctions();
  testTryAlloc();
  return checkResult();
}
