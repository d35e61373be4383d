/* Resampling by rows of the result: whichever elements are mixed, threads share blocks of rows. */
#ifndef THNN_GENERIC_RESAMPLED_ROWS_H
#define THNN_GENERIC_RESAMPLED_ROWS_H

#include "generic/template.h"
#include "geometry/resampling.h"
#include "work/threads.h"

/* One call: what the module knows, except its tensors. */
typedef struct THNNResamplingCall {
  const char *function;
  const THNNState *state;
  THNNResampling resampling;
  int nDimension;
} THNNResamplingCall;

/* How the rows of a result are computed: of the output, or backward of the input's gradient. */
typedef struct ResampledRows {
  bool backward;
  int64_t cost;       /* of a row */
  int64_t outputRows; /* each thread has scratch for as many of these, and for a row of the input */
  size_t placesBytes;
  /* Lays out where output indices are, once for all rows */
  void (*setPlaces)(const THNNResampling *r, void *places);
  /* Computes `count` rows, of which the first is `row`, at `to` */
  void (*compute)(const THNNResampling *r, void *places, const real *from, THNNRow row,
                  int64_t count, real *scratch, real *to);
} ResampledRows;

/* The tensors are arguments 2 and 3. */
void THNN_(rows_resample)(const THNNResamplingCall *call, const ResampledRows *rows,
                          THTensor *given, THTensor *result);

#endif
