#include "generic/pooling/maxOfRegions.h"

void THNN_(maxOfRegions_plan)(MaxOfRegions *work, const THNNState *state, int64_t regionRows)
{
  const int64_t rows = work->planes * work->outputHeight;
  const int64_t cost = (regionRows + 4) * work->inputWidth + work->outputWidth;
  work->blocks = THNN_rowBlocks(rows, cost);
  work->threads = THNN_threads(state, work->blocks.count, (double)rows * (double)cost);
  work->threadBytes = 0;
  THNN_reserve(&work->threadBytes, (size_t)regionRows * sizeof(real *));
  work->rowPlaces = THNN_reserve(&work->threadBytes, (size_t)regionRows * sizeof(Place));
  work->best = THNN_reserve(&work->threadBytes, (size_t)work->inputWidth * sizeof(real));
  work->bestPlaces = THNN_reserve(&work->threadBytes, (size_t)work->inputWidth * sizeof(Place));
  work->slid = THNN_reserve(&work->threadBytes, (size_t)work->inputWidth * sizeof(real));
  work->slidPlaces = THNN_reserve(&work->threadBytes, (size_t)work->inputWidth * sizeof(Place));
  work->places = THNN_reserve(&work->threadBytes, (size_t)work->outputWidth * sizeof(Place));
  work->regions = THNN_reserve(&work->threadBytes, (size_t)work->outputWidth * sizeof(THNNRange));
}

THNNRange *THNN_(maxOfRegions_listRow)(const MaxOfRegions *work, char *scratch)
{
  return (THNNRange *)(scratch + work->regions);
}

/* Pools the columns of the regions, one region at a time. */
static void poolColumns(const MaxOfRegions *work, const THNNRange *regions, const real *best,
                        const Place *bestPlaces, real *output, Place *places)
{
  for (int64_t x = 0; x < work->outputWidth; x++) {
    const int64_t first = regions[x].begin;
    const ColumnWindows columns = {.step = 1,
                                   .dilation = 1,
                                   .kernel = regions[x].end - first,
                                   .firstPlace = (Place)first,
                                   .tapPlace = 1,
                                   .start = work->start};
    THNN_(simd).pooling.maxOfColumns(1, &columns, best + first, bestPlaces + first, output + x,
                                     places + x);
  }
}

/* Regions of a few columns: wherever one may begin, many at a time, then those that there are.
 * Which column is greatest cannot be foreseen, and this does not branch on it. */
enum { FEW_COLUMNS = 8 };

static void slideColumns(const MaxOfRegions *work, const THNNRange *regions, const real *best,
                         const Place *bestPlaces, char *scratch, real *output, Place *places)
{
  real *slid = (real *)(scratch + work->slid);
  Place *slidPlaces = (Place *)(scratch + work->slidPlaces);
  const ColumnWindows columns = {.step = 1,
                                 .dilation = 1,
                                 .kernel = work->columns,
                                 .windowPlace = 1,
                                 .tapPlace = 1,
                                 .start = work->start};
  THNN_(simd).pooling.maxOfColumns(work->inputWidth - work->columns + 1, &columns, best, bestPlaces,
                                   slid, slidPlaces);
  for (int64_t x = 0; x < work->outputWidth; x++) {
    output[x] = slid[regions[x].begin];
    places[x] = slidPlaces[regions[x].begin];
  }
}

const Place *THNN_(maxOfRegions_run)(const MaxOfRegions *work, const real *plane, THNNRange y,
                                     char *scratch, real *output)
{
  const real **rows = (const real **)scratch;
  Place *rowPlaces = (Place *)(scratch + work->rowPlaces);
  real *best = (real *)(scratch + work->best);
  Place *bestPlaces = (Place *)(scratch + work->bestPlaces);
  Place *places = (Place *)(scratch + work->places);
  const THNNRange *regions = THNN_(maxOfRegions_listRow)(work, scratch);
  const int64_t width = work->inputWidth, count = y.end - y.begin;
  for (int64_t i = 0; i < count; i++) {
    rows[i] = plane + (y.begin + i) * width;
    rowPlaces[i] = (Place)(i * width);
  }
  THNN_(simd).pooling.maxOfRows(width, count, rows, rowPlaces, work->start, best, bestPlaces);

  if (work->columns > 0 && work->columns <= FEW_COLUMNS)
    slideColumns(work, regions, best, bestPlaces, scratch, output, places);
  else
    poolColumns(work, regions, best, bestPlaces, output, places);
  return places;
}
