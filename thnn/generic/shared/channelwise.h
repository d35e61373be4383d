/* Modules with a parameter or a statistic per channel see a tensor as outer x channels x inner.
 * They say what is summed up, what follows from the sums of a channel, and what each element
 * becomes. channelwise_run computes it, in the blocks of work/channels.h; where short planes are
 * joined to rows, the channels' parameters are repeated along them. */
#ifndef THNN_GENERIC_CHANNELWISE_H
#define THNN_GENERIC_CHANNELWISE_H

#include "generic/template.h"
#include "work/channels.h"

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
size_t THNN_(channelwise_scratchBytes)(const ChannelWork *work);

void THNN_(channelwise_run)(const ChannelWork *work, void *scratch);

#endif
