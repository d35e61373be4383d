/* The functions that allocate and free a storage's data. */

#ifndef TH_ALLOCATOR_H
#define TH_ALLOCATOR_H

#include "THGeneral.h"

/* malloc and realloc raise an error or return NULL when there is no memory; a storage turns NULL
 * into an error. realloc may be NULL: storages then allocate, copy and free. */
typedef struct THAllocator {
  void *(*malloc)(void *context, ptrdiff_t bytes);
  void *(*realloc)(void *context, void *block, ptrdiff_t bytes);
  void (*free)(void *context, void *block);
} THAllocator;

/* THAlloc, THRealloc and THFree; the context is ignored. */
TH_API THAllocator THDefaultAllocator;

#endif
