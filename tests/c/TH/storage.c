/* Storages. */

#include "real.h"

static void testConstruction(void)
{
  THStorage *empty = THStorage_(new)();
  CHECK(empty->size == 0 && empty->data == NULL && empty->refcount == 1);
  THStorage_(free)(empty);
  THStorage_(free)(NULL);

  real *data = THAlloc(3 * sizeof(real));
  THStorage *storage = THStorage_(newWithData)(data, 3);
  CHECK(storage->data == data && storage->size == 3 && storage->flag == 7);
  CHECK(THStorage_(data)(storage) == data && THStorage_(size)(storage) == 3);
  CHECK(THStorage_(elementSize)() == sizeof(real));
  THStorage_(retain)(storage);
  THStorage_(free)(storage);
  CHECK(storage->refcount == 1);
  THStorage_(free)(storage);
}

static void testContent(void)
{
  THStorage *storage = THStorage_(newWithSize)(3), *other = THStorage_(newWithSize)(3);
  THStorage_(fill)(storage, 5);
  THStorage_(set)(storage, 1, 6);
  THStorage_(copy)(other, storage);
  CHECK(other->data[0] == 5 && other->data[1] == 6 && other->data[2] == 5);
  THStorage_(resize)(other, 1);
  CHECK_RAISES(THStorage_(copy)(other, storage), "1 and 3 elements");
  THStorage_(rawCopy)(other, storage->data + 1);
  CHECK(THStorage_(get)(other, 0) == 6);

  THStorage_(retain)(storage);
  THStorage_(swap)(storage, other);
  CHECK(storage->size == 1 && storage->refcount == 2 && other->size == 3 && other->refcount == 1);
  THStorage_(free)(storage);
  THStorage_(free)(storage);
  THStorage_(free)(other);
}

/* Large blocks begin at a cache line, also when a small one has grown into them. */
static void testGrowth(void)
{
  THStorage *kept[8]; /* blocks beside each other, of which not all begin at one */
  for (int i = 0; i < 8; i++) {
    kept[i] = THStorage_(newWithSize)(3 + i);
    THStorage_(fill)(kept[i], (real)i);
  }
  for (int i = 0; i < 8; i++) {
    THStorage_(resize)(kept[i], 5000);
    CHECK((uintptr_t)kept[i]->data % 64 == 0);
    CHECK(kept[i]->data[0] == (real)i && kept[i]->data[2 + i] == (real)i);
    THStorage_(resize)(kept[i], 40000);
    CHECK((uintptr_t)kept[i]->data % 64 == 0 && kept[i]->data[2 + i] == (real)i);
  }
  for (int i = 0; i < 8; i++)
    THStorage_(free)(kept[i]);
}

static void testFlags(void)
{
  THStorage *storage = THStorage_(newWithSize)(3);
  THStorage_(clearFlag)(storage, TH_STORAGE_RESIZABLE);
  CHECK(storage->flag == (TH_STORAGE_REFCOUNTED | TH_STORAGE_FREEMEM));
  CHECK_RAISES(THStorage_(resize)(storage, 1), "not resizable");
  THStorage_(setFlag)(storage, TH_STORAGE_RESIZABLE);
  THStorage_(resize)(storage, 1);

  /* A view owns a reference to the storage that its data lies in. */
  THStorage *view = THStorage_(newWithData)(storage->data, 1);
  THStorage_(clearFlag)(view, TH_STORAGE_FREEMEM | TH_STORAGE_RESIZABLE);
  THStorage_(setFlag)(view, TH_STORAGE_VIEW);
  view->view = storage;
  THStorage_(retain)(storage);
  THStorage_(free)(view);
  CHECK(storage->refcount == 1);
  THStorage_(free)(storage);
}

int main(void)
{
  catchErrors();
  testConstruction();
  testContent();
  testGrowth();
  testFlags();
  return checkResult();
}
