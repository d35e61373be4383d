#include "generic/pooling/maxOfSmallPlanes.h"

#include "work/scratch.h"

enum {
  MOST_TILE_BYTES = 512 << 10, /* a group's planes and results fit the second-level cache */
  /* The limit where only values are wanted and vectors have less than MANY_LANES lanes: larger
   * planes take less time row by row. */
  MOST_BYTES_OF_VALUES = 256 << 10,
  MANY_LANES = 16,
  /* Part of the lanes that planes must fill: 1/4. With 3 planes in 16 lanes this is 0.7 to 1.2
   * times as fast as pooling row by row. */
  PAYING_SHARE = 4
};

static int64_t elementsOf(const int64_t *size)
{
  return size[0] * size[1] * size[2];
}

/* A thread's scratch: the rows under a window, the windows along each dimension, and a group of
 * planes and of results with a plane in each lane. */
typedef struct Areas {
  const real **rows;
  Place *rowPlaces;
  THNNTapSpan *windows[3];
  real *planes, *best;
  Place *bestPlaces, *places;
} Areas;

static Areas layOut(const MaxOfSmallPlanes *work, Scratch *scratch)
{
  const int64_t lanes = vectorLanes(), outputs = elementsOf(work->output) * lanes;
  Areas areas = {.rows = THNN_take(scratch, work->windowRows, sizeof(real *))};
  areas.rowPlaces = THNN_take(scratch, work->windowRows, sizeof(Place));
  for (int d = 0; d < 3; d++)
    areas.windows[d] = THNN_take(scratch, work->output[d], sizeof(THNNTapSpan));
  areas.planes = THNN_take(scratch, elementsOf(work->input) * lanes, sizeof(real));
  areas.best = THNN_take(scratch, outputs, sizeof(real));
  areas.bestPlaces = THNN_take(scratch, outputs, sizeof(Place));
  areas.places = THNN_take(scratch, outputs, sizeof(Place));
  return areas;
}

static Areas areasOf(const MaxOfSmallPlanes *work, char *memory)
{
  Scratch scratch = {.base = memory};
  return layOut(work, &scratch);
}

bool THNN_(maxOfSmallPlanes_plan)(MaxOfSmallPlanes *work, const THNNState *state, int64_t taps)
{
  const int64_t lanes = vectorLanes();
  const int64_t elements = elementsOf(work->input), outputs = elementsOf(work->output);
  const bool large = !work->valuesOnly || lanes >= MANY_LANES;
  const int64_t bytes = large ? MOST_TILE_BYTES : MOST_BYTES_OF_VALUES;
  const int64_t most = bytes / (lanes * (int64_t)sizeof(real));
  if (elements > most || outputs > most || elements + 3 * outputs > most)
    return false;
  if (work->planes * PAYING_SHARE < lanes)
    return false;
  Scratch scratch = {0};
  layOut(work, &scratch);
  work->threadBytes = scratch.used;
  work->groups = (THNNBlocks){(work->planes + lanes - 1) / lanes, lanes, work->planes};
  work->threads =
      THNN_threads(state, work->groups.count,
                   (double)work->planes * (double)(elements + outputs * (taps + 4)) / 4);
  return true;
}

THNNTapSpan *THNN_(maxOfSmallPlanes_list)(const MaxOfSmallPlanes *work, int dimension,
                                          char *scratch)
{
  return areasOf(work, scratch).windows[dimension];
}

/* Lists the rows under the windows of an output row. */
static int64_t listRows(const MaxOfSmallPlanes *work, THNNTapSpan z, THNNTapSpan y,
                        const real *planes, const real **rows, Place *places)
{
  const int64_t width = work->input[2] * vectorLanes();
  int64_t count = 0;
  for (int64_t t = 0; t < z.taps; t++)
    for (int64_t h = 0; h < y.taps; h++) {
      const int64_t atZ = z.first + t * work->dilation[0], atY = y.first + h * work->dilation[1];
      rows[count] = planes + (atZ * work->input[1] + atY) * width;
      places[count++] = (Place)((z.number + t * work->numberStep[0]) * work->placeStep[0] +
                                (y.number + h * work->numberStep[1]) * work->placeStep[1]);
    }
  return count;
}

const Place *THNN_(maxOfSmallPlanes_run)(const MaxOfSmallPlanes *work, int64_t planes,
                                         const real *input, char *scratch, real *output)
{
  const int64_t lanes = vectorLanes();
  const int64_t elements = elementsOf(work->input), outputs = elementsOf(work->output);
  const Areas areas = areasOf(work, scratch);

  const PlaneRows from = {planes, elements, 1, elements, elements * lanes};
  THNN_(simd).planes.load(&from, input, areas.planes);

  const int64_t width = work->output[2];
  PlaneWindows windows = {.columns = width,
                          .row = areas.rows,
                          .rowPlace = areas.rowPlaces,
                          .window = areas.windows[2],
                          .dilation = work->dilation[2] * lanes,
                          .numberPlace = (Place)work->placeStep[2],
                          .tapPlace = (Place)(work->numberStep[2] * work->placeStep[2]),
                          .none = work->none,
                          .start = work->start};
  int64_t at = 0;
  for (int64_t z = 0; z < work->output[0]; z++)
    for (int64_t y = 0; y < work->output[1]; y++, at += width * lanes) {
      windows.rows = listRows(work, areas.windows[0][z], areas.windows[1][y], areas.planes,
                              areas.rows, areas.rowPlaces);
      THNN_(simd).planes.max(&windows, areas.best + at, areas.bestPlaces + at);
    }

  const PlaneRows to = {planes, outputs, 1, outputs, 0};
  THNN_(simd).planes.store(&to, areas.best, output);
  THNN_(simd).planes.store(&to, (const real *)areas.bestPlaces, (real *)areas.places);
  return areas.places;
}
