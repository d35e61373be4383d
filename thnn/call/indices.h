/* Index values of the caller's: class targets, rows of a table, keys. They are looked at where they
 * lie, in any strides, before anything is changed. */
#ifndef THNN_INDICES_H
#define THNN_INDICES_H

#include <stdint.h>

#include <TH/TH.h>
#include <THNNState.h>

typedef struct THNNIndexArgument {
  const char *function, *name;
  int position;
  const THLongTensor *tensor; /* checked: not NULL, at least `count` elements */
} THNNIndexArgument;

#define THNN_INDICES(function, tensor, position)                                                   \
  (THNNIndexArgument)                                                                              \
  {                                                                                                \
    function, #tensor, position, tensor                                                            \
  }

/* Raises unless the first `count` values, in row-major order, lie between `first` and `last`; what
 * they are is said by `meaning`. */
void THNN_checkIndices(const THNNState *state, THNNIndexArgument argument, int64_t count,
                       int64_t first, int64_t last, const char *meaning);

/* Raises for one value. */
void THNN_rejectIndex(THNNIndexArgument argument, int64_t first, int64_t last, const char *meaning,
                      int64_t found);

/* Element i, in row-major order, of an index tensor in any strides. */
int64_t THNN_indexAt(const THLongTensor *tensor, int64_t i);

/* counts[index] = how often each index from TH_INDEX_BASE on occurs among the n; what does not occur
 * keeps what is in `counts`. */
void THNN_countIndices(int64_t n, const int64_t *indices, int64_t *counts);

#endif
