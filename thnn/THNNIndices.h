/* Index values of the caller's: class targets, rows of a table, keys. They are looked at where they
 * lie, in any strides, before anything is changed. */
#ifndef THNN_INDICES_H
#define THNN_INDICES_H

#include <stdint.h>

#include <TH/TH.h>
#include "THNNState.h"

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
 * they are is said by `meaning`. Returns the greatest of them. */
int64_t THNN_checkIndices(const THNNState *state, THNNIndexArgument argument, int64_t count,
                          int64_t first, int64_t last, const char *meaning);

/* Raises for one value. */
void THNN_rejectIndex(THNNIndexArgument argument, int64_t first, int64_t last, const char *meaning,
                      int64_t found);

#endif
