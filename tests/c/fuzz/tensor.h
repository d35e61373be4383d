/* Template of making.c: tensors of an element type.
 * Real and real are the type's names in libTH, LEAST and MOST the ends of its range. */

#define TENSOR_(NAME) TH_CONCAT_4(TH, Real, Tensor_, NAME)
#define FUZZ_(NAME) TH_CONCAT_3(NAME, _, Real)

static void *FUZZ_(make)(const Value *value, Random *random)
{
  TH_CONCAT_3(TH, Real, Tensor) *tensor = TENSOR_(new)();
  const int64_t count = elementCount(value);
  if (count == 0)
    return tensor;
  Places places = placesOf(value);
  TH_CONCAT_3(TH, Real, Storage) *storage =
      TH_CONCAT_3(TH, Real, Storage_newWithSize)(places.storageSize);
  if (places.storageSize != count)
    for (ptrdiff_t i = 0; i < places.storageSize; i++)
      storage->data[i] = (real)GAP;
  TENSOR_(setStorageNd)(tensor, storage, places.offset, value->dimensions, places.size,
                        places.stride);
  TH_CONCAT_3(TH, Real, Storage_free)(storage);
  int64_t index[MOST_DIMENSIONS] = {0};
  real *data = TENSOR_(data)(tensor);
  for (int64_t i = 0; i < count; i++) {
    int64_t place = 0;
    for (int d = 0; d < value->dimensions; d++)
      place += index[d] * places.stride[d];
    const double element = elementOf(value, i, random);
    data[place] = element <= LEAST ? (real)LEAST : element >= MOST ? (real)MOST : (real)element;
    for (int d = value->dimensions - 1; d >= 0 && ++index[d] == value->size[d]; d--)
      index[d] = 0;
  }
  for (int h = 0; h < value->hitCount; h++) {
    uint64_t left = value->hits[h].place % (uint64_t)count;
    int64_t place = 0;
    for (int d = value->dimensions - 1; d >= 0; d--) {
      place += (int64_t)(left % (uint64_t)value->size[d]) * places.stride[d];
      left /= (uint64_t)value->size[d];
    }
    const double hit = value->hits[h].value;
    data[place] = hit <= LEAST ? (real)LEAST : hit >= MOST ? (real)MOST : (real)hit;
  }
  return tensor;
}

/* A tensor in another one's storage, as far from its start as fits; NULL if none does. */
static void *FUZZ_(share)(const Value *value, void *other, Random *random)
{
  TH_CONCAT_3(TH, Real, Storage) *storage = ((TH_CONCAT_3(TH, Real, Tensor) *)other)->storage;
  Places places = placesOf(value);
  if (!storage || elementCount(value) == 0 || places.storageSize > storage->size)
    return NULL;
  TH_CONCAT_3(TH, Real, Tensor) *tensor = TENSOR_(new)();
  const ptrdiff_t room = storage->size - places.storageSize;
  const ptrdiff_t offset = places.offset + (ptrdiff_t)between(random, 0, room);
  TENSOR_(setStorageNd)(tensor, storage, offset, value->dimensions, places.size, places.stride);
  return tensor;
}

static void FUZZ_(release)(void *tensor)
{
  TENSOR_(free)(tensor);
}

static Look FUZZ_(look)(const void *object)
{
  const TH_CONCAT_3(TH, Real, Tensor) *tensor = object;
  const TH_CONCAT_3(TH, Real, Storage) *storage = tensor->storage;
  return (Look){
      tensor->nDimension,          tensor->size, tensor->stride,
      tensor->storageOffset,       storage,      storage ? (const char *)storage->data : NULL,
      storage ? storage->size : 0, sizeof(real)};
}

static double FUZZ_(read)(const Look *look, int64_t place)
{
  return (double)((const real *)look->data)[place];
}

#undef TENSOR_
#undef FUZZ_
#undef LEAST
#undef MOST
#undef real
#undef Real
