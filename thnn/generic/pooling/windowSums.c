#include "generic/pooling/windowSums.h"

#include "work/scratch.h"
#include "work/sizes.h"

enum {
  /* Elements of each plane, of source and results, that are in lanes at a time: 64 KB of the
   * longest vectors. A strip that would have less than ENOUGH_ROWS rows, and so share much of its
   * source with its neighbours, gets more elements, up to MOST_ROOM, which still fit the
   * second-level cache. */
  ROOM = 1024,
  MOST_ROOM = 4096,
  ENOUGH_ROWS = 8,
  /* Copying this many bytes between planes and lanes takes as long as OPERATIONS operations, as
   * measured, at any instruction set; the sums take little time in comparison. */
  EXCHANGED_BYTES = 16,
  OPERATIONS = 3
};

static int64_t elementsOf(const int64_t *size)
{
  return size[0] * size[1] * size[2];
}

static int64_t lengthOf(THNNRange span)
{
  return span.end - span.begin;
}

/* The elements of a row of results, and of the source rows under it. */
static int64_t elementsOfRow(const THNNRegionSums *of)
{
  return of->mostRows * of->source[2] + of->result[2];
}

/* Whether planes in lanes take less time than rows, as measured. Forward, both give the same bits;
 * backward they round differently, so the choice must not depend on the instruction set. */
static bool goesInLanes(const THNNRegionSums *of)
{
  enum {
    COLUMNS = 7,
    COLUMNS_BACKWARD = 9,
    MOST_COLUMNS = 128,
    REPEATED_ELEMENTS = 256,
    REPEATS = 8
  };
  const int64_t groups = divideUp(of->planes, vectorLanes());
  if (elementsOfRow(of) > MOST_ROOM)
    return false;
  if (of->backward) {
    const int64_t repeats = of->result[1] / of->source[1];
    if (repeats >= REPEATS && repeats * of->result[2] >= REPEATED_ELEMENTS)
      return false;
    return of->result[2] <= minimum(COLUMNS_BACKWARD * of->planes, MOST_COLUMNS);
  }
  /* Row by row, each irregular column of a sum of rows is a loop of its own. */
  if (lengthOf(of->regular) == 0)
    return groups * maximum(2, of->source[1] / of->result[1]) <= of->planes;
  return groups * of->source[2] <= COLUMNS * of->planes;
}

static void planLanes(const THNNState *state, WindowSums *sums)
{
  const THNNRegionSums *of = &sums->of;
  const int64_t elements = elementsOf(of->source) + elementsOf(of->result);
  const int64_t groups = divideUp(of->planes, vectorLanes());
  sums->room =
      minimum(elements, minimum(maximum(ROOM, ENOUGH_ROWS * elementsOfRow(of)), MOST_ROOM));
  sums->threads = THNN_threads(state, groups * of->result[0] * of->result[1],
                               (double)of->planes * (double)elements * sizeof(real) * OPERATIONS /
                                   EXCHANGED_BYTES);
}

/* Bytes of the spans of n columns, packed for vectors. */
static size_t packedBytes(int64_t n)
{
  const int64_t vectors = divideUp(n, vectorLanes());
  return (size_t)vectors * (2 * (size_t)vectorLanes() * sizeof(Place) + sizeof(THNNSpanVector));
}

static void planRows(const THNNState *state, WindowSums *sums)
{
  const THNNRegionSums *of = &sums->of;
  const int64_t rows = of->planes * of->result[0] * of->result[1], width = of->source[2];
  const int64_t cost = of->mostRows * width + 4 * of->result[2];
  sums->blocks = THNN_rowBlocks(rows, cost);
  sums->threads = THNN_threads(state, sums->blocks.count, (double)rows * (double)cost / 2);
}

/* A thread's scratch: for sums in lanes, the elements of source and results, and a row of sums; for
 * sums row by row, two rows of sums; for both, a list of rows. */
typedef struct Areas {
  real *elements, *sum, *part;
  const real **rows;
} Areas;

static Areas layOutThread(const WindowSums *sums, Scratch *scratch)
{
  const THNNRegionSums *of = &sums->of;
  const int64_t width = of->source[2];
  Areas areas = {.elements = NULL};
  if (sums->inLanes) {
    areas.elements = THNN_take(scratch, sums->room * vectorLanes(), sizeof(real));
    areas.sum = THNN_take(scratch, width * vectorLanes(), sizeof(real));
  } else {
    /* Spans are read in whole vectors. */
    areas.sum = THNN_take(scratch, width + vectorLanes(), sizeof(real));
    areas.part = THNN_take(scratch, of->backward ? width : 0, sizeof(real));
  }
  areas.rows = THNN_take(scratch, of->mostRows, sizeof(real *));
  return areas;
}

/* What all threads share. */
typedef struct Shared {
  THNNRange *spans[3];
  real *divisors[3];
  void *packed; /* spans of columns, for sums row by row, backward */
} Shared;

static Shared layOutShared(const WindowSums *sums, Scratch *scratch)
{
  const THNNRegionSums *of = &sums->of;
  Shared shared = {.packed = NULL};
  for (int d = 0; d < 3; d++) {
    const int64_t divided = of->backward ? of->source[d] : of->result[d];
    shared.spans[d] = THNN_take(scratch, of->result[d], sizeof(THNNRange));
    shared.divisors[d] = THNN_take(scratch, of->divided ? divided : 0, sizeof(real));
  }
  if (!sums->inLanes && of->backward)
    shared.packed = THNN_take(scratch, (int64_t)packedBytes(of->result[2]), 1);
  return shared;
}

static Shared sharedIn(const WindowSums *sums, void *memory)
{
  Scratch scratch = {.base = memory};
  return layOutShared(sums, &scratch);
}

WindowSums THNN_(windowSums_plan)(const THNNState *state, const THNNRegionSums *of)
{
  WindowSums sums = {.of = *of, .inLanes = goesInLanes(of)};
  if (sums.inLanes)
    planLanes(state, &sums);
  else
    planRows(state, &sums);
  Scratch shared = {0}, thread = {0};
  layOutShared(&sums, &shared);
  layOutThread(&sums, &thread);
  sums.sharedBytes = shared.used;
  sums.threadBytes = thread.used;
  sums.bytes = shared.used + (size_t)sums.threads * thread.used;
  return sums;
}

THNNRange *THNN_(windowSums_listSpans)(const WindowSums *sums, void *memory, int dimension)
{
  return sharedIn(sums, memory).spans[dimension];
}

real *THNN_(windowSums_listDivisors)(const WindowSums *sums, void *memory, int dimension)
{
  return sharedIn(sums, memory).divisors[dimension];
}

/* ---- What the sums of a call are computed from ----------------------------------------------- */

typedef struct Tables {
  const WindowSums *sums;
  const THNNRange *spans[3];
  const real *divisors[3];
  Spans columns;     /* spans of columns, for sums row by row, backward */
  int64_t length[2]; /* result slices and rows of a strip, for sums in lanes */
  char *threads;
} Tables;

static Tables tablesOf(const WindowSums *sums, void *memory)
{
  const Shared shared = sharedIn(sums, memory);
  Tables tables = {.sums = sums, .threads = (char *)memory + sums->sharedBytes};
  for (int d = 0; d < 3; d++) {
    tables.spans[d] = shared.spans[d];
    tables.divisors[d] = shared.divisors[d];
  }
  return tables;
}

static Areas areasOf(const Tables *tables)
{
  Scratch scratch = THNN_scratchOf(tables->threads, tables->sums->threadBytes, THNN_threadIndex());
  return layOutThread(tables->sums, &scratch);
}

static real divisorAt(const Tables *tables, int64_t z, int64_t y)
{
  return tables->divisors[0][z] * tables->divisors[1][y];
}

static bool areSame(THNNRange a, THNNRange b)
{
  return a.begin == b.begin && a.end == b.end;
}

/* ---- Strips ---------------------------------------------------------------------------------- */

/* Slices and rows of a volume. */
typedef struct Part {
  THNNRange slices, rows;
} Part;

/* The range from the first to the last index in any of the results' spans. */
static THNNRange covered(const THNNRange *spans, THNNRange results)
{
  THNNRange all = {0, 0};
  for (int64_t i = results.begin; i < results.end; i++) {
    if (lengthOf(spans[i]) == 0)
      continue;
    all.begin = all.end > 0 ? minimum(all.begin, spans[i].begin) : spans[i].begin;
    all.end = maximum(all.end, spans[i].end);
  }
  return all;
}

static int64_t stripsAlong(const Tables *tables, int d)
{
  return divideUp(tables->sums->of.result[d], tables->length[d]);
}

static THNNRange stripAlong(const Tables *tables, int d, int64_t number)
{
  const int64_t begin = number * tables->length[d];
  return (THNNRange){begin, minimum(begin + tables->length[d], tables->sums->of.result[d])};
}

static int64_t mostCovered(const Tables *tables, int d)
{
  int64_t most = 0;
  for (int64_t i = 0; i < stripsAlong(tables, d); i++)
    most = maximum(most, lengthOf(covered(tables->spans[d], stripAlong(tables, d, i))));
  return most;
}

static bool haveRoom(const Tables *tables)
{
  const THNNRegionSums *of = &tables->sums->of;
  return mostCovered(tables, 0) * mostCovered(tables, 1) * of->source[2] +
             tables->length[0] * tables->length[1] * of->result[2] <=
         tables->sums->room;
}

static void cutStrips(Tables *tables)
{
  const THNNRegionSums *of = &tables->sums->of;
  tables->length[0] = of->result[0], tables->length[1] = of->result[1];
  if (elementsOf(of->source) + elementsOf(of->result) > tables->sums->room)
    for (int d = 0; d < 2; d++)
      while (tables->length[d] > 1 && !haveRoom(tables))
        tables->length[d] = divideUp(tables->length[d], 2);
}

/* ---- To and from lanes ----------------------------------------------------------------------- */

/* The contiguous pieces of a part in each plane: rows of one slice, or several whole slices. */
typedef struct Pieces {
  PlaneRows piece;
  int64_t count, first, step;
} Pieces;

static Pieces piecesOf(const int64_t *size, Part part, int64_t planes)
{
  const int64_t slices = lengthOf(part.slices), elements = lengthOf(part.rows) * size[2];
  const bool whole = lengthOf(part.rows) == size[1];
  return (Pieces){.piece = {.planes = planes,
                            .stride = elementsOf(size),
                            .rows = 1,
                            .n = whole ? slices * elements : elements},
                  .count = whole ? 1 : slices,
                  .first = (part.slices.begin * size[1] + part.rows.begin) * size[2],
                  .step = size[1] * size[2]};
}

static void loadPart(const int64_t *size, Part part, int64_t planes, const real *source,
                     real *inLanes)
{
  const Pieces pieces = piecesOf(size, part, planes);
  for (int64_t i = 0; i < pieces.count; i++)
    THNN_(simd).planes.load(&pieces.piece, source + pieces.first + i * pieces.step,
                            inLanes + i * pieces.piece.n * vectorLanes());
}

static void storePart(const int64_t *size, Part part, int64_t planes, const real *inLanes,
                      real *result)
{
  const Pieces pieces = piecesOf(size, part, planes);
  for (int64_t i = 0; i < pieces.count; i++)
    THNN_(simd).planes.store(&pieces.piece, inLanes + i * pieces.piece.n * vectorLanes(),
                             result + pieces.first + i * pieces.step);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void divide(const Tables *tables, Part part, int64_t width, real *inLanes)
{
  for (int64_t z = part.slices.begin; z < part.slices.end; z++)
    for (int64_t y = part.rows.begin; y < part.rows.end; y++, inLanes += width * vectorLanes())
      THNN_(simd).planes.divide(width, divisorAt(tables, z, y), tables->divisors[2], inLanes,
                                inLanes);
}

/* Sums one row of results; the part of the source comes first among the elements. */
static void sumRow(const Tables *tables, Part source, THNNRange slices, THNNRange lines,
                   const Areas *areas, real *result)
{
  const WindowSums *sums = tables->sums;
  const real *inLanes = areas->elements, **rows = areas->rows;
  real *sum = areas->sum;
  const int64_t width = sums->of.source[2] * vectorLanes(), height = lengthOf(source.rows);
  int64_t count = 0;
  for (int64_t z = slices.begin; z < slices.end; z++)
    for (int64_t y = lines.begin; y < lines.end; y++)
      rows[count++] =
          inLanes + ((z - source.slices.begin) * height + y - source.rows.begin) * width;
  if (count != 1)
    THNN_(simd).pooling.sumOfRows(width, count, rows, sum);
  THNN_(simd).planes.sumSpans(sums->of.result[2], tables->spans[2], count == 1 ? rows[0] : sum,
                              result);
}

static void sumStrip(const Tables *tables, Part results, int64_t planes, const real *source,
                     real *result, const Areas *areas)
{
  const WindowSums *sums = tables->sums;
  const THNNRegionSums *of = &sums->of;
  const THNNRange *slices = tables->spans[0], *rows = tables->spans[1];
  const Part under = {covered(slices, results.slices), covered(rows, results.rows)};
  const int64_t width = of->result[2] * vectorLanes();
  real *from = areas->elements;
  real *to = from + lengthOf(under.slices) * lengthOf(under.rows) * of->source[2] * vectorLanes();
  loadPart(of->source, under, planes, source, from);
  if (of->divided && of->backward)
    divide(tables, under, of->source[2], from);
  real *row = to;
  for (int64_t z = results.slices.begin; z < results.slices.end; z++)
    for (int64_t y = results.rows.begin; y < results.rows.end; y++, row += width)
      if (y > results.rows.begin && areSame(rows[y], rows[y - 1]))
        THNN_(simd).pointwise.copy(width, row - width, row);
      else
        sumRow(tables, under, slices[z], rows[y], areas, row);
  if (of->divided && !of->backward)
    divide(tables, results, of->result[2], to);
  storePart(of->result, results, planes, to, result);
}

static void sumInLanes(Tables *tables, const real *source, real *result)
{
  const WindowSums *sums = tables->sums;
  const THNNRegionSums *of = &sums->of;
  cutStrips(tables);
  const int64_t perSlice = stripsAlong(tables, 1);
  const int64_t perGroup = stripsAlong(tables, 0) * perSlice;
#pragma omp parallel for num_threads(sums->threads) schedule(static)
  for (int64_t strip = 0; strip < divideUp(of->planes, vectorLanes()) * perGroup; strip++) {
    const int64_t plane = strip / perGroup * vectorLanes(), number = strip % perGroup;
    const Part results = {stripAlong(tables, 0, number / perSlice),
                          stripAlong(tables, 1, number % perSlice)};
    const Areas areas = areasOf(tables);
    sumStrip(tables, results, minimum(vectorLanes(), of->planes - plane),
             source + plane * elementsOf(of->source), result + plane * elementsOf(of->result),
             &areas);
  }
}

/* ---- Row by row ------------------------------------------------------------------------------ */

static void sumRowForward(const Tables *tables, const real *plane, int64_t z, int64_t y,
                          const Areas *areas, real *row)
{
  const THNNRegionSums *of = &tables->sums->of;
  const THNNRange slices = tables->spans[0][z], lines = tables->spans[1][y];
  const THNNRange *columns = tables->spans[2], regular = of->regular;
  const real **rows = areas->rows;
  real *sum = areas->sum;
  int64_t count = 0;
  for (int64_t i = slices.begin; i < slices.end; i++)
    for (int64_t j = lines.begin; j < lines.end; j++)
      rows[count++] = plane + (i * of->source[1] + j) * of->source[2];
  THNN_(simd).pooling.sumOfRows(of->source[2], count, rows, sum);
  for (int64_t x = 0; x < of->result[2];) {
    const bool together = x >= regular.begin && x < regular.end;
    const int64_t n = together ? regular.end - x : 1;
    THNN_(simd).pooling.sumOfColumns(n, of->step, lengthOf(columns[x]), sum + columns[x].begin,
                                     row + x);
    x += n;
  }
}

/* Describes a vector of neighbouring spans. */
static THNNSpanVector vectorOf(int64_t n, const THNNRange *spans)
{
  THNNSpanVector vector = {n == vectorLanes() ? THNN_STEPS : THNN_NEAR_SPANS, 0};
  for (int64_t i = 0; i < n; i++) {
    const int64_t length = lengthOf(spans[i]);
    if (length == 0 || length != lengthOf(spans[0]) || spans[i].begin != spans[0].begin + i)
      vector.kind = THNN_NEAR_SPANS;
    vector.most = maximum(vector.most, length);
  }
  if (spans[n - 1].begin - spans[0].begin >= vectorLanes())
    vector.kind = THNN_FAR_SPANS;
  return vector;
}

static Spans packSpans(int64_t n, const THNNRange *spans, void *memory)
{
  const int64_t count = divideUp(n, vectorLanes());
  THNNSpanVector *vectors = memory;
  Place *index = (Place *)(vectors + count), *length = index + count * vectorLanes();
  for (int64_t v = 0; v < count; v++) {
    const THNNRange *first = spans + v * vectorLanes();
    const int64_t used = minimum(vectorLanes(), n - v * vectorLanes());
    vectors[v] = vectorOf(used, first);
    for (int64_t l = 0; l < vectorLanes() && vectors[v].kind == THNN_NEAR_SPANS; l++) {
      index[v * vectorLanes() + l] = l < used ? (Place)(first[l].begin - first->begin) : 0;
      length[v * vectorLanes() + l] = l < used ? (Place)lengthOf(first[l]) : 0;
    }
  }
  return (Spans){spans, vectors, index, length};
}

/* The sum of the rows of gradOutput whose regions cover a row, each divided. */
static void collectRows(const Tables *tables, const real *plane, THNNRange slices, THNNRange lines,
                        const Areas *areas, real *sum)
{
  const THNNRegionSums *of = &tables->sums->of;
  const int64_t width = of->source[2];
  const real **rows = areas->rows;
  real *part = areas->part;
  bool first = true;
  for (int64_t z = slices.begin; z < slices.end; z++)
    for (int64_t y = lines.begin; y < lines.end; first = false) {
      /* Rows with the same divisor, all but those at the edges, are divided together. */
      const real divisor = of->divided ? divisorAt(tables, z, y) : 1;
      real *to = first ? sum : part;
      int64_t count = 0;
      for (; y < lines.end && (!of->divided || divisorAt(tables, z, y) == divisor); y++)
        rows[count++] = plane + (z * of->source[1] + y) * width;
      THNN_(simd).pooling.sumOfRows(width, count, rows, to);
      if (of->divided)
        THNN_(simd).pooling.divide(width, divisor, tables->divisors[2], to, to);
      if (!first)
        THNN_(simd).pointwise.axpy(width, 1, part, sum);
    }
  if (first)
    THNN_(simd).pointwise.fill(width, 0, sum);
}

static void sumForward(const Tables *tables, const real *source, real *result)
{
  const THNNRegionSums *of = &tables->sums->of;
  const THNNBlocks blocks = tables->sums->blocks;
#pragma omp parallel for num_threads(tables->sums->threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    const Areas areas = areasOf(tables);
    const int64_t first = block * blocks.length;
    THNNRow at = THNN_rowAt(first, of->result[0], of->result[1]);
    for (int64_t i = 0; i < THNN_blockLength(&blocks, block); i++, THNN_nextRow(&at)) {
      real *row = result + (first + i) * of->result[2];
      sumRowForward(tables, source + at.plane * elementsOf(of->source), at.z, at.y, &areas, row);
      if (of->divided)
        THNN_(simd).pooling.divide(of->result[2], divisorAt(tables, at.z, at.y),
                                   tables->divisors[2], row, row);
    }
  }
}

static void sumBackward(const Tables *tables, const real *source, real *result)
{
  const THNNRegionSums *of = &tables->sums->of;
  const THNNBlocks blocks = tables->sums->blocks;
  const THNNRange *slices = tables->spans[0], *rows = tables->spans[1];
#pragma omp parallel for num_threads(tables->sums->threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    const Areas areas = areasOf(tables);
    const int64_t first = block * blocks.length;
    THNNRow at = THNN_rowAt(first, of->result[0], of->result[1]);
    const int64_t length = THNN_blockLength(&blocks, block);
    for (int64_t i = 0; i < length; THNN_nextRow(&at)) {
      real *row = result + (first + i) * of->result[2];
      collectRows(tables, source + at.plane * elementsOf(of->source), slices[at.z], rows[at.y],
                  &areas, areas.sum);
      THNN_(simd).pooling.sumOfSpans(of->result[2], &tables->columns, areas.sum, row);
      int64_t same = 0; /* following rows that are equal */
      for (i++; i < length && at.y + 1 < at.height && areSame(rows[at.y], rows[at.y + 1]);
           i++, same++)
        THNN_nextRow(&at);
      THNN_(simd).pooling.repeatRow(of->result[2], row, same, row + of->result[2]);
    }
  }
}

void THNN_(windowSums_sumRow)(const WindowSums *sums, void *memory, const real *plane, int64_t z,
                              int64_t y, void *threadMemory, real *row)
{
  const Tables tables = tablesOf(sums, memory);
  Scratch scratch = {.base = threadMemory};
  const Areas areas = layOutThread(sums, &scratch);
  sumRowForward(&tables, plane, z, y, &areas, row);
}

void THNN_(windowSums_run)(const WindowSums *sums, void *memory, const real *source, real *result)
{
  const THNNRegionSums *of = &sums->of;
  Tables tables = tablesOf(sums, memory);
  if (sums->inLanes) {
    sumInLanes(&tables, source, result);
  } else if (of->backward) {
    tables.columns = packSpans(of->result[2], tables.spans[2], sharedIn(sums, memory).packed);
    sumBackward(&tables, source, result);
  } else {
    sumForward(&tables, source, result);
  }
}
