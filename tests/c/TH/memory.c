/* Memory: the raising and the trying functions. */

#include <pthread.h>
#include <stdlib.h>

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

enum { MEGABYTE = 1 << 20 };

/* A large block that is freed serves the next request, if that takes at least half of it. What is asked
 * of malloc in between gets other memory. */
static void testKeptBlock(void)
{
#if !defined(__SANITIZE_ADDRESS__)
  char *first = THTryAlloc(3 * MEGABYTE, 64);
  memset(first, 1, 3 * MEGABYTE);
  THTryFree(first);
  char *between = malloc(3 * MEGABYTE);
  char *small = THTryAlloc(MEGABYTE, 64), *again = THTryAlloc(2 * MEGABYTE, 64);
  char *other = THTryAlloc(2 * MEGABYTE, 64);
  CHECK(again == first && small != first && other != first);
  memset(between, 2, 3 * MEGABYTE);
  memset(again, 3, 2 * MEGABYTE);
  memset(other, 4, 2 * MEGABYTE);
  CHECK(between[0] == 2 && again[2 * MEGABYTE - 1] == 3);
  THTryFree(again); /* of 3 MB still, which is kept rather than one of 2 */
  THTryFree(other);
  THTryFree(small);
  free(between);
  between = malloc(3 * MEGABYTE);
  again = THTryAlloc(3 * MEGABYTE, 64);
  CHECK(again == first);
  THTryFree(again);
  free(between);
#endif
}

/* With functions of the program's own, every block is freed. */
static void testNothingKept(void)
{
  THTryFree(THTryAlloc(3 * MEGABYTE, 64));
  CHECK(liveAllocations == 0);
}

/* Several threads never have the same block. They meet often enough in so many turns for most runs to
 * fail if one can be taken twice; where every block is freed, turns take long. */
#if defined(__SANITIZE_ADDRESS__)
enum { TURNS = 200 };
#else
enum { TURNS = 500000 };
#endif

static void *takeBlocks(void *number)
{
  intptr_t wrong = 0;
  for (int i = 0; i < TURNS; i++) {
    volatile char *block = THTryAlloc((size_t)(1 + i % 2) * MEGABYTE, 64);
    for (int j = 0; j < 64; j++)
      block[j] = (char)(intptr_t)number;
    for (int j = 0; j < 64; j++)
      wrong += block[j] != (char)(intptr_t)number;
    THTryFree((void *)block);
  }
  return (void *)wrong;
}

static void testThreads(void)
{
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  for (intptr_t i = 0; i < THREADS; i++)
    CHECK(pthread_create(&thread[i], NULL, takeBlocks, (void *)(i + 1)) == 0);
  for (int i = 0; i < THREADS; i++) {
    void *wrong = NULL;
    pthread_join(thread[i], &wrong);
    CHECK(wrong == NULL);
  }
}

int main(void)
{
  testKeptBlock();
  testThreads();
  countAllocations();
  catchErrors();
  testNothingKept();
  testFunctions();
  testTryAlloc();
  return checkResult();
}
