/* Index tensors of pooling modules: which element of an input plane each element of the output came
 * from. They are checked before anything is touched and decoded piece by piece where they are used. */
#ifndef THNN_POOLED_INDICES_H
#define THNN_POOLED_INDICES_H

#include <stdbool.h>
#include <stdint.h>

#include <TH/TH.h>
#include "THNNConvolution.h"
#include "THNNThreads.h"

enum {
  THNN_NO_ELEMENT = -1,  /* the index says that there is none */
  THNN_BAD_ELEMENT = -2, /* it is not an index */
  THNN_DECODED = 256     /* indices that are decoded at a time */
};

typedef struct THNNPooledIndices THNNPooledIndices;

/* A run of at most THNN_DECODED indices in one row of the output. */
typedef struct THNNIndexRun {
  THNNRow row;
  int64_t first, count;    /* columns */
  const int64_t *index[2]; /* the second half's where there are two */
} THNNIndexRun;

/* element = the number, from 0, of an element of the input plane for each index of the run, or one
 * of the two above. A number outside the plane counts as bad. */
typedef void (*THNNDecodeIndices)(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                                  int64_t *element);

struct THNNPooledIndices {
  const char *function;
  const THNNState *state;
  int64_t planes, slices, rows, length; /* of the output: rows in a slice, elements in a row */
  int64_t elements;                     /* of an input plane */
  /* Plain indices are numbers of elements, from 1, and where `optional` 0 for none. */
  bool optional;
  /* Others are described by: */
  THNNDecodeIndices decode;
  bool halves;          /* the tensor has two values for each element of the output */
  const char *expected; /* for the message */
  const void *context;  /* for decode */
};

/* In three dimensions an index is the taps t, h and w of the window in its bytes 0, 1 and 2. */
enum { THNN_TAP_BITS = 8 };

/* Decodes such indices; `context` is the windows' geometry. Where `optional`, those of windows
 * outside the input do not count. */
void THNN_elementsOfTaps(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                         int64_t *element);

/* Rejects an index tensor with a value that is not an index. The tensor has at least as many
 * elements as the output, or twice as many; they are taken in order. */
THNN_API void THNN_checkPooledIndices(const THNNPooledIndices *pooled, THLongTensor *indices,
                                      int position);

/* The indices of the output: elements of the planes' rows. */
int64_t THNN_pooledElements(const THNNPooledIndices *pooled);

#endif
