/* What the generated part of the extension stands on besides guards: tensors over memory that
 * belongs to Python. */

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

#include "error.h"

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
PYTHNN_API int pythnn_place(pythnn_Slot *slot, const void *data, const int64_t *layout,
                            size_t elementSize);

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
PYTHNN_API int pythnn_ownTensor(pythnn_Owned *owned, int type, int nDimension, int64_t *size);
/* A tensor that is the same view of the same storage as another. */
PYTHNN_API int pythnn_ownView(pythnn_Owned *owned, int type, void *tensor);
/* A new storage. */
PYTHNN_API int pythnn_ownStorage(pythnn_Owned *owned, int type, ptrdiff_t size);
/* A storage over the memory of a Python object, of which it holds a reference. */
PYTHNN_API int pythnn_ownArrayStorage(pythnn_Owned *owned, int type, void *data, ptrdiff_t size,
                                      void *object);
/* A reference to a storage. */
PYTHNN_API int pythnn_ownStorageReference(pythnn_Owned *owned, int type, void *storage);
/* A reference to a block of THBlockAllocator. */
PYTHNN_API int pythnn_ownBlock(pythnn_Owned *owned, void *data);
PYTHNN_API int pythnn_ownState(pythnn_Owned *owned);
PYTHNN_API int pythnn_ownGenerator(pythnn_Owned *owned);

/* Frees, or gives up the reference. */
PYTHNN_API void pythnn_disown(pythnn_Owned *owned);

/* ---- Steps of programs -----------------------------------------------------------------------
 *
 * The build writes a function for each step, and the table of them, in which Python finds their
 * numbers. */

/* An argument of a step. */
typedef union pythnn_Word {
  void *object;
  int64_t whole;
  double real;
} pythnn_Word;

/* A call: the step's number and its arguments. */
typedef struct pythnn_Step {
  int function;
  const pythnn_Word *arguments;
} pythnn_Step;

/* Makes calls one after the other, up to the first error, whose code it returns. */
PYTHNN_API int pythnn_runSteps(const pythnn_Step *steps, int count);

/* ---- Calls that are prepared -----------------------------------------------------------------
 *
 * What a function on arrays does for arguments of some types and sizes: steps, some of whose
 * arguments are tensors over arrays that differ from call to call. */

/* A tensor over a part of an array, good for one call: see pythnn_Slot. */
typedef struct pythnn_Tensor {
  THFloatTensor tensor;
  THFloatStorage storage;
  int64_t *layout;
  int array;        /* the number of the array */
  ptrdiff_t offset; /* where the tensor begins in it, in bytes */
  size_t elementSize;
} pythnn_Tensor;

/* What an array has to be. Objects of Python are named as id() does. */
typedef struct pythnn_Expected {
  int flags;            /* of numpy, which it must have */
  intptr_t elementType; /* a dtype; 0: its type and sizes are known */
  int nDimension;
  const int64_t *size;
} pythnn_Expected;

typedef struct pythnn_Prepared {
  const intptr_t *arrays; /* numpy's, which the caller fills in and keeps alive */
  const pythnn_Expected *expected;
  const void **data; /* room for their addresses */
  int arrayCount;
  intptr_t type; /* numpy.ndarray, whose subclasses are refused */
  pythnn_Tensor *tensors;
  int tensorCount;
  const pythnn_Step *steps;
  int stepCount;
} pythnn_Prepared;

/* Makes the calls, up to the first error, whose code it returns. PYTHNN_CHANGED, and no call, if an
 * object is not the array that is expected; PYTHNN_MISALIGNED, and none, where an address is no
 * multiple of the element's size. */
PYTHNN_API int pythnn_runPrepared(const pythnn_Prepared *prepared);

/* Whether pythnn_runPrepared finds what it reads of an array. */
PYTHNN_API bool pythnn_readsArray(intptr_t array, const void *data,
                                  const pythnn_Expected *expected);

/* ---- Calls that are recorded -----------------------------------------------------------------
 *
 * Steps on tensors of Python's, which are made again as long as the tensors are as they were. */

/* A tensor as it was. */
typedef struct pythnn_Seen {
  void *tensor;
  int type; /* of its elements, as for pythnn_ownTensor */
  const void *storage;
  const int64_t *layout; /* nDimension, where it begins in the storage, sizes, strides */
} pythnn_Seen;

typedef struct pythnn_Recording {
  pythnn_Seen *seen;
  int seenCount;
  const int *results; /* places in `seen` of the tensors that get fresh memory before the calls
                       * where arrays look at theirs */
  int resultCount;
  const pythnn_Step *steps;
  int stepCount;
} pythnn_Recording;

/* Makes the calls, up to the first error, whose code it returns. PYTHNN_CHANGED, and no call, if a
 * tensor is not as it was. Fresh memory goes to all tensors of `family` that share the old one; it
 * has all recordings whose tensors may, this one too. */
PYTHNN_API int pythnn_repeat(const pythnn_Recording *recording, pythnn_Recording *const *family,
                             int familyCount);

/* Makes a storage over one object's memory one over another's, of the same size; PYTHNN_CHANGED,
 * and nothing is done, unless it has so many references, or if `data` is not aligned. */
PYTHNN_API int pythnn_moveStorage(void *storage, int references, void *data, size_t elementSize,
                                  void *object);

/* ---- Lifetimes ------------------------------------------------------------------------------- */

/* Does nothing: a destructor of `with` that has kept `held` until then. */
PYTHNN_API void pythnn_keep(void *held, void *with);

#endif
