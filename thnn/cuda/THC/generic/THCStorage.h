/* Template of THCStorage.h, included once per type. */

typedef struct THCStorage {
  real *data;     /* on the device */
  ptrdiff_t size; /* number of elements */
  int refcount;   /* accessed atomically */
  char flag;      /* bits TH_STORAGE_... */
  const THCAllocator *allocator;
  void *allocatorContext;
  struct THCStorage *view; /* the owner of the data; only with TH_STORAGE_VIEW */
  int device;
} THCStorage;

/* All functions need a state of the storage's device; they queue their work on its stream. */

/* A new storage has one reference, which THCStorage_(free) gives up; its elements are undefined. */
THC_API THCStorage *THCStorage_(new)(THCState *state);
THC_API THCStorage *THCStorage_(newWithSize)(THCState *state, ptrdiff_t size);

/* A storage over the caller's memory on the state's device, never resized and never freed. */
THC_API THCStorage *THCStorage_(newWithData)(THCState *state, real *data, ptrdiff_t size);

THC_API void THCStorage_(retain)(THCState *state, THCStorage *storage);
THC_API void THCStorage_(free)(THCState *state, THCStorage *storage); /* NULL is ignored */

/* Changes the number of elements, keeping those that fit. An error leaves the storage as it was. */
THC_API void THCStorage_(resize)(THCState *state, THCStorage *storage, ptrdiff_t size);

/* Copy all elements from or to host memory, and wait for the stream. */
THC_API void THCStorage_(copyFromHost)(THCState *state, THCStorage *storage, const real *from);
THC_API void THCStorage_(copyToHost)(THCState *state, const THCStorage *storage, real *to);
