#include "generic/pooling/max.h"

#include "generic/pooling/indices.h"
#include "generic/pooling/maxOfSmallPlanes.h"
#include "geometry/convolutionCheck.h"
#include "work/scratch.h"
#include "work/sizes.h"

/* How the work is divided. */
typedef struct MaxPartition {
  int64_t under;   /* most rows under a window */
  THNNRange whole; /* windows wholly inside along x */
  THNNRange
      alternate; /* rows of windows that greatestOfAlternate computes, if only values are wanted;
                        * otherwise empty */
  THNNBlocks blocks;
  int threads;
  size_t threadBytes;
} MaxPartition;

/* A thread's scratch. */
typedef struct Areas {
  const real **rows; /* the rows under a window */
  Place *places;
  real *best; /* the greatest element of each column of these rows */
  Place *bestPlaces;
  Place *windowPlaces; /* the places of a row of results */
} Areas;

static Areas layOut(const MaxPartition *partition, const THNNConvolution *g, Scratch *scratch)
{
  Areas areas = {.rows = THNN_take(scratch, partition->under, sizeof(real *))};
  areas.places = THNN_take(scratch, partition->under, sizeof(Place));
  areas.best = THNN_take(scratch, g->input[2], sizeof(real));
  areas.bestPlaces = THNN_take(scratch, g->input[2], sizeof(Place));
  areas.windowPlaces = THNN_take(scratch, g->output[2], sizeof(Place));
  return areas;
}

/* Whether windows are of 2x2 or 3x3 elements and begin at every second row and column. */
static bool isAlternate(const THNNConvolution *g)
{
  const int64_t kernel = g->kernel[2];
  bool alternate =
      g->input[0] == 1 && g->kernel[0] == 1 && g->pad[0] == 0 && (kernel == 2 || kernel == 3);
  for (int d = 1; d < 3; d++)
    alternate &= g->kernel[d] == kernel && g->stride[d] == 2 && g->dilation[d] == 1;
  return alternate;
}

static MaxPartition partitionFor(const THNNState *state, const THNNConvolution *g)
{
  MaxPartition partition = {.under = THNN_mostRowsUnderWindow(g)};
  const int64_t rows = THNN_poolingPlanes(g) * THNN_outputRows(g);
  const int64_t cost = partition.under * g->input[2] + g->kernel[2] * g->output[2];
  partition.whole = THNN_wholeWindows(g, 2);
  if (isAlternate(g) &&
      partition.whole.end - partition.whole.begin >= THNN_(simd).pooling.fewestAlternate)
    partition.alternate = THNN_wholeWindows(g, 1);
  partition.blocks = THNN_rowBlocks(rows, cost);
  partition.threads =
      THNN_threads(state, partition.blocks.count, (double)rows * (double)(cost + 32));
  Scratch scratch = {0};
  layOut(&partition, g, &scratch);
  partition.threadBytes = scratch.used;
  return partition;
}

/* Lists the rows under the windows of one output row, and their places. In two dimensions a place
 * is a number of elements from the beginning of the first row; in three it is the packed taps, the
 * first tap in the highest byte, so that smaller places come first. */
static int64_t listRows(const THNNMaxPoolingCall *call, const THNNTaps *z, const THNNTaps *y,
                        const real *plane, const real **rows, Place *places)
{
  const THNNConvolution *g = &call->geometry;
  int64_t count = 0;
  for (int64_t t = z->begin; t < z->end; t++)
    for (int64_t h = y->begin; h < y->end; h++) {
      const int64_t atZ = z->start + t * g->dilation[0], atY = y->start + h * g->dilation[1];
      rows[count] = plane + (atZ * g->input[1] + atY) * g->input[2];
      places[count] = call->nDimension == 3
                          ? (Place)((t << THNN_TAP_BITS | h) << THNN_TAP_BITS)
                          : (Place)((h - y->begin) * g->dilation[1] * g->input[2]);
      count++;
    }
  return count;
}

/* Describes neighbouring windows along x that have the same taps inside; `x` has the first
 * one's. */
static ColumnWindows columnsAt(const THNNMaxPoolingCall *call, const THNNTaps *x)
{
  const THNNConvolution *g = &call->geometry;
  const bool packed = call->nDimension == 3;
  const int64_t first = x->start + x->begin * g->dilation[2];
  return (ColumnWindows){.step = g->stride[2],
                         .dilation = g->dilation[2],
                         .kernel = x->end - x->begin,
                         .firstPlace = (Place)(packed ? x->begin : first),
                         .windowPlace = (Place)(packed ? 0 : g->stride[2]),
                         .tapPlace = (Place)(packed ? 1 : g->dilation[2]),
                         .start = THNN_LOWEST};
}

static void poolWindows(const THNNMaxPoolingCall *call, int64_t position, int64_t count,
                        const real *best, const Place *bestPlaces, real *output, Place *places)
{
  const THNNConvolution *g = &call->geometry;
  const THNNTaps x = THNN_tapsInside(g, 2, position);
  const ColumnWindows columns = columnsAt(call, &x);
  const int64_t first = x.start + x.begin * g->dilation[2];
  THNN_(simd).pooling.maxOfColumns(count, &columns, best + first, bestPlaces + first,
                                   output + position, places + position);
}

/* The taps' bytes in the order t, h, w. */
static int64_t indexOfTaps(Place place)
{
  const Place byte = (1 << THNN_TAP_BITS) - 1;
  return (place >> 2 * THNN_TAP_BITS & byte) | (place & byte << THNN_TAP_BITS) |
         (place & byte) << 2 * THNN_TAP_BITS;
}

/* The place for a window without a value: its first tap inside the input. */
static Place firstTap(const THNNConvolution *g, THNNRow row, int64_t x)
{
  const int64_t z = THNN_tapsInside(g, 0, row.z).begin, y = THNN_tapsInside(g, 1, row.y).begin;
  return (Place)((z << THNN_TAP_BITS | y) << THNN_TAP_BITS | THNN_tapsInside(g, 2, x).begin);
}

static void unpackPlaces(const THNNConvolution *g, THNNRow row, int64_t rows, const Place *places,
                         int64_t *indices)
{
  const int64_t width = g->output[2], count = rows * width;
  Place signs = 0;
  for (int64_t i = 0; i < count; i++) {
    signs |= places[i];
    indices[i] = indexOfTaps(places[i]);
  }
  if (signs >= 0)
    return;
  for (int64_t at = 0; at < count; at += width, THNN_nextRow(&row))
    for (int64_t x = 0; x < width; x++)
      if (places[at + x] < 0)
        indices[at + x] = indexOfTaps(firstTap(g, row, x));
}

static void greatestOfWindows(const THNNMaxPoolingCall *call, int64_t position, int64_t count,
                              const real *best, real *output)
{
  const THNNConvolution *g = &call->geometry;
  const THNNTaps x = THNN_tapsInside(g, 2, position);
  const ColumnWindows columns = columnsAt(call, &x);
  THNN_(simd).pooling.greatestOfColumns(count, &columns, best + x.start + x.begin * g->dilation[2],
                                        output + position);
}

/* One output row without its indices. */
static void findGreatestOfRow(const THNNMaxPoolingCall *call, THNNRange whole, const real *plane,
                              THNNRow row, real *output, const Areas *areas)
{
  const THNNConvolution *g = &call->geometry;
  real *best = areas->best;
  const THNNTaps z = THNN_tapsInside(g, 0, row.z), y = THNN_tapsInside(g, 1, row.y);
  const int64_t count = listRows(call, &z, &y, plane, areas->rows, areas->places);
  THNN_(simd).pooling.greatestOfRows(g->input[2], count, areas->rows, THNN_LOWEST, best);

  for (int64_t x = 0; x < whole.begin; x++)
    greatestOfWindows(call, x, 1, best, output);
  if (whole.end > whole.begin)
    greatestOfWindows(call, whole.begin, whole.end - whole.begin, best, output);
  for (int64_t x = whole.end; x < g->output[2]; x++)
    greatestOfWindows(call, x, 1, best, output);
}

/* The windows of one output column that reach over the edges along x: `rows` of them, the first of
 * whose rows begins at `plane`. */
static void findGreatestOfColumn(const THNNConvolution *g, const real *plane, int64_t rows,
                                 int64_t column, real *output)
{
  const THNNTaps x = THNN_tapsInside(g, 2, column);
  for (int64_t i = 0; i < rows; i++, plane += g->stride[1] * g->input[2]) {
    real greatest = THNN_LOWEST;
    for (int64_t w = x.start + x.begin; w < x.start + x.end; w++) {
      real best = THNN_LOWEST;
      for (int64_t h = 0; h < g->kernel[1]; h++) {
        const real value = plane[h * g->input[2] + w];
        best = value > best ? value : best;
      }
      greatest = best > greatest ? best : greatest;
    }
    output[i * g->output[2] + column] = greatest;
  }
}

/* Output rows of a plane without their indices: from `row` on as many as greatestOfAlternate
 * computes at once, at most `most`, or otherwise one. Returns their number. */
static int64_t findGreatest(const THNNMaxPoolingCall *call, const MaxPartition *partition,
                            const real *plane, THNNRow row, int64_t most, real *output,
                            const Areas *areas)
{
  const THNNConvolution *g = &call->geometry;
  const THNNRange whole = partition->whole, rows = partition->alternate;
  if (row.y < rows.begin || row.y >= rows.end) {
    findGreatestOfRow(call, whole, plane, row, output, areas);
    return 1;
  }
  const int64_t width = g->output[2];
  const AlternateWindows windows = {.kernel = g->kernel[2],
                                    .rows = minimum(most, rows.end - row.y),
                                    .count = whole.end - whole.begin,
                                    .rowStep = g->input[2],
                                    .columns = width,
                                    .start = THNN_LOWEST};
  const real *top = plane + (2 * row.y - g->pad[1]) * g->input[2];
  THNN_(simd).pooling.greatestOfAlternate(&windows, top + 2 * whole.begin - g->pad[2],
                                          output + whole.begin);
  for (int64_t x = 0; x < whole.begin; x++)
    findGreatestOfColumn(g, top, windows.rows, x, output);
  for (int64_t x = whole.end; x < width; x++)
    findGreatestOfColumn(g, top, windows.rows, x, output);
  return windows.rows;
}

static void poolRow(const THNNMaxPoolingCall *call, THNNRange whole, const real *plane, THNNRow row,
                    real *output, int64_t *indices, const Areas *areas)
{
  const THNNConvolution *g = &call->geometry;
  real *best = areas->best;
  Place *bestPlaces = areas->bestPlaces, *windowPlaces = areas->windowPlaces;
  const THNNTaps z = THNN_tapsInside(g, 0, row.z), y = THNN_tapsInside(g, 1, row.y);
  const int64_t count = listRows(call, &z, &y, plane, areas->rows, areas->places);
  THNN_(simd).pooling.maxOfRows(g->input[2], count, areas->rows, areas->places, THNN_LOWEST, best,
                                bestPlaces);

  for (int64_t x = 0; x < whole.begin; x++)
    poolWindows(call, x, 1, best, bestPlaces, output, windowPlaces);
  if (whole.end > whole.begin)
    poolWindows(call, whole.begin, whole.end - whole.begin, best, bestPlaces, output, windowPlaces);
  for (int64_t x = whole.end; x < g->output[2]; x++)
    poolWindows(call, x, 1, best, bestPlaces, output, windowPlaces);

  if (call->nDimension == 3)
    unpackPlaces(g, row, 1, windowPlaces, indices);
  else
    THNN_(simd).indices.indexOfPlace(
        g->output[2], windowPlaces,
        (y.start + y.begin * g->dilation[1]) * g->input[2] + TH_INDEX_BASE, 0, indices);
}

static void poolRows(const THNNMaxPoolingCall *call, const MaxPartition *partition,
                     const real *input, real *output, int64_t *indices, char *scratch)
{
  const THNNConvolution *g = &call->geometry;
  const int64_t elements = THNN_convolutionImagePositions(g), width = g->output[2];
#pragma omp parallel for num_threads(partition->threads) schedule(static)
  for (int64_t block = 0; block < partition->blocks.count; block++) {
    Scratch mine = {.base = scratch + (size_t)THNN_threadIndex() * partition->threadBytes};
    const Areas areas = layOut(partition, g, &mine);
    const int64_t first = block * partition->blocks.length;
    THNNRow row = THNN_rowAt(first, g->output[0], g->output[1]);
    const int64_t end = first + THNN_blockLength(&partition->blocks, block);
    for (int64_t i = first, next; i < end; i = next) {
      const real *plane = input + row.plane * elements;
      next = i + 1;
      if (indices)
        poolRow(call, partition->whole, plane, row, output + i * width, indices + i * width,
                &areas);
      else
        next = i + findGreatest(call, partition, plane, row, end - i, output + i * width, &areas);
      for (int64_t passed = i; passed < next; passed++)
        THNN_nextRow(&row);
    }
  }
}

/* ---- Small planes --------------------------------------------------------------------------- */

/* The numbers of which places are made count elements in two dimensions, and taps in three. */
static bool preparePlanes(const THNNMaxPoolingCall *call, bool valuesOnly, MaxOfSmallPlanes *work)
{
  const THNNConvolution *g = &call->geometry;
  const bool taps = call->nDimension == 3;
  *work = (MaxOfSmallPlanes){
      .planes = THNN_poolingPlanes(g),
      .placeStep = {1 << 2 * THNN_TAP_BITS, taps ? 1 << THNN_TAP_BITS : g->input[2], 1},
      .windowRows = THNN_mostRowsUnderWindow(g),
      .valuesOnly = valuesOnly,
      .none = -1,
      .start = THNN_LOWEST};
  for (int d = 0; d < 3; d++) {
    work->input[d] = g->input[d];
    work->output[d] = g->output[d];
    work->dilation[d] = g->dilation[d];
    work->numberStep[d] = taps ? 1 : g->dilation[d];
  }
  return THNN_(maxOfSmallPlanes_plan)(work, call->state, work->windowRows * g->kernel[2]);
}

static void setWindows(const THNNMaxPoolingCall *call, const MaxOfSmallPlanes *work, char *scratch)
{
  const THNNConvolution *g = &call->geometry;
  for (int d = 0; d < 3; d++) {
    THNNTapSpan *windows = THNN_(maxOfSmallPlanes_list)(work, d, scratch);
    for (int64_t i = 0; i < g->output[d]; i++) {
      const THNNTaps taps = THNN_tapsInside(g, d, i);
      const int64_t first = taps.start + taps.begin * g->dilation[d];
      const int64_t number = call->nDimension == 3 ? taps.begin : first;
      windows[i] = (THNNTapSpan){0};
      if (taps.begin < taps.end)
        windows[i] =
            (THNNTapSpan){(int32_t)first, (int32_t)(taps.end - taps.begin), (int32_t)number};
    }
  }
}

static void poolPlanes(const THNNMaxPoolingCall *call, const MaxOfSmallPlanes *work,
                       const real *input, real *output, int64_t *indices, char *scratch)
{
  const THNNConvolution *g = &call->geometry;
  const int64_t elements = THNN_convolutionImagePositions(g);
  const int64_t rows = THNN_outputRows(g), outputs = rows * g->output[2];
#pragma omp parallel num_threads(work->threads)
  {
    char *mine = scratch + (size_t)THNN_threadIndex() * work->threadBytes;
    setWindows(call, work, mine);
#pragma omp for schedule(static)
    for (int64_t group = 0; group < work->groups.count; group++) {
      const int64_t first = group * work->groups.length;
      const int64_t planes = THNN_blockLength(&work->groups, group);
      const Place *places = THNN_(maxOfSmallPlanes_run)(work, planes, input + first * elements,
                                                        mine, output + first * outputs);
      if (!indices)
        continue;
      int64_t *to = indices + first * outputs;
      if (call->nDimension == 3)
        unpackPlaces(g, THNN_rowAt(0, g->output[0], g->output[1]), planes * rows, places, to);
      else
        THNN_(simd).indices.indexOfPlace(planes * outputs, places, TH_INDEX_BASE, 0, to);
    }
  }
}

void THNN_(max_updateOutput)(const THNNMaxPoolingCall *call, THTensor *input, THTensor *output,
                             THIndexTensor *indices)
{
  const THNNConvolution *g = &call->geometry;
  int64_t size[5];
  const int nDimension = THNN_convolutionSizes(g, call->nDimension, false,
                                               input->nDimension == call->nDimension + 2, size);

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  MaxOfSmallPlanes planes;
  const MaxPartition partition = partitionFor(call->state, g);
  const bool alternate = !indices && partition.alternate.end > partition.alternate.begin;
  const bool small = !alternate && preparePlanes(call, !indices, &planes);
  const size_t bytes = small ? (size_t)planes.threads * planes.threadBytes
                             : (size_t)partition.threads * partition.threadBytes;
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *places = indices ? THNN_planOut(&plan, indices, 4, nDimension, size) : NULL;
  const THNNBuffer *scratch = THNN_planScratch(&plan, bytes);
  THNN_planAcquire(&plan);
  int64_t *found = places ? places->data : NULL;
  if (small)
    poolPlanes(call, &planes, in->data, out->data, found, scratch->data);
  else
    poolRows(call, &partition, in->data, out->data, found, scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(max_updateGradInput)(const THNNMaxPoolingCall *call, THTensor *input,
                                THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices)
{
  const THNNConvolution *g = &call->geometry;
  const bool plain = call->nDimension == 2;
  THNNPooledIndices pooled = {.function = call->function,
                              .state = call->state,
                              .planes = THNN_poolingPlanes(g),
                              .slices = g->output[0],
                              .rows = g->output[1],
                              .length = g->output[2],
                              .elements = THNN_convolutionImagePositions(g),
                              .optional = plain || THNN_someWindowIsOutside(g),
                              .expected = "offsets in the windows that lie inside the input"};
  if (!plain)
    THNN_(indices_describeTaps)(&pooled, g);
  THNN_(indices_updateGradInput)(&pooled, input, gradOutput, gradInput, indices, 5);
}
