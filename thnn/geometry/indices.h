/* Index tensors of pooling modules: which element of an input plane each element of the output came
 * from. They are decoded piece by piece, as they are checked or as they are used. */
#ifndef THNN_GEOMETRY_INDICES_H
#define THNN_GEOMETRY_INDICES_H

#include <stdbool.h>
#include <stdint.h>

#include <TH/TH.h>
#include "geometry/convolution.h"
#include "work/threads.h"
#include "simd/loops/indexWindows.h"

enum {
  THNN_NO_ELEMENT = -1, /* the index says that there is no element */
  THNN_BAD_INDEX = -2,
  THNN_DECODED = 1024 /* indices that are decoded at a time */
};

typedef struct THNNPooledIndices THNNPooledIndices;

/* At most THNN_DECODED successive indices: of whole planes where these are small enough, else of
 * whole slices of one plane, else of whole rows of one slice, else of a part of a row. */
typedef struct THNNIndexRun {
  int64_t at, end;         /* number of the first index; one past the last run */
  int64_t plane, count;    /* the first plane; the number of indices */
  int64_t planes;          /* upper bound of the whole planes in a run */
  int64_t rows, columns;   /* rows and columns of windows; count = rows * columns */
  int64_t row, column;     /* the first row and column */
  int64_t slice;           /* the slice of the rows; 0 where a row is a slice or plane */
  const int64_t *index[2]; /* values of the run in each half of the tensor */
} THNNIndexRun;

/* Neighbouring windows along the columns or the rows: what each contributes to the lists of
 * THNNIndexWindows. */
typedef struct THNNWindowList {
  int64_t first; /* position of the first window; -1: nothing is listed */
  int32_t start[THNN_DECODED];
  uint32_t limit[2][THNN_DECODED];
} THNNWindowList;

/* A thread's scratch for decoding. Windows are the same in each plane, so they are listed once. */
typedef struct THNNIndexRoom {
  union {
    int64_t element[THNN_DECODED];
    uint32_t nearElement[THNN_DECODED];
  };
  THNNWindowList columns, rows;
} THNNIndexRoom;

/* What a window's position along one dimension contributes to THNNIndexWindows; the contributions
 * of the other dimensions are added to `start` and combined with the bits of `limit`. */
typedef struct THNNIndexWindow {
  int64_t start;
  uint32_t limit[2];
} THNNIndexWindow;

struct THNNPooledIndices {
  const char *function;
  const THNNState *state;
  int64_t planes, slices, rows, length; /* size of the output; `length` is that of a row */
  int64_t elements;                     /* number of elements in an input plane */
  /* Plain indices are numbers of elements, from 1; with `optional`, 0 means no element. */
  bool optional;
  /* NULL for plain indices. For others, returns the number, from 0, of the element that the index
   * of the window at `position` (depth first) names, or THNN_NO_ELEMENT, or THNN_BAD_INDEX.
   * `second` is the value in the tensor's second half. */
  int64_t (*element)(const THNNPooledIndices *pooled, const int64_t *position, int64_t index,
                     int64_t second);
  /* Decodes many indices. If it returns false, `element` decides about each index. If the indices
   * are `near`, each names an element, whose number has 32 bits. */
  THNNIndexWindow (*window)(const THNNPooledIndices *pooled, int dimension, int64_t position);
  bool (*decode)(const THNNIndexWindows *windows, const int64_t *index, const int64_t *second,
                 uint32_t *element);
  int64_t step[3]; /* from a tap to the next, in elements */
  bool near;
  bool halves;          /* the tensor has two values for each element of the output */
  const char *expected; /* what a message says was expected */
  const void *context;  /* what the functions above need */
};

/* Whether all `count` values are in [first, last]; neither bound is below -1. */
bool THNN_areAllWithin(const THNNState *state, int64_t count, const int64_t *values, int64_t first,
                       int64_t last);

/* In three dimensions an index is the taps t, h and w of the window in its bytes 0, 1 and 2. */
enum { THNN_TAP_BITS = 8 };

/* Functions for indices of taps; the context is the windows' geometry. With `optional`, windows
 * wholly outside the input have no element, whatever their index; it can be false if there are
 * none. */
int64_t THNN_elementOfTaps(const THNNPooledIndices *pooled, const int64_t *position, int64_t index,
                           int64_t second);
THNNIndexWindow THNN_tapWindow(const THNNPooledIndices *pooled, int dimension, int64_t position);
bool THNN_someWindowIsOutside(const THNNConvolution *geometry);
/* Whether 32 bits hold the numbers of all elements, and the positions of all taps, even of those
 * that see outside the input. */
bool THNN_tapsAreNear(const THNNConvolution *geometry);

/* The first run of slices [slice, slice + slices), counted over all planes, and the next one, for
 * indices that are not plain. When run.at reaches run.end there are no more. Where a plane has at
 * most THNN_DECODED indices, the slices must be those of whole planes, and with one room no more
 * of them than before. */
THNNIndexRun THNN_firstIndexRun(const THNNPooledIndices *pooled, int64_t slice, int64_t slices);
void THNN_nextIndexRun(const THNNPooledIndices *pooled, THNNIndexRun *run);

/* Prepares a thread's room for its first run. */
void THNN_clearRoom(THNNIndexRoom *room);

/* Decodes the run's indices, which have been checked: room->element (room->nearElement for near
 * indices) = the number, from 0, of the element of the run's planes side by side, or
 * THNN_NO_ELEMENT. */
void THNN_decodeIndices(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                        THNNIndexRoom *room);

/* Checks a run: returns the number, within the run, of its first bad index, or run->count. Unless
 * `number` is NULL, it gets the numbers of the elements, modulo 2^16, from that of `plane` on. */
int64_t THNN_checkIndexRun(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                           THNNIndexRoom *room, int64_t plane, uint16_t *number);

/* The number of indices of a plane. */
static inline int64_t THNN_planeIndices(const THNNPooledIndices *pooled)
{
  return pooled->slices * pooled->rows * pooled->length;
}

/* The number of elements of the output. */
int64_t THNN_pooledElements(const THNNPooledIndices *pooled);

#endif
