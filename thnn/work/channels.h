/* How a tensor of outer x channels x inner elements, with a parameter or a statistic per channel,
 * is cut up. Long planes (the inner elements of one channel) stand alone. Short ones are joined to
 * rows: a row is all planes of one outer index, or of several if there are few channels. Blocks
 * depend on the sizes alone. */
#ifndef THNN_WORK_CHANNELS_H
#define THNN_WORK_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct THNNChannels {
  int64_t outer, channels, inner, elements;
  bool rows; /* lines are rows, not planes */

  /* A line is a plane or a row, `length` elements long. The planes of a channel are a group; all
   * rows are one group. Lines of a group are `step` elements apart. A span is `spanLength` elements
   * of a line, a block the same span of `blockLines` lines. */
  int64_t groups, lines, length, step;
  int64_t blockLines, lineBlocks;
  int64_t spanLength, spans;
} THNNChannels;

THNNChannels THNN_cutChannels(int64_t outer, int64_t channels, int64_t inner);

#endif
