/* Template of THStorage.h, included once per type. */

typedef struct THStorage {
  real *data;
  ptrdiff_t size; /* number of elements */
  int refcount;   /* accessed atomically */
  char flag;      /* bits TH_STORAGE_... */
  THAllocator *allocator;
  void *allocatorContext;
  struct THStorage *view; /* the owner of the data; only with TH_STORAGE_VIEW */
} THStorage;

/* ---- Construction: a new storage has one reference, which THStorage_(free) gives up; its elements
 * are undefined. */

TH_API THStorage *THStorage_(new)(void);
TH_API THStorage *THStorage_(newWithSize)(ptrdiff_t size);
TH_API THStorage *THStorage_(newWithAllocator)(ptrdiff_t size, THAllocator *allocator,
                                               void *allocatorContext);

/* Storages that take over existing data; on error the data stays the caller's. Without an allocator
 * argument the data must come from THAlloc (or the malloc that it calls). */
TH_API THStorage *THStorage_(newWithData)(real *data, ptrdiff_t size);
TH_API THStorage *THStorage_(newWithDataAndAllocator)(real *data, ptrdiff_t size,
                                                      THAllocator *allocator,
                                                      void *allocatorContext);

TH_API void THStorage_(retain)(THStorage *storage);
TH_API void THStorage_(free)(THStorage *storage); /* NULL is ignored */
TH_API void THStorage_(setFlag)(THStorage *storage, const char flag);
TH_API void THStorage_(clearFlag)(THStorage *storage, const char flag);

/* ---- Access: indices count from 0 and are checked. */

TH_API real *THStorage_(data)(const THStorage *storage);
TH_API ptrdiff_t THStorage_(size)(const THStorage *storage);
TH_API size_t THStorage_(elementSize)(void);
TH_API void THStorage_(set)(THStorage *storage, ptrdiff_t index, real value);
TH_API real THStorage_(get)(const THStorage *storage, ptrdiff_t index);

/* ---- Content */

/* Changes the number of elements, keeping those that fit. An error leaves the storage as it was. */
TH_API void THStorage_(resize)(THStorage *storage, ptrdiff_t size);
TH_API void THStorage_(fill)(THStorage *storage, real value);

/* Exchanges data, sizes, flags and allocators; the reference counts stay. */
TH_API void THStorage_(swap)(THStorage *first, THStorage *second);

/* copy needs a source of the same size; rawCopy reads storage->size elements. */
TH_API void THStorage_(copy)(THStorage *storage, THStorage *source);
TH_API void THStorage_(rawCopy)(THStorage *storage, real *source);
