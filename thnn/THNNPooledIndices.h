/* Index tensors of pooling modules: which element of an input plane each element of the output came
 * from. They are checked before anything is touched and decoded piece by piece where they are used. */
#ifndef THNN_POOLED_INDICES_H
#define THNN_POOLED_INDICES_H

#include <stdbool.h>
#include <stdint.h>

#include <TH/TH.h>
#include "THNNConvolution.h"

enum {
  THNN_NO_ELEMENT = -1,  /* the index says that there is none */
  THNN_BAD_ELEMENT = -2, /* it is not an index */
  THNN_DECODED = 256     /* indices that are decoded at a time */
};

typedef struct THNNPooledIndices THNNPooledIndices;

/* Decodes `count` indices, which belong to output row `row` (of all planes) from column `first` on:
 * element = the number, from 0, of an element of the input plane, or one of the two above. A number
 * outside the plane counts as bad. index[1] is the second half of the tensor. */
typedef void (*THNNDecodeIndices)(const THNNPooledIndices *pooled, int64_t row, int64_t first,
                                  int64_t count, const int64_t *const index[2], int64_t *element);

struct THNNPooledIndices {
  const char *function;
  const THNNState *state;
  int64_t planes, planeRows, length; /* of the output: planes, rows of each, columns */
  int64_t elements;                  /* of an input plane */
  /* Plain indices are numbers of elements, from 1, and where `optional` 0 for none. */
  bool optional;
  /* Others are described by: */
  THNNDecodeIndices decode;
  bool halves;          /* two values for each element of the output */
  const char *expected; /* for the message */
  const void *context;  /* for decode */
};

/* In three dimensions an index is the taps t, h and w of the window in its bytes 0, 1 and 2. */
enum { THNN_TAP_BITS = 8 };

/* Decodes such indices; `context` is the windows' geometry. Where `optional`, those of windows
 * outside the input do not count. */
void THNN_elementsOfTaps(const THNNPooledIndices *pooled, int64_t row, int64_t first, int64_t count,
                         const int64_t *const index[2], int64_t *element);

/* Rejects an index tensor with a value that is not an index. The tensor has at least as many
 * elements as the output, or twice as many; they are taken in order. */
THNN_API void THNN_checkPooledIndices(const THNNPooledIndices *pooled, THLongTensor *indices,
                                      int position);

/* The elements that `count` (at most THNN_DECODED) indices point at; `index` is dense. */
void THNN_decodeIndices(const THNNPooledIndices *pooled, const int64_t *index, int64_t row,
                        int64_t first, int64_t count, int64_t *element);

#endif
