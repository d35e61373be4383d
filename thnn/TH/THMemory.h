/* The memory functions beneath TH: replaceable, and one pair that does not raise.
 * An extension: Torch7 has nothing like it. */

#ifndef TH_MEMORY_H
#define TH_MEMORY_H

#include "THGeneral.h"

/* Replacements for malloc, realloc and free beneath THAlloc, THRealloc, THFree, THTryAlloc and
 * with them THDefaultAllocator and THBlockAllocator. They return NULL on failure and are called
 * with at least one byte. */
typedef struct THMemoryHooks {
  void *(*malloc)(void *context, size_t bytes);
  void *(*realloc)(void *context, void *block, size_t bytes);
  void (*free)(void *context, void *block);
  void *context;
} THMemoryHooks;

/* Installs hooks for the whole process; NULL goes back to the C library. A block is freed by the
 * hooks in force then, so change them only while no other thread uses TH, and while nothing
 * allocated is left or the new functions can free it. */
TH_API void THSetMemoryHooks(const THMemoryHooks *hooks);

/* A block whose address is a multiple of alignment (a power of two), or NULL: never raises.
 * Zero bytes give a block too. */
TH_API void *THTryAlloc(size_t bytes, size_t alignment);

/* Frees a block of THTryAlloc; NULL is ignored. */
TH_API void THTryFree(void *block);

#endif
