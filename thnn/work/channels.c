#include "work/channels.h"

#include "work/sizes.h"

enum {
  SHORT_PLANE = 24,     /* shorter planes are joined to rows */
  ROW = 512,            /* rows join outer indices up to about this length */
  ROW_SPAN = 2048,      /* columns of a span, whose sums stay in the first-level cache */
  MOST_ROW_BLOCKS = 64, /* most blocks of rows: each has sums for every column */
  PLANE_BLOCK = 1 << 15 /* elements of a block: as doubles, those of two tensors fit the
                         * second-level cache */
};

THNNChannels THNN_cutChannels(int64_t outer, int64_t channels, int64_t inner)
{
  THNNChannels c;
  c.outer = outer;
  c.channels = channels;
  c.inner = inner;
  c.elements = outer * channels * inner;
  c.rows = inner < SHORT_PLANE;
  if (c.rows) {
    const int64_t columns = c.elements > 0 ? channels * inner : 1;
    const int64_t repeat = columns < ROW ? ROW / columns : 1;
    c.groups = 1;
    c.length = c.step = columns * (repeat < outer ? repeat : outer);
    c.lines = divideUp(c.elements, c.length);
    c.spanLength = c.length < ROW_SPAN ? c.length : ROW_SPAN;
  } else {
    c.groups = channels;
    c.length = inner;
    c.step = channels * inner;
    c.lines = outer;
    c.spanLength = inner < PLANE_BLOCK ? inner : PLANE_BLOCK;
  }
  c.spans = divideUp(c.length, c.spanLength);
  c.blockLines = PLANE_BLOCK / c.spanLength;
  if (c.rows && c.blockLines < c.lines / MOST_ROW_BLOCKS)
    c.blockLines = divideUp(c.lines, MOST_ROW_BLOCKS);
  c.lineBlocks = divideUp(c.lines, c.blockLines);
  return c;
}
