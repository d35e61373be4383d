/* Index tensors of pooling modules: which element of an input plane each element of the output came
 * from. They are checked before anything is touched and decoded piece by piece where they are used. */
#ifndef THNN_POOLED_INDICES_H
#define THNN_POOLED_INDICES_H

#include <stdbool.h>
#include <stdint.h>

#include <TH/TH.h>
#include "THNNConvolution.h"
#include "THNNThreads.h"
#include "simd/windows.h"

enum {
  THNN_NO_ELEMENT = -1, /* the index says that there is none */
  THNN_DECODED = 1024   /* indices that are decoded at a time */
};

typedef struct THNNPooledIndices THNNPooledIndices;

/* At most THNN_DECODED indices: a part of a row of the output, several rows of one slice, or several
 * planes. */
typedef struct THNNIndexRun {
  THNNRow row; /* the first */
  int64_t planes, rows;
  int64_t first, columns;  /* of each row */
  int64_t at, end;         /* places of the first index, and of the end of all runs */
  const int64_t *index[2]; /* the second half's where there are two */
} THNNIndexRun;

/* A thread's room for decoding. */
typedef struct THNNIndexRoom {
  union {
    int64_t element[THNN_DECODED];
    uint32_t nearElement[THNN_DECODED];
  };
  /* What decode keeps of a run for others at the same place in another plane. */
  int32_t kept[3][THNN_DECODED];
  int64_t keptRow, keptFirst; /* that place; -1: nothing */
  THNNTapWindows windows;     /* of indices that are taps */
} THNNIndexRoom;

/* The first of the run's indices that is none, or their number. */
typedef int64_t (*THNNCheckIndexRun)(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                                     THNNIndexRoom *room);
/* room->element = the number, from 0, of an element of the input plane, or of the run's planes side
 * by side, for each index of the run, or THNN_NO_ELEMENT; of near indices room->nearElement. They
 * have been checked. */
typedef void (*THNNDecodeIndices)(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                                  THNNIndexRoom *room);

struct THNNPooledIndices {
  const char *function;
  const THNNState *state;
  int64_t planes, slices, rows, length; /* of the output: rows in a slice, elements in a row */
  int64_t elements;                     /* of an input plane */
  /* Plain indices are numbers of elements, from 1, and where `optional` 0 for none. */
  bool optional;
  /* Others are described by: */
  THNNCheckIndexRun check;
  THNNDecodeIndices decode;
  bool near;            /* each has an element, whose number has 32 bits */
  bool halves;          /* the tensor has two values for each element of the output */
  bool alike;           /* planes have one slice and may be decoded several at a time */
  const char *expected; /* for the message */
  const void *context;  /* for the two functions */
};

/* Whether all of `count` values lie between two numbers, of which neither is below -1. */
bool THNN_areAllWithin(const THNNState *state, int64_t count, const int64_t *values, int64_t first,
                       int64_t last);

/* In three dimensions an index is the taps t, h and w of the window in its bytes 0, 1 and 2. */
enum { THNN_TAP_BITS = 8 };

/* For such indices; `context` is the windows' geometry. Where `optional`, those of windows outside
 * the input do not count: it may be left out where there are none. */
int64_t THNN_checkTaps(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                       THNNIndexRoom *room);
void THNN_elementsOfTaps(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                         THNNIndexRoom *room);
bool THNN_someWindowIsOutside(const THNNConvolution *geometry);
/* Whether the numbers of all elements have 32 bits, and the places of all taps, inside or not. */
bool THNN_tapsAreNear(const THNNConvolution *geometry);

/* The indices of a run. */
static inline int64_t THNN_indexCount(const THNNIndexRun *run)
{
  return run->planes * run->rows * run->columns;
}

/* How many planes a run has at most. */
int64_t THNN_mostAlikePlanes(const THNNPooledIndices *pooled);

/* Of indices that are decoded: the first run of `slices` slices, counted over all planes, and the
 * one that follows, in the slice after the last of its own. At `end`, the number of the first index
 * behind them, there are no more. */
THNNIndexRun THNN_firstIndexRun(const THNNPooledIndices *pooled, int64_t slice, int64_t slices);
void THNN_nextIndexRun(const THNNPooledIndices *pooled, THNNIndexRun *run);

/* Rejects an index tensor with a value that is not an index. The tensor has at least as many
 * elements as the output, or twice as many; they are taken in order. Returns whether some may say
 * that there is no element. */
THNN_API bool THNN_checkPooledIndices(const THNNPooledIndices *pooled, THLongTensor *indices,
                                      int position);

/* The indices of the output: elements of the planes' rows. */
int64_t THNN_pooledElements(const THNNPooledIndices *pooled);

#endif
