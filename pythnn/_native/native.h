/* What the generated part of the extension stands on besides guards: tensors over memory that belongs
 * to Python. */

#ifndef PYTHNN_NATIVE_H
#define PYTHNN_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <TH/TH.h>
#include <TH/THBlock.h>
#include <TH/THMemory.h>
#include <TH/THThreads.h>
#include <THNN.h>
#include <THNNExtra.h>

#include "guard.h"

/* ---- Arrays as arguments ---------------------------------------------------------------------
 *
 * A slot is a tensor over somebody else's memory, good for one call: its sizes are fixed and
 * neither it nor its storage counts references. A layout is nDimension, the number of elements
 * that the array spans, the sizes and the strides (in elements). */

enum { PYTHNN_MAX_DIMENSIONS = 64 };

typedef struct pythnn_Slot {
  THFloatTensor tensor; /* of any element type: their layouts are one */
  THFloatStorage storage;
  int64_t size[PYTHNN_MAX_DIMENSIONS];
  int64_t stride[PYTHNN_MAX_DIMENSIONS];
} pythnn_Slot;

/* Returns nonzero, and does nothing, when the address is no multiple of the element's size. */
int pythnn_place(pythnn_Slot *slot, const void *data, const int64_t *layout, size_t elementSize);

/* ---- Objects that Python owns ----------------------------------------------------------------
 *
 * Python makes an empty pythnn_Owned first and has it disowned when it goes; only then is something
 * put into it, in one call. So nothing is lost when an exception strikes in between, such as
 * KeyboardInterrupt. The functions return a guard's code; on error nothing is owned. */

typedef struct pythnn_Owned {
  void *object;
  int content; /* what the object is */
} pythnn_Owned;

/* Element types: 0 float, 1 double, 2 int64, 3 int32. */

/* A tensor with a storage of its own; nDimension 0 for an empty one. */
int pythnn_ownTensor(pythnn_Owned *owned, int type, int nDimension, int64_t *size);
/* A tensor that is the same view of the same storage as another. */
int pythnn_ownView(pythnn_Owned *owned, int type, void *tensor);
/* A new storage. */
int pythnn_ownStorage(pythnn_Owned *owned, int type, ptrdiff_t size);
/* A storage over the memory of a Python object, of which it holds a reference. */
int pythnn_ownArrayStorage(pythnn_Owned *owned, int type, void *data, ptrdiff_t size, void *object);
/* A reference to a storage. */
int pythnn_ownStorageReference(pythnn_Owned *owned, int type, void *storage);
/* A reference to a block of THBlockAllocator. */
int pythnn_ownBlock(pythnn_Owned *owned, void *data);
int pythnn_ownState(pythnn_Owned *owned);
int pythnn_ownGenerator(pythnn_Owned *owned);

/* Frees, or gives up the reference. */
void pythnn_disown(pythnn_Owned *owned);

/* Does nothing: a destructor of `with` that has kept `held` until then. */
void pythnn_keep(void *held, void *with);

/* The allocator of storages over Python's memory. Its context is the object. */
extern THAllocator pythnn_arrayAllocator;

/* ---- For tests -------------------------------------------------------------------------------- */

/* Counts the blocks of libTH from now on (true), or stops (false). */
void pythnn_trackMemory(bool on);
/* Blocks allocated and not freed since then. */
int64_t pythnn_liveBlocks(void);
/* The n-th allocation from now on (from 1) fails, and all after it; 0: none. */
void pythnn_failAllocation(int64_t n);
/* Raises through TH inside a guard inside a guard; returns the outer guard's code. */
int pythnn_nestedError(void);
/* Raises in a guard, while a handler of the host program is installed, then outside of it; returns
 * how often the host's handler was called. */
int pythnn_errorOfHost(void);

#endif
