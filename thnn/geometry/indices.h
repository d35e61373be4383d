/* Index tensors of pooling modules: which element of an input plane each element of the output came
 * from. They are checked before anything is touched and decoded piece by piece where they are used. */
#ifndef THNN_POOLED_INDICES_H
#define THNN_POOLED_INDICES_H

#include <stdbool.h>
#include <stdint.h>

#include <TH/TH.h>
#include "geometry/convolution.h"
#include "work/threads.h"
#include "simd/loops/indexWindows.h"

enum {
  THNN_NO_ELEMENT = -1, /* the index says that there is none */
  THNN_BAD_INDEX = -2,
  THNN_DECODED = 1024 /* indices that are decoded at a time */
};

typedef struct THNNPooledIndices THNNPooledIndices;

/* At most THNN_DECODED indices that follow each other: of whole planes where these have so few, else
 * of whole slices of one plane, else of rows of one slice, or a part of a row. */
typedef struct THNNIndexRun {
  int64_t at, end;         /* number of the first index, and of the one behind all runs */
  int64_t plane, count;    /* the first plane, how many indices */
  int64_t planes;          /* whole ones that are taken together, at most */
  int64_t rows, columns;   /* of which the windows are listed apart; count = rows * columns */
  int64_t row, column;     /* the first */
  int64_t slice;           /* of rows; 0 where rows are slices or there is one */
  const int64_t *index[2]; /* the second half's where there are two */
} THNNIndexRun;

/* Windows beside each other, or below each other: each one's part in all lists of
 * THNNIndexWindows. */
typedef struct THNNWindowList {
  int64_t first; /* -1: nothing is listed */
  int32_t start[THNN_DECODED];
  uint32_t limit[2][THNN_DECODED];
} THNNWindowList;

/* A thread's room for decoding, which is scratch of a plan. Windows are the same in each plane and listed once. */
typedef struct THNNIndexRoom {
  union {
    int64_t element[THNN_DECODED];
    uint32_t nearElement[THNN_DECODED];
  };
  THNNWindowList columns, rows;
} THNNIndexRoom;

/* What a window's place along one dimension says about it, as in THNNIndexWindows; what other
 * dimensions say is added to `start` and to the bits of `limit`. */
typedef struct THNNIndexWindow {
  int64_t start;
  uint32_t limit[2];
} THNNIndexWindow;

struct THNNPooledIndices {
  const char *function;
  const THNNState *state;
  int64_t planes, slices, rows, length; /* of the output: rows in a slice, elements in a row */
  int64_t elements;                     /* of an input plane */
  /* Plain indices are numbers of elements, from 1, and where `optional` 0 for none. */
  bool optional;
  /* The others: the number of the element, from 0, that the index of the window at a position, depth
   * first, names, or THNN_NO_ELEMENT, or THNN_BAD_INDEX. `second` is the second half's. */
  int64_t (*element)(const THNNPooledIndices *pooled, const int64_t *position, int64_t index,
                     int64_t second);
  /* The same of many indices; no answer but true is final. Where they are `near`, each has an element,
   * whose number has 32 bits. */
  THNNIndexWindow (*window)(const THNNPooledIndices *pooled, int dimension, int64_t position);
  bool (*areInside)(const THNNIndexWindows *windows, const int64_t *index, const int64_t *second);
  void (*elementsOf)(const THNNIndexWindows *windows, const int64_t *index, const int64_t *second,
                     uint32_t *element);
  int64_t step[3]; /* elements between taps */
  bool near;
  bool halves;          /* the tensor has two values for each element of the output */
  const char *expected; /* for the message */
  const void *context;  /* for the functions */
};

/* Whether all of `count` values lie between two numbers, of which neither is below -1. */
bool THNN_areAllWithin(const THNNState *state, int64_t count, const int64_t *values, int64_t first,
                       int64_t last);

/* In three dimensions an index is the taps t, h and w of the window in its bytes 0, 1 and 2. */
enum { THNN_TAP_BITS = 8 };

/* For such indices, whose context is the windows' geometry. Where `optional`, those of windows outside
 * the input do not count: it may be left out where there are none. */
int64_t THNN_elementOfTaps(const THNNPooledIndices *pooled, const int64_t *position, int64_t index,
                           int64_t second);
THNNIndexWindow THNN_tapWindow(const THNNPooledIndices *pooled, int dimension, int64_t position);
bool THNN_someWindowIsOutside(const THNNConvolution *geometry);
/* Whether the numbers of all elements have 32 bits, and the places of all taps, inside or not. */
bool THNN_tapsAreNear(const THNNConvolution *geometry);

/* Of indices that are not plain: the first run of `slices` slices, counted over all planes, and the
 * one that follows. At `end`, the number of the first index behind them, there are no more. Slices
 * of planes with at most THNN_DECODED indices are whole planes' slices. */
THNNIndexRun THNN_firstIndexRun(const THNNPooledIndices *pooled, int64_t slice, int64_t slices);
void THNN_nextIndexRun(const THNNPooledIndices *pooled, THNNIndexRun *run);

/* For a thread's first run. */
void THNN_clearRoom(THNNIndexRoom *room);

/* room->element = the number, from 0, of an element of the input plane, or of the run's planes side
 * by side, for each index of the run, or THNN_NO_ELEMENT; of near indices room->nearElement. They
 * have been checked. */
void THNN_decodeIndices(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                        THNNIndexRoom *room);

/* Rejects an index tensor with a value that is not an index. The tensor has at least as many
 * elements as the output, or twice as many; they are taken in order. Returns whether some may say
 * that there is no element. */
THNN_API bool THNN_checkPooledIndices(const THNNPooledIndices *pooled, THLongTensor *indices,
                                      int position);

/* The indices of the output: elements of the planes' rows. */
int64_t THNN_pooledElements(const THNNPooledIndices *pooled);

#endif
