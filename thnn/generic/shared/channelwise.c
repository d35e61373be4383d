#include "generic/shared/channelwise.h"

#include "work/sizes.h"

/* The place of a block. */
typedef struct LineBlock {
  int64_t group, lineBlock, firstLine, endLine;
  int64_t column; /* where the span begins in each line */
} LineBlock;

static LineBlock blockAt(const THNNChannels *c, int64_t index)
{
  LineBlock block;
  const int64_t line = index / c->spans;
  block.column = index % c->spans * c->spanLength;
  block.group = line / c->lineBlocks;
  block.lineBlock = line % c->lineBlocks;
  block.firstLine = block.lineBlock * c->blockLines;
  block.endLine = block.firstLine + c->blockLines;
  if (block.endLine > c->lines)
    block.endLine = c->lines;
  return block;
}

/* The index of a block's first element in a line; and the number of the block's elements in that
 * line. The last row can be shorter than the others. */
static int64_t startOf(const THNNChannels *c, const LineBlock *block, int64_t line)
{
  return (c->rows ? 0 : block->group * c->inner) + line * c->step + block->column;
}

static int64_t lengthAt(const THNNChannels *c, const LineBlock *block, int64_t start)
{
  int64_t length = c->length - block->column;
  if (length > c->spanLength)
    length = c->spanLength;
  if (length > c->elements - start)
    length = c->elements - start;
  return length > 0 ? length : 0;
}

/* The scratch of the work. */
typedef struct Scratch {
  double *sums;           /* planes: two per block; rows: two per column and line block */
  real *centers;          /* rows: one per column */
  real *parameters;       /* the map's, channel by channel */
  real *columnParameters; /* rows: the map's, parameter by parameter */
} Scratch;

static int64_t sumsOf(const ChannelWork *work)
{
  const THNNChannels *c = work->channels;
  if (!work->sum)
    return 0;
  return 2 * c->lineBlocks * (c->rows ? c->length : c->groups * c->spans);
}

static int64_t columnsOf(const THNNChannels *c)
{
  return c->rows ? c->length : 0;
}

static int64_t parametersOf(const ChannelWork *work)
{
  return work->map ? work->map->count : 0;
}

size_t THNN_(channelwise_scratchBytes)(const ChannelWork *work)
{
  const THNNChannels *c = work->channels;
  const int64_t reals =
      (work->sum ? columnsOf(c) : 0) + parametersOf(work) * (c->channels + columnsOf(c));
  return (size_t)sumsOf(work) * sizeof(double) + (size_t)reals * sizeof(real);
}

static Scratch divide(const ChannelWork *work, void *memory)
{
  const THNNChannels *c = work->channels;
  Scratch scratch;
  scratch.sums = memory;
  scratch.centers = (real *)(scratch.sums + sumsOf(work));
  scratch.parameters = scratch.centers + (work->sum ? columnsOf(c) : 0);
  scratch.columnParameters = scratch.parameters + parametersOf(work) * c->channels;
  return scratch;
}

static real centerOf(const ChannelWork *work, int64_t channel)
{
  if (!work->sum || work->channels->elements == 0)
    return 0;
  return work->centers ? work->centers[channel] : work->x[channel * work->channels->inner];
}

/* columns[j] = the value of the channel of column j; channels have values `step` reals apart. */
static void spread(const THNNChannels *c, const real *values, int64_t step, real *columns)
{
  if (c->elements == 0)
    return; /* channels without elements fill no column */
  const int64_t once = c->channels * c->inner;
  for (int64_t channel = 0; channel < c->channels; channel++)
    for (int64_t i = 0; i < c->inner; i++)
      columns[channel * c->inner + i] = values[channel * step];
  for (int64_t at = once; at < c->length; at += once)
    THNN_(simd).pointwise.copy(once, columns, columns + at);
}

static void sumPlanes(const ChannelWork *work, const LineBlock *block, const Scratch *scratch)
{
  const THNNChannels *c = work->channels;
  const real *y = work->y ? work->y : work->x;
  const int64_t start = startOf(c, block, block->firstLine);
  double *sums = scratch->sums + 2 * ((block->group * c->lineBlocks + block->lineBlock) * c->spans +
                                      block->column / c->spanLength);
  sums[0] = sums[1] = 0;
  work->sum->planes(block->endLine - block->firstLine, c->step, lengthAt(c, block, start),
                    work->x + start, y + start, centerOf(work, block->group), sums);
}

static void sumRows(const ChannelWork *work, const LineBlock *block, const Scratch *scratch)
{
  const THNNChannels *c = work->channels;
  const real *y = work->y ? work->y : work->x;
  double *first = scratch->sums + 2 * c->length * block->lineBlock + block->column;
  double *second = first + c->length;
  const int64_t columns = lengthAt(c, block, block->column);
  for (int64_t i = 0; i < columns; i++)
    first[i] = second[i] = 0;
  for (int64_t line = block->firstLine; line < block->endLine; line++) {
    const int64_t start = startOf(c, block, line);
    work->sum->row(lengthAt(c, block, start), work->x + start, y + start,
                   scratch->centers + block->column, first, second);
  }
}

/* Adds up a channel's sums over its blocks and columns, in order, and finishes the channel. */
static void finishChannel(const ChannelWork *work, int64_t channel, const Scratch *scratch)
{
  const THNNChannels *c = work->channels;
  double sums[2] = {0, 0};
  if (work->sum && c->rows) {
    for (int64_t b = 0; b < c->lineBlocks; b++) {
      const double *first = scratch->sums + 2 * c->length * b, *second = first + c->length;
      for (int64_t row = channel * c->inner; row < c->length; row += c->channels * c->inner)
        for (int64_t i = row; i < row + c->inner; i++) {
          sums[0] += first[i];
          sums[1] += second[i];
        }
    }
  } else if (work->sum) {
    const int64_t blocks = c->lineBlocks * c->spans;
    const double *first = scratch->sums + 2 * blocks * channel;
    for (int64_t b = 0; b < blocks; b++) {
      sums[0] += first[2 * b];
      sums[1] += first[2 * b + 1];
    }
  }
  work->finish(work->context, channel, centerOf(work, channel), sums,
               work->map ? scratch->parameters + channel * parametersOf(work) : NULL);
}

/* Whether to write planes with streaming stores. A plane that does not end with a cache line shares
 * one with the next plane, and both write to it through the caches. With a last-level cache of 32 MB,
 * gradients with planes of 196 bytes took 3.7 times as long with streaming stores, of 1444 bytes 1.4
 * times, and of 1936 bytes 0.9 times. A map without sums reads one tensor. */
static bool streamsPlanes(const ChannelWork *work)
{
  enum { LEAST_BYTES = 24 * THNN_LINE_BYTES };
  const int64_t bytes = work->channels->inner * (int64_t)sizeof(real);
  return (bytes % THNN_LINE_BYTES == 0 || bytes >= LEAST_BYTES) &&
         THNN_streamsResult(work->sum && work->y ? 2 : 1, work->channels->elements, sizeof(real));
}

/* Maps n elements of one plane; `at` is the index of the first in the tensor. */
static void mapPlane(const ChannelWork *work, int64_t n, int64_t at, const real *parameters)
{
  const real *x = work->x + at, *y = work->y ? work->y + at : x;
  if (streamsPlanes(work))
    THNN_(simd).pointwise.streamMap2(work->map->plane, n, x, y, parameters,
                                     THNN_tuning.prefetchBytes, work->z + at);
  else
    work->map->plane(n, x, y, parameters, work->z + at);
}

static void mapBlock(const ChannelWork *work, const LineBlock *block, const Scratch *scratch)
{
  const THNNChannels *c = work->channels;
  const ChannelMap *map = work->map;
  const real *y = work->y ? work->y : work->x;
  for (int64_t line = block->firstLine; line < block->endLine; line++) {
    const int64_t start = startOf(c, block, line), n = lengthAt(c, block, start);
    if (c->rows)
      map->row(n, work->x + start, y + start, scratch->columnParameters + block->column, c->length,
               work->z + start);
    else
      mapPlane(work, n, start, scratch->parameters + block->group * map->count);
  }
}

/* Computes a map of planes without sums, in memory order, so that the hardware prefetches what
 * comes next. */
static void mapInOrder(const ChannelWork *work, const Scratch *scratch)
{
  const THNNChannels *c = work->channels;
  const THNNBlocks blocks = THNN_blocks(c->elements);
  const int threads = THNN_threads(work->state, blocks.count, 2 * (double)c->elements);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++) {
    const int64_t end = i * blocks.length + THNN_blockLength(&blocks, i);
    for (int64_t at = i * blocks.length, n; at < end; at += n) {
      const int64_t plane = at / c->inner, left = (plane + 1) * c->inner - at;
      n = left < end - at ? left : end - at;
      mapPlane(work, n, at, scratch->parameters + plane % c->channels * work->map->count);
    }
  }
}

/* How many groups are summed up before they are mapped: as many as each thread's share of the
 * third-level cache holds. Planes come from memory to be summed up, and then from that cache to be
 * mapped. */
static int64_t groupsTogether(const ChannelWork *work, int threads)
{
  enum { SHARE = 2 << 20 }; /* a thread's share, in bytes */
  const THNNChannels *c = work->channels;
  const int64_t lineBytes = c->length * (int64_t)sizeof(real) * (work->y ? 2 : 1);
  const int64_t groups = (int64_t)threads * SHARE / (c->lines * lineBytes + 1);
  return groups > 0 ? groups : 1;
}

/* Computes groups [first, end), in all threads of a parallel region. */
static void runGroups(const ChannelWork *work, int64_t first, int64_t end, const Scratch *scratch)
{
  const THNNChannels *c = work->channels;
  const int64_t blocks = c->lineBlocks * c->spans; /* blocks of a group */
  const int64_t firstChannel = c->rows ? 0 : first, endChannel = c->rows ? c->channels : end;
  if (work->sum) {
#pragma omp for schedule(static)
    for (int64_t i = first * blocks; i < end * blocks; i++) {
      const LineBlock block = blockAt(c, i);
      if (c->rows)
        sumRows(work, &block, scratch);
      else
        sumPlanes(work, &block, scratch);
    }
  }
#pragma omp for schedule(static)
  for (int64_t channel = firstChannel; channel < endChannel; channel++)
    finishChannel(work, channel, scratch);
  if (!work->map)
    return;
  if (c->rows) {
#pragma omp for schedule(static)
    for (int p = 0; p < work->map->count; p++)
      spread(c, scratch->parameters + p, work->map->count,
             scratch->columnParameters + p * c->length);
  }
#pragma omp for schedule(static)
  for (int64_t i = first * blocks; i < end * blocks; i++) {
    const LineBlock block = blockAt(c, i);
    mapBlock(work, &block, scratch);
  }
}

void THNN_(channelwise_run)(const ChannelWork *work, void *memory)
{
  const THNNChannels *c = work->channels;
  const Scratch scratch = divide(work, memory);
  const int64_t blocks = c->groups * c->lineBlocks * c->spans;
  const double operations = (work->sum ? 5 : 0) + (work->map ? 2 : 0); /* per element */
  const int threads = THNN_threads(work->state, blocks, operations * (double)c->elements);

  if (!c->rows && !work->sum && work->map) {
    for (int64_t channel = 0; channel < c->channels; channel++)
      finishChannel(work, channel, &scratch);
    mapInOrder(work, &scratch);
    return;
  }

  /* A channel that is one block is finished while it is in the cache. */
  if (!c->rows && c->lineBlocks * c->spans == 1) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < blocks; i++) {
      const LineBlock block = {.group = i, .endLine = c->lines};
      if (work->sum)
        sumPlanes(work, &block, &scratch);
      finishChannel(work, i, &scratch);
      if (work->map)
        mapBlock(work, &block, &scratch);
    }
    return;
  }

  if (c->rows && work->sum) {
    if (work->centers)
      spread(c, work->centers, 1, scratch.centers);
    else
      spread(c, work->x, c->inner, scratch.centers);
  }
#pragma omp parallel num_threads(threads)
  for (int64_t first = 0, groups = groupsTogether(work, threads); first < c->groups;
       first += groups)
    runGroups(work, first, first + groups < c->groups ? first + groups : c->groups, &scratch);
}
