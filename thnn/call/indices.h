/* Checks of index tensors that the caller passes: class targets, rows of a table, keys. They are
 * read in place, with any strides, before anything is changed. */
#ifndef THNN_INDICES_H
#define THNN_INDICES_H

#include <stdint.h>

#include <TH/TH.h>
#include <THNNState.h>

typedef struct THNNIndexArgument {
  const char *function, *name;
  int position;
  const THLongTensor *tensor; /* must have been checked: not NULL, at least `count` elements */
} THNNIndexArgument;

#define THNN_INDICES(function, tensor, position)                                                   \
  (THNNIndexArgument)                                                                              \
  {                                                                                                \
    function, #tensor, position, tensor                                                            \
  }

/* Raises unless the first `count` values, in row-major order, are in [first, last]; `meaning` names
 * them in the message. */
void THNN_checkIndices(const THNNState *state, THNNIndexArgument argument, int64_t count,
                       int64_t first, int64_t last, const char *meaning);

/* Raises the same error, for the value `found`. */
void THNN_rejectIndex(THNNIndexArgument argument, int64_t first, int64_t last, const char *meaning,
                      int64_t found);

/* Element i, in row-major order, of an index tensor with any strides. */
int64_t THNN_indexAt(const THLongTensor *tensor, int64_t i);

/* counts[index - TH_INDEX_BASE] = how often an index occurs among the n. Counts of indices that do
 * not occur are left as they are. */
void THNN_countIndices(int64_t n, const int64_t *indices, int64_t *counts);

#endif
