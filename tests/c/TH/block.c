/* Reference-counted blocks: what somebody else holds neither moves nor dangles. */

#define _POSIX_C_SOURCE 200809L

#include "../allocations.h"
#include "../check.h"

#include <TH/THBlock.h>

#include <pthread.h>

static THFloatStorage *newStorage(ptrdiff_t size)
{
  THFloatStorage *storage = THFloatStorage_newWithAllocator(size, &THBlockAllocator, NULL);
  for (ptrdiff_t i = 0; i < size; i++)
    storage->data[i] = (float)i;
  return storage;
}

static void testLife(void)
{
  CHECK(THBlockAllocator.malloc(NULL, 0) == NULL);
  THBlock_retain(NULL);
  THBlock_release(NULL);
  CHECK(THBlock_count(NULL) == 0);

  THFloatStorage *storage = newStorage(100);
  float *data = storage->data;
  CHECK((uintptr_t)data % TH_BLOCK_ALIGNMENT == 0);
  CHECK(THBlock_count(data) == 1);
  THBlock_retain(data);
  THBlock_retain(data);
  THBlock_release(data);
  CHECK(THBlock_count(data) == 2);
  THFloatStorage_free(storage);
  CHECK(THBlock_count(data) == 1 && data[99] == 99);
  THBlock_release(data);
  CHECK(liveAllocations == 0);
}

static void testGrowthAlone(void)
{
  THFloatStorage *storage = newStorage(100);
  for (ptrdiff_t size = 300; size < 5000000; size *= 3) {
    THFloatStorage_resize(storage, size);
    CHECK((uintptr_t)storage->data % TH_BLOCK_ALIGNMENT == 0);
    CHECK(THBlock_count(storage->data) == 1 && storage->data[99] == 99);
    storage->data[size - 1] = 1;
  }
  THFloatStorage_resize(storage, 50);
  CHECK(storage->data[49] == 49 && (uintptr_t)storage->data % TH_BLOCK_ALIGNMENT == 0);
  THFloatStorage_resize(storage, 0);
  CHECK(storage->data == NULL && storage->size == 0);
  THFloatStorage_resize(storage, 3);
  CHECK(THBlock_count(storage->data) == 1);
  THFloatStorage_free(storage);
  CHECK(liveAllocations == 0);
}

static void testGrowthUnderAReference(void)
{
  THFloatTensor *tensor = THFloatTensor_new();
  tensor->storage = newStorage(100);
  THFloatTensor_resize2d(tensor, 10, 10);
  float *exported = THFloatTensor_data(tensor);
  THBlock_retain(exported);

  THFloatTensor_resize2d(tensor, 20, 20);
  float *grown = THFloatTensor_data(tensor);
  CHECK(grown != exported && grown[99] == 99);
  CHECK(THBlock_count(exported) == 1 && THBlock_count(grown) == 1);
  THFloatTensor_fill(tensor, -1);
  CHECK(exported[0] == 0 && exported[99] == 99);

  THBlock_retain(grown);
  THFloatStorage_resize(tensor->storage, 30);
  CHECK(THFloatTensor_data(tensor) == grown && THBlock_count(grown) == 2);
  THFloatStorage_resize(tensor->storage, 0);
  CHECK(THBlock_count(grown) == 1 && grown[399] == -1);
  THBlock_release(grown);
  THBlock_release(exported);
  THFloatTensor_free(tensor);
  CHECK(liveAllocations == 0);
}

static void testFailure(void)
{
  failAllocation(1);
  CHECK_RAISES(newStorage(10), "not enough memory");
  THFloatStorage *storage = newStorage(10);
  float *data = storage->data;
  failAllocation(1);
  CHECK_RAISES(THFloatStorage_resize(storage, 1000), "not enough memory");
  THBlock_retain(data);
  failAllocation(1);
  CHECK_RAISES(THFloatStorage_resize(storage, 1000), "not enough memory");
  CHECK(storage->data == data && storage->size == 10 && THBlock_count(data) == 2 && data[9] == 9);
  THBlock_release(data);
  THFloatStorage_free(storage);
  CHECK(liveAllocations == 0);
}

static pthread_barrier_t start;

static void *retainAndRelease(void *data)
{
  pthread_barrier_wait(&start);
  for (int i = 0; i < 1000000; i++) {
    THBlock_retain(data);
    THBlock_release(data);
  }
  return NULL;
}

static void testThreads(void)
{
  THFloatStorage *storage = newStorage(10);
  pthread_t threads[4];
  pthread_barrier_init(&start, NULL, 4);
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, retainAndRelease, storage->data);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&start);
  CHECK(THBlock_count(storage->data) == 1);
  THFloatStorage_free(storage);
}

int main(void)
{
  countAllocations();
  catchErrors();
  testLife();
  testGrowthAlone();
  testGrowthUnderAReference();
  testFailure();
  testThreads();
  return checkResult();
}
