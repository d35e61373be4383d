/* Hooks that replace TH's memory functions, and a pair of functions that does not raise.
 * An extension: Torch7 has nothing like it. */

#ifndef TH_MEMORY_H
#define TH_MEMORY_H

#include "THGeneral.h"

/* Replacements for malloc, realloc and free in THAlloc, THRealloc, THFree and THTryAlloc, and so in
 * THDefaultAllocator and THBlockAllocator. They return NULL on failure and are called with at least
 * one byte. */
typedef struct THMemoryHooks {
  void *(*malloc)(void *context, size_t bytes);
  void *(*realloc)(void *context, void *block, size_t bytes);
  void (*free)(void *context, void *block);
  void *context;
} THMemoryHooks;

/* Installs hooks for the whole process; NULL restores the C library's functions. A block is freed
 * by the hooks installed at that time, so change them only while no other thread uses TH, and while
 * no block is left that the new functions cannot free. */
TH_API void THSetMemoryHooks(const THMemoryHooks *hooks);

/* Raises an error that says that there is not enough memory. */
TH_API TH_NORETURN TH_COLD TH_PRINTF(3, 4) void _THMemoryError(const char *file, int line,
                                                               const char *format, ...);
/* THMemoryError(format, ...) */
#define THMemoryError(...) _THMemoryError(__FILE__, __LINE__, __VA_ARGS__)

/* Allocates a block whose address is a multiple of `alignment`, a power of two. Returns NULL when
 * there is no memory and never raises. Zero bytes give a block too. */
TH_API void *THTryAlloc(size_t bytes, size_t alignment);

/* Frees a block of THTryAlloc; NULL is ignored. Unless hooks are installed, one block of 1 to 32 MB is
 * kept for the next THTryAlloc. */
TH_API void THTryFree(void *block);

#endif
