/* Reference-counted data blocks: memory that outlives the storage it was allocated for, as long
 * as somebody else (an array exported to Python) holds a reference.
 * An extension: Torch7 has nothing like it.
 *
 * A storage made with THBlockAllocator owns one reference to its data. When the storage grows
 * while others hold references too, it moves to a fresh block and leaves the old one, unchanged,
 * to them: an exported array never moves and never dangles. */

#ifndef TH_BLOCK_H
#define TH_BLOCK_H

#include "THAllocator.h"

/* The alignment of every block in bytes: a cache line. */
#define TH_BLOCK_ALIGNMENT 64

/* Allocates blocks with one reference; free gives up one reference. Returns NULL when there is
 * no memory, and for zero bytes. The context is ignored. */
TH_API THAllocator THBlockAllocator;

/* `data` is the address of a block's first byte; NULL is ignored. */
TH_API void THBlock_retain(void *data);
TH_API void THBlock_release(void *data);

/* The number of references to the block; 0 for NULL. */
TH_API int64_t THBlock_count(const void *data);

#endif
