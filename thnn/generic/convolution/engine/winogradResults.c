/* The results of Winograd's algorithms: makes the map of the sums of products of a block of tiles,
 * finishes it, or adds to what it holds. */
#include <string.h>

#include "generic/convolution/engine/winogradWorker.h"
#include "work/caches.h"

/* Results that follow each other in the map, and are not finished yet. */
typedef struct Stretch {
  int64_t first, end;
} Stretch;

static void finishStretch(const WinogradWorker *worker, Stretch stretch)
{
  if (stretch.first < stretch.end)
    finishResults(worker->finish, stretch.first, stretch.end - stretch.first,
                  worker->map + stretch.first);
}

/* Adds the results of a segment, in a slice of the map that begins at `place`, to `left`, a stretch
 * of results that are not finished yet. If they do not follow it, the stretch is finished, and a
 * new one begins. */
static void finishSegment(const WinogradWorker *worker, const Segment *segment, int64_t place,
                          Stretch *left)
{
  const int64_t height = worker->g.output[1], width = worker->g.output[2];
  const int64_t side = worker->plan.tiles->side;
  const int64_t end = minimum(segment->row + side, height);
  const int64_t columns = minimum(side * segment->tiles, width - segment->column);
  const int64_t rows = columns == width ? end - segment->row : 1; /* contiguous in the map */
  for (int64_t row = segment->row; row < end; row += rows) {
    const int64_t first = place + row * width + segment->column;
    if (first != left->end) {
      finishStretch(worker, *left);
      left->first = first;
    }
    left->end = first + rows * columns;
  }
}

/* Adds what the elements of an image plane's row give through one row of taps to a row of results
 * from number `column` on. */
static void addRow(const THNNConvolution *g, int64_t column, int64_t columns, const real *image,
                   const real *taps, real *results)
{
  for (int64_t tap = 0; tap < g->kernel[2]; tap++) {
    const real weight = taps[g->transposed ? g->kernel[2] - 1 - tap : tap];
    for (int64_t i = 0; i < columns; i++) {
      const int64_t x = (column + i) * g->stride[2] - g->pad[2] + tap;
      if (x >= 0 && x < g->input[2])
        results[i] += weight * image[x];
    }
  }
}

/* Computes a row of a segment's results by the definition. */
static void defineRow(const WinogradWorker *worker, const Segment *segment, int64_t plane,
                      int64_t row, int64_t columns, real *results)
{
  const THNNConvolution *g = &worker->g;
  const int64_t *input = g->input, *kernel = g->kernel, taps = THNN_convolutionTaps(g);
  THNN_(simd).pointwise.fill(columns, 0, results);
  for (int64_t from = 0; from < g->inputPlanes; from++) {
    const int64_t outer = g->transposed ? from : plane, inner = g->transposed ? plane : from;
    const real *weight = worker->weight + (outer * worker->innerPlanes + inner) * taps;
    const real *image = worker->image + segment->sample * THNN_convolutionImageSample(g) +
                        from * THNN_convolutionImagePositions(g);
    for (int64_t line = 0; line < kernel[0] * kernel[1]; line++) {
      const int64_t z = segment->depth - g->pad[0] + line / kernel[1] * g->dilation[0];
      const int64_t y = row * g->stride[1] - g->pad[1] + line % kernel[1];
      const int64_t stored = g->transposed ? kernel[0] * kernel[1] - 1 - line : line;
      if (z >= 0 && z < input[0] && y >= 0 && y < input[1])
        addRow(g, segment->column, columns, image + (z * input[1] + y) * input[2],
               weight + stored * kernel[2], results);
    }
  }
}

/* Adds a segment's results to a slice of the map, of which `row` says the rest. */
static void addSegment(const WinogradWorker *worker, const Segment *segment, int64_t plane,
                       TileRow row, const real *sums, real *slice)
{
  const int64_t side = worker->plan.tiles->side, width = row.width;
  const int64_t rows = minimum(side, row.height - row.row);
  const int64_t columns = minimum(side * segment->tiles, width - segment->column);
  real *to = slice + row.row * width + segment->column;
  const TileRow apart = {.tiles = row.tiles,
                         .height = rows,
                         .width = width,
                         .column = row.column,
                         .rowStep = 1,
                         .columnStep = 1};
  const bool finite =
      worker->plan.tiles->result(&apart, sums, sumStep(worker), 0, worker->lines, worker->rows);
  for (int64_t i = 0; i < rows; i++) {
    real *results = worker->rows + i * width + segment->column;
    if (!finite)
      defineRow(worker, segment, plane, row.row + i, columns, results);
    THNN_(simd).pointwise.axpy(columns, 1, results, to + i * width);
    THNN_(simd).products.prefetch(columns, to + i * width + row.ahead);
  }
}

/* Moves results to the map. Before and behind them are those of other threads, and a processor that
 * prefetches what seems to be written next would take cache lines from these. So both halves are
 * written towards the middle. */
static void moveToMiddle(int64_t n, const real *x, real *y)
{
  enum { LINE = THNN_LINE_BYTES / sizeof(real) };
  const int64_t whole = n - n % LINE, half = whole / 2 - whole / 2 % LINE;
  for (int64_t i = 0; i < half; i += LINE)
    memcpy(y + i, x + i, LINE * sizeof(real));
  memcpy(y + whole, x + whole, (size_t)(n - whole) * sizeof(real));
  for (int64_t i = whole - LINE; i >= half; i -= LINE)
    memcpy(y + i, x + i, LINE * sizeof(real));
}

/* Finishes a stretch of results that have been gathered, and moves them to the map. */
static void placeStretch(const WinogradWorker *worker, Stretch stretch)
{
  const int64_t count = stretch.end - stretch.first;
  finishResults(worker->finish, stretch.first, count, worker->rows);
  moveToMiddle(count, worker->rows, worker->map + stretch.first);
}

/* Gathers a plane's results, of segments that are whole rows of tiles, and places them. */
static bool gatherPlane(const WinogradWorker *worker, int64_t block, int64_t plane,
                        const real *sums, real bias)
{
  const THNNConvolution *g = &worker->whole;
  const int64_t height = g->output[1], width = g->output[2], side = worker->plan.tiles->side;
  const int64_t first = plane * THNN_convolutionMapPositions(g);
  const Segment *segment = worker->segment + block * worker->plan.blockTiles;
  Stretch gathered = {0};
  bool finite = true;
  for (int64_t i = 0; i < worker->segments[block]; sums += segment[i++].tiles) {
    const int64_t place = segment[i].sample * THNN_convolutionMapSample(g) + first +
                          (segment[i].depth * height + segment[i].row) * width;
    if (place != gathered.end) {
      if (i > 0)
        placeStretch(worker, gathered);
      gathered = (Stretch){place, place};
    }
    const TileRow row = {.tiles = segment[i].tiles,
                         .height = minimum(side, height - segment[i].row),
                         .width = width,
                         .rowStep = 1,
                         .columnStep = 1};
    finite &= worker->plan.tiles->result(&row, sums, sumStep(worker), bias, worker->lines,
                                         worker->rows + place - gathered.first);
    gathered.end += row.height * width;
  }
  placeStretch(worker, gathered);
  return finite;
}

/* Makes the rows of a plane that a segment's joined phases have results for: of each two phases side
 * by side in `rows`, and then with their columns in turns in the plane. Returns whether all of them
 * are finite. */
static bool placePhases(const WinogradWorker *worker, const Segment *segment, real bias,
                        const real *sums, real *plane)
{
  const int64_t height = worker->whole.output[1], width = worker->whole.output[2];
  const int64_t side = worker->plan.tiles->side, pitch = side * segment->tiles;
  const int64_t columns = minimum(2 * pitch, width - 2 * segment->column);
  real *first = worker->rows, *second = first + side * pitch;
  bool finite = true;
  for (int64_t phase = 0; phase < PHASES; phase += 2) {
    const int64_t row = 2 * segment->row + phase / 2;
    const TileRow of = {.tiles = segment->tiles,
                        .height = minimum(side, (height - row + 1) / 2),
                        .width = pitch,
                        .rowStep = 1,
                        .columnStep = 1};
    for (int64_t i = 0; i < 2; i++, sums += worker->plan.blockTiles)
      finite &= worker->plan.tiles->result(&of, sums, sumStep(worker), bias, worker->lines,
                                           i ? second : first);
    for (int64_t i = 0; i < of.height; i++)
      THNN_(simd).shifts.interleave(columns, first + i * pitch, second + i * pitch,
                                    plane + (row + 2 * i) * width + 2 * segment->column);
  }
  return finite;
}

bool THNN_(winogradResults_transformSums)(const WinogradWorker *worker, int64_t block,
                                          int64_t first, int64_t planes)
{
  enum { AHEAD_PLANES = 2 }; /* prefetch distance, in planes */
  const THNNConvolution *g = &worker->whole;
  const int64_t step = sumStep(worker), tiles = worker->plan.blockTiles;
  const int64_t positions = THNN_convolutionMapPositions(g), apart = worker->phases > 1 ? 2 : 1;
  const int64_t sample = THNN_convolutionMapSample(g);
  const Segment *segment = worker->segment + block * tiles;
  const bool finishesHere = finishes(worker->finish) && followsRows(worker);
  bool finite = true;
  for (int64_t plane = first; plane < first + planes; plane++) {
    const real *sums = worker->sums + block * coefficientsOf(worker) * step +
                       (plane - first) * phasesAtATime(worker) * tiles;
    const real bias = worker->bias ? worker->bias[plane] : 0;
    Stretch left = {0};
    if (worker->plan.gathersResults && !worker->finish.adds) {
      finite &= gatherPlane(worker, block, plane, sums, bias);
      continue;
    }
    for (int64_t i = 0; i < worker->segments[block]; i++) {
      const TileRow row = {.tiles = segment[i].tiles,
                           .height = g->output[1],
                           .width = g->output[2],
                           .row = segment[i].row * apart + worker->phaseRow,
                           .column = segment[i].column * apart + worker->phaseColumn,
                           .rowStep = g->dilation[1] * apart,
                           .columnStep = g->dilation[2],
                           .place = segment[i].place,
                           .ahead = AHEAD_PLANES * positions,
                           .alternate = apart == 2};
      const int64_t place = segment[i].sample * sample + plane * positions +
                            segment[i].depth * row.height * row.width;
      if (worker->plan.joinsPhases)
        finite &= placePhases(worker, &segment[i], bias, sums, worker->map + place);
      else if (worker->finish.adds)
        addSegment(worker, &segment[i], plane, row, sums, worker->map + place);
      else
        finite &=
            worker->plan.tiles->result(&row, sums, step, bias, worker->lines, worker->map + place);
      if (finishesHere)
        finishSegment(worker, &segment[i], place, &left);
      sums += segment[i].tiles;
    }
    finishStretch(worker, left);
  }
  return finite;
}
