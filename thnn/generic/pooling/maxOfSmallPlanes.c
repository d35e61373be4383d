#include "generic/pooling/maxOfSmallPlanes.h"

enum {
  MOST_TILE_BYTES = 256 << 10, /* a group's planes and results fit the second-level cache */
  /* Part of the lanes that planes must fill: 1/4. With 3 planes in 16 lanes this is 0.7 to 1.2
   * times as fast as pooling row by row. */
  PAYING_SHARE = 4
};

static int64_t elementsOf(const int64_t *size)
{
  return size[0] * size[1] * size[2];
}

bool THNN_(maxOfSmallPlanes_plan)(MaxOfSmallPlanes *work, const THNNState *state,
                                  int64_t windowRows, int64_t taps)
{
  const int64_t lanes = vectorLanes();
  const int64_t elements = elementsOf(work->input), outputs = elementsOf(work->output);
  const int64_t most = MOST_TILE_BYTES / (lanes * (int64_t)sizeof(real));
  if (elements > most || outputs > most || elements + 3 * outputs > most)
    return false;
  if (work->planes * PAYING_SHARE < lanes)
    return false;
  work->groups = (THNNBlocks){(work->planes + lanes - 1) / lanes, lanes, work->planes};
  work->threads =
      THNN_threads(state, work->groups.count,
                   (double)work->planes * (double)(elements + outputs * (taps + 4)) / 4);

  size_t *bytes = &work->threadBytes;
  *bytes = 0;
  THNN_reserve(bytes, (size_t)windowRows * sizeof(real *));
  work->rowPlaces = THNN_reserve(bytes, (size_t)windowRows * sizeof(Place));
  for (int d = 0; d < 3; d++)
    work->windows[d] = THNN_reserve(bytes, (size_t)work->output[d] * sizeof(THNNTapSpan));
  work->lanes = THNN_reserve(bytes, (size_t)(elements * lanes) * sizeof(real));
  work->best = THNN_reserve(bytes, (size_t)(outputs * lanes) * sizeof(real));
  work->bestPlaces = THNN_reserve(bytes, (size_t)(outputs * lanes) * sizeof(Place));
  work->places = THNN_reserve(bytes, (size_t)(outputs * lanes) * sizeof(Place));
  return true;
}

THNNTapSpan *THNN_(maxOfSmallPlanes_list)(const MaxOfSmallPlanes *work, int dimension,
                                          char *scratch)
{
  return (THNNTapSpan *)(scratch + work->windows[dimension]);
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
  const real **rows = (const real **)scratch;
  Place *rowPlaces = (Place *)(scratch + work->rowPlaces);
  real *inLanes = (real *)(scratch + work->lanes), *best = (real *)(scratch + work->best);
  Place *bestPlaces = (Place *)(scratch + work->bestPlaces);
  Place *places = (Place *)(scratch + work->places);

  const PlaneRows from = {planes, elements, 1, elements, elements * lanes};
  THNN_(simd).planes.load(&from, input, inLanes);

  const int64_t width = work->output[2];
  const THNNTapSpan *z = THNN_(maxOfSmallPlanes_list)(work, 0, scratch);
  const THNNTapSpan *y = THNN_(maxOfSmallPlanes_list)(work, 1, scratch);
  PlaneWindows windows = {.columns = width,
                          .row = rows,
                          .rowPlace = rowPlaces,
                          .window = THNN_(maxOfSmallPlanes_list)(work, 2, scratch),
                          .dilation = work->dilation[2] * lanes,
                          .numberPlace = (Place)work->placeStep[2],
                          .tapPlace = (Place)(work->numberStep[2] * work->placeStep[2]),
                          .none = work->none,
                          .start = work->start};
  int64_t at = 0;
  for (int64_t atZ = 0; atZ < work->output[0]; atZ++)
    for (int64_t atY = 0; atY < work->output[1]; atY++, at += width * lanes) {
      windows.rows = listRows(work, z[atZ], y[atY], inLanes, rows, rowPlaces);
      THNN_(simd).planes.max(&windows, best + at, bestPlaces + at);
    }

  const PlaneRows to = {planes, outputs, 1, outputs, 0};
  THNN_(simd).planes.store(&to, best, output);
  THNN_(simd).planes.store(&to, (const real *)bestPlaces, (real *)places);
  return places;
}
