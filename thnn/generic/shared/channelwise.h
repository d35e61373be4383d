/* Modules with a parameter or a statistic per channel see a tensor as outer x channels x inner.
 * They say what is summed up, what follows from the sums of a channel, and what each element
 * becomes; this runs it, in blocks that depend on the sizes alone.
 *
 * Long planes (inner elements of one channel) are worked on one by one. Short ones are not: there
 * rows of all channels, several of them where there are few channels, are worked on side by side,
 * with the channels' parameters repeated. */
#ifndef THNN_CHANNELS_H
#define THNN_CHANNELS_H

#include "generic/template.h"

typedef struct THNNChannels {
  int64_t outer, channels, inner, elements;
  bool rows; /* rows, not planes */

  /* A line is a plane, or a row; lines of a group are `step` elements apart. Planes of one channel
   * are a group, rows are all in one. A block is a span of `blockLines` lines. */
  int64_t groups, lines, length, step;
  int64_t blockLines, lineBlocks;
  int64_t spanLength, spans;
} THNNChannels;

THNNChannels THNN_channels(int64_t outer, int64_t channels, int64_t inner);

/* What is to be done; what is left out is 0. */
typedef struct THNN_(ChannelWork) {
  THNNState *state;
  const THNNChannels *channels;
  const real *x, *y; /* what the loops read */

  const THNN_(ChannelSum) * sum; /* NULL: there are no sums */
  const real *centers;           /* of the sums, one per channel; NULL: x's first in the channel */

  /* Called once per channel, from any thread, with its two sums (0 when there are none) and, when
   * centers is NULL, the center that was taken: writes the map's parameters, NULL without a map. */
  void (*finish)(const void *context, int64_t channel, real center, const double *sums,
                 real *parameters);
  const void *context;

  const THNN_(ChannelMap) * map; /* NULL: there is no result per element */
  real *z;                       /* the map's result */
} THNN_(ChannelWork);

/* The scratch memory that the work needs: `channels`, `sum` and `map` are all it looks at. */
size_t THNN_(channelScratch)(const THNN_(ChannelWork) * work);

void THNN_(channelRun)(const THNN_(ChannelWork) * work, void *scratch);

#endif
