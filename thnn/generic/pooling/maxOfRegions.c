#include "generic/pooling/maxOfRegions.h"

#include "work/scratch.h"

/* A thread's scratch. */
typedef struct Areas {
  const real **rows; /* the rows of a region */
  Place *rowPlaces;
  real *best; /* the greatest element of each column of these rows */
  Place *bestPlaces;
  real *slid; /* the greatest of some neighbouring columns */
  Place *slidPlaces;
  Place *places; /* the places of a row of results */
  THNNRange *regions;
} Areas;

static Areas layOut(const MaxOfRegions *work, Scratch *scratch)
{
  Areas areas = {.rows = THNN_take(scratch, work->regionRows, sizeof(real *))};
  areas.rowPlaces = THNN_take(scratch, work->regionRows, sizeof(Place));
  areas.best = THNN_take(scratch, work->inputWidth, sizeof(real));
  areas.bestPlaces = THNN_take(scratch, work->inputWidth, sizeof(Place));
  areas.slid = THNN_take(scratch, work->inputWidth, sizeof(real));
  areas.slidPlaces = THNN_take(scratch, work->inputWidth, sizeof(Place));
  areas.places = THNN_take(scratch, work->outputWidth, sizeof(Place));
  areas.regions = THNN_take(scratch, work->outputWidth, sizeof(THNNRange));
  return areas;
}

static Areas areasOf(const MaxOfRegions *work, char *memory)
{
  Scratch scratch = {.base = memory};
  return layOut(work, &scratch);
}

void THNN_(maxOfRegions_plan)(MaxOfRegions *work, const THNNState *state)
{
  const int64_t rows = work->planes * work->outputHeight;
  const int64_t cost = (work->regionRows + 4) * work->inputWidth + work->outputWidth;
  Scratch scratch = {0};
  layOut(work, &scratch);
  work->threadBytes = scratch.used;
  work->blocks = THNN_rowBlocks(rows, cost);
  work->threads = THNN_threads(state, work->blocks.count, (double)rows * (double)cost);
}

THNNRange *THNN_(maxOfRegions_listRow)(const MaxOfRegions *work, char *scratch)
{
  return areasOf(work, scratch).regions;
}

/* Pools the columns of the regions, one region at a time. */
static void poolColumns(const MaxOfRegions *work, const Areas *areas, real *output)
{
  for (int64_t x = 0; x < work->outputWidth; x++) {
    const int64_t first = areas->regions[x].begin;
    const ColumnWindows columns = {.step = 1,
                                   .dilation = 1,
                                   .kernel = areas->regions[x].end - first,
                                   .firstPlace = (Place)first,
                                   .tapPlace = 1,
                                   .start = work->start};
    THNN_(simd).pooling.maxOfColumns(1, &columns, areas->best + first, areas->bestPlaces + first,
                                     output + x, areas->places + x);
  }
}

/* Pools regions that all have the same few columns: finds the greatest of every `columns`
 * neighbouring columns, for many windows at a time, and then picks the windows that are regions. In
 * contrast to poolColumns, this does not branch on which column is greatest, which no processor can
 * predict. */
enum { FEW_COLUMNS = 8 };

static void slideColumns(const MaxOfRegions *work, const Areas *areas, real *output)
{
  const ColumnWindows columns = {.step = 1,
                                 .dilation = 1,
                                 .kernel = work->columns,
                                 .windowPlace = 1,
                                 .tapPlace = 1,
                                 .start = work->start};
  THNN_(simd).pooling.maxOfColumns(work->inputWidth - work->columns + 1, &columns, areas->best,
                                   areas->bestPlaces, areas->slid, areas->slidPlaces);
  for (int64_t x = 0; x < work->outputWidth; x++) {
    output[x] = areas->slid[areas->regions[x].begin];
    areas->places[x] = areas->slidPlaces[areas->regions[x].begin];
  }
}

const Place *THNN_(maxOfRegions_run)(const MaxOfRegions *work, const real *plane, THNNRange y,
                                     char *scratch, real *output)
{
  const Areas areas = areasOf(work, scratch);
  const int64_t width = work->inputWidth, count = y.end - y.begin;
  for (int64_t i = 0; i < count; i++) {
    areas.rows[i] = plane + (y.begin + i) * width;
    areas.rowPlaces[i] = (Place)(i * width);
  }
  THNN_(simd).pooling.maxOfRows(width, count, areas.rows, areas.rowPlaces, work->start, areas.best,
                                areas.bestPlaces);

  if (work->columns > 0 && work->columns <= FEW_COLUMNS)
    slideColumns(work, &areas, output);
  else
    poolColumns(work, &areas, output);
  return areas.places;
}
