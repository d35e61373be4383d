/* Modules with a parameter or a statistic per channel see a tensor as outer x channels x inner.
 * They say what is summed up, what follows from the sums of a channel, and what each element
 * becomes. channelRun computes it, in blocks that depend on the sizes alone.
 *
 * Long planes (inner elements of one channel) are computed one by one. Short ones are joined to
 * rows: a row is all planes of one outer index, or of several where channels are few, and the
 * channels' parameters are repeated along it. */
#ifndef THNN_CHANNELS_H
#define THNN_CHANNELS_H

#include "generic/template.h"

typedef struct THNNChannels {
  int64_t outer, channels, inner, elements;
  bool rows; /* rows, not planes */

  /* A line is a plane or a row, `length` elements long. The planes of a channel are a group; all
   * rows are one group. Lines of a group are `step` elements apart. A span is `spanLength` elements
   * of a line, a block the same span of `blockLines` lines. */
  int64_t groups, lines, length, step;
  int64_t blockLines, lineBlocks;
  int64_t spanLength, spans;
} THNNChannels;

THNNChannels THNN_channels(int64_t outer, int64_t channels, int64_t inner);

/* The work to do. Fields that do not apply are 0. */
typedef struct ChannelWork {
  THNNState *state;
  const THNNChannels *channels;
  const real *x, *y; /* what the loops read; y may be NULL */

  const ChannelSum *sum; /* NULL: there are no sums */
  const real *centers;   /* one per channel, for the sums; NULL: the channel's first x */

  /* Called once per channel, from any thread, with its two sums and its center, which are 0 without
   * `sum`. Writes the parameters of the map; `parameters` is NULL without a map. */
  void (*finish)(const void *context, int64_t channel, real center, const double *sums,
                 real *parameters);
  const void *context;

  const ChannelMap *map; /* NULL: there is no result per element */
  real *z;               /* the map's result */
} ChannelWork;

/* The bytes of scratch that the work takes. Only `channels`, `sum` and `map` have to be set. */
size_t THNN_(channelScratch)(const ChannelWork *work);

void THNN_(channelRun)(const ChannelWork *work, void *scratch);

#endif
