/* Direct convolution line by line, also transposed with stride 1: for few map planes, or few image
 * planes and taps.
 *
 * The lanes of a vector are neighbouring positions of a line of the map, so that few map planes
 * still fill vectors, which are stored as they are, while vectors of planes would have to be
 * transposed. The image is read from padded tiles (paddedLines.h), where neighbouring positions are
 * contiguous whatever the padding and the stride, or in place if there is only one tap. A weight is
 * one scalar for all lanes.
 *
 * A task is a band of lines of the map, for all planes or, if there are fewer bands than threads,
 * for a share of the planes. Blocks of image planes are added to it in turn. */
#include "generic/convolution/engine/paddedLines.h"

/* Most bytes of the padded tiles of a band, which stay in the second-level cache. */
static const int64_t PADDED_BYTES = 256 << 10;
/* Positions of a band, unless its padded tiles take too much memory. */
static const int64_t BAND_POSITIONS = 4096;
/* Most image planes of a block if the image is read in place, each a stream from memory:
 * FEW_STREAMS are as many as the processor prefetches by itself. With more than FEW_PLANES map
 * planes, fetching and storing the sums once more for each block would take longer than what that
 * saves, and a block has up to MOST_STREAMS planes. */
enum { FEW_STREAMS = 16, MOST_STREAMS = 512 / sizeof(real), FEW_PLANES = 8 };
/* Bytes that a flat band reads of a block, which stay in the second-level cache; and the least
 * positions of a flat band, even if that makes it larger. */
static const int64_t FLAT_BYTES = 64 << 10, LEAST_FLAT_POSITIONS = 512;
/* Most bytes of packed weights; those of a block stay in the second-level cache. */
static const int64_t WEIGHT_BYTES = 4 << 20;
/* Least products for each sum in a block: with fewer, fetching and storing the sums takes too much
 * of the time. */
static const int64_t WORTHWHILE_TERMS = 64;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct LinesWorker {
  THNNConvolution g;
  Bands bands;
  const real *image;
  real *map;
  int64_t *offset;       /* offset in a padded tile of each image plane of a block and tap */
  real *factors, *start; /* packed weights; the bias, with zeros for missing planes */
  bool adds;             /* to what the map holds, instead of starting from the bias */
  int64_t shares;        /* number of tasks that a band's planes are divided among */

  real *padded;
  THNNPosition *at;
} LinesWorker;

/* Number of groups of map planes, and that of their planes, the missing ones of the last included. */
static int64_t planeGroups(const THNNConvolution *g)
{
  return divideUp(g->outputPlanes, THNN_(simd).shifts.tilePlanes);
}

static int64_t wholePlanes(const THNNConvolution *g)
{
  return planeGroups(g) * THNN_(simd).shifts.tilePlanes;
}

/* Number of image planes of a block times taps. */
static int64_t blockRows(const THNNConvolution *g, const Bands *bands)
{
  return bands->planes * THNN_convolutionTaps(g);
}

/* Number of elements of a band's padded tiles, or of a copy of what the partial vector of a flat
 * band sees. */
static int64_t paddedElements(const THNNConvolution *g, const Bands *bands)
{
  return bands->flat ? bands->planes * vectorLanes() : THNN_(paddedLines_elements)(g, bands);
}

static void layOutShared(LinesWorker *worker, Scratch *scratch)
{
  const THNNConvolution *g = &worker->g;
  worker->factors = THNN_take(scratch, wholePlanes(g) * tapRows(g), sizeof(real));
  worker->start = THNN_take(scratch, wholePlanes(g), sizeof(real));
  worker->offset = THNN_take(scratch, blockRows(g, &worker->bands), sizeof(int64_t));
}

static void layOutThread(LinesWorker *worker, Scratch *scratch)
{
  const THNNConvolution *g = &worker->g;
  worker->padded = THNN_take(scratch, paddedElements(g, &worker->bands), sizeof(real));
  worker->at =
      THNN_take(scratch, THNN_(paddedLines_vectors)(g, &worker->bands), sizeof(THNNPosition));
}

/* ---- Planning -------------------------------------------------------------------------------- */

/* Counts products of each vector with groups of planes, whose loads cross cache lines; filling
 * padded tiles, or reading a far image in place, in as many streams as it has planes; fetching sums
 * again for each block; and packing. */
static void setLinesCost(AlgorithmPlan *plan, const THNNConvolution *g, const Bands *bands)
{
  const double *costs = costsInUse()->lines;
  const int64_t lanes = vectorLanes(), planes = g->outputPlanes;
  const int64_t map = THNN_convolutionMapPositions(g);
  const int64_t width = bands->flat ? map : g->output[2];
  const double vectors = (double)g->batch * (map / width) * divideUp(width, lanes) *
                         (bands->flat ? costs[LINES_FLAT] : 1);
  const double loads = (double)divideUp(planes, THNN_(simd).shifts.tilePlanes) +
                       (double)planes / THNN_(simd).shifts.tileTaps;
  const double rows = vectors * (double)tapRows(g), sums = vectors * (double)planes;
  const double imageBytes = (double)g->batch * (double)g->inputPlanes *
                            (double)THNN_convolutionImagePositions(g) * sizeof(real);
  const bool streams = bands->flat && imageBytes > FAR_OPERAND_BYTES;
  const LineCounts filled = THNN_(paddedLines_counts)(g, bands);
  const double counts[LINES_COSTS] = {
      [LINES_LOAD] = rows * loads,
      [LINES_LOADED_BYTE] = rows * loads * (double)lanes * sizeof(real),
      [LINES_PRODUCT] = rows * (double)planes,
      [LINES_SUM] = sums,
      [LINES_BLOCK_SUM] = sums * (double)divideUp(g->inputPlanes, bands->planes),
      [LINES_STREAMED_BYTE] = streams ? imageBytes : 0,
      [LINES_FETCHED] = filled.fetched,
      [LINES_COPY] = filled.copies,
      [LINES_COPIED] = filled.copied,
      [LINES_MIXED] = filled.mixed,
      [LINES_WEIGHT] = THNN_convolutionWeights(g),
  };
  setCost(plan, LINES_COSTS, costs, counts);
}

/* The number of threads: as many as there are bands, or as evenly share the planes of each band. */
static int lineThreads(const AlgorithmPlan *plan, const THNNConvolution *g, const Bands *bands)
{
  const int threads = threadsFor(plan, bands->count * planeGroups(g));
  return bands->count < threads ? (int)(threads / bands->count * bands->count) : threads;
}

static Bands flatBands(const THNNConvolution *g)
{
  const int64_t planes =
      minimum(g->inputPlanes, g->outputPlanes <= FEW_PLANES ? FEW_STREAMS : MOST_STREAMS);
  const int64_t positions = FLAT_BYTES / (maximum(planes, 1) * (int64_t)sizeof(real));
  return THNN_(paddedLines_flatBands)(
      g, minimum(maximum(positions, LEAST_FLAT_POSITIONS), BAND_POSITIONS), planes);
}

bool THNN_(lines_planConvolution)(AlgorithmPlan *plan)
{
  LinesWorker worker = {.g = plan->geometry};
  const THNNConvolution *g = &worker.g;
  /* If the image has the stride, neighbours in a line of the map do not see neighbours in the
   * image. */
  if (g->transposed && (g->stride[0] > 1 || g->stride[1] > 1 || g->stride[2] > 1))
    return false;
  worker.bands = THNN_(paddedLines_areFlat)(g)
                     ? flatBands(g)
                     : THNN_(paddedLines_bands)(g, false, BAND_POSITIONS,
                                                divideUp(WORTHWHILE_TERMS, THNN_convolutionTaps(g)),
                                                PADDED_BYTES);
  Scratch shared = {0}, thread = {0};
  layOutShared(&worker, &shared);
  layOutThread(&worker, &thread);
  const int64_t size = (int64_t)sizeof(real);
  if (!fits(plan, &shared, &thread) || wholePlanes(g) * tapRows(g) * size > WEIGHT_BYTES ||
      paddedElements(g, &worker.bands) * size > PADDED_BYTES)
    return false;
  setLinesCost(plan, g, &worker.bands);
  plan->threads = lineThreads(plan, g, &worker.bands);
  plan->adds = true;
  KEEP_OWN(plan, worker.bands);
  return true;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Number of image planes of the block that begins with `first`. */
static int64_t blockPlanes(const LinesWorker *worker, int64_t first)
{
  return minimum(worker->bands.planes, worker->g.inputPlanes - first);
}

/* The offset of the factors of the block that begins with `first`. */
static int64_t blockFactors(const THNNConvolution *g, int64_t first)
{
  return wholePlanes(g) * first * THNN_convolutionTaps(g);
}

/* Packs the weights of group number `index` of map planes for all blocks of image planes: a block's are
 * [group of planes][image plane and tap][plane of group], with zeros for missing planes. */
static void packGroup(const LinesWorker *worker, int64_t index, const real *weight)
{
  const THNNConvolution *g = &worker->g;
  const int64_t taps = THNN_convolutionTaps(g), group = THNN_(simd).shifts.tilePlanes;
  const int64_t plane = index * group, planes = minimum(group, g->outputPlanes - plane);
  const int64_t planeStep = g->transposed ? taps : tapRows(g);
  const int64_t imageStep = g->transposed ? g->outputPlanes * taps : taps;
  for (int64_t first = 0; first < g->inputPlanes; first += worker->bands.planes) {
    const int64_t rows = blockPlanes(worker, first) * taps;
    real *factors = worker->factors + blockFactors(g, first) + plane * rows;
    if (planes < group)
      THNN_(simd).pointwise.fill(rows * group, 0, factors);
    for (int64_t i = 0; i < planes; i++) {
      const real *from = weight + (plane + i) * planeStep + first * imageStep;
      for (int64_t row = 0; row < rows; from += imageStep)
        for (int64_t tap = 0; tap < taps; tap++, row++)
          factors[row * group + i] = from[g->transposed ? taps - 1 - tap : tap];
    }
  }
}

/* Adds a block of image planes to a flat band. The partial vector at its end reads a copy, filled
 * up with zeros: denormal numbers left in the scratch would make it ten times as slow. */
static void addFlat(const LinesWorker *worker, int64_t first, LineSums sums)
{
  const Vectors all = sums.vectors;
  const int64_t positions = THNN_convolutionImagePositions(&worker->g);
  sums.x = worker->image + first * positions;
  sums.vectors.parts = 0;
  THNN_(simd).shifts.sumLines(&sums);
  if (all.parts == 0)
    return;
  const THNNPosition *part = &all.at[all.whole];
  const THNNPosition copied = {0, part->y};
  int64_t offset[MOST_STREAMS];
  for (int64_t plane = 0; plane < sums.taps; plane++) {
    offset[plane] = plane * vectorLanes();
    THNN_(simd).pointwise.copy(all.lanes, sums.x + part->x + plane * positions,
                               worker->padded + offset[plane]);
    THNN_(simd).pointwise.fill(vectorLanes() - all.lanes, 0,
                               worker->padded + offset[plane] + all.lanes);
  }
  sums.vectors = (Vectors){.at = &copied, .parts = 1, .lanes = all.lanes};
  sums.offsets = offset;
  sums.x = worker->padded;
  sums.streams = false;
  THNN_(simd).shifts.sumLines(&sums);
}

static void runTask(const LinesWorker *worker, int64_t task)
{
  const THNNConvolution *g = &worker->g;
  const Bands *bands = &worker->bands;
  const Band band = THNN_(paddedLines_band)(g, bands, task / worker->shares);
  const int64_t share = task % worker->shares, groups = planeGroups(g);
  const int64_t group = THNN_(simd).shifts.tilePlanes, positions = THNN_convolutionMapPositions(g);
  const int64_t plane = groups * share / worker->shares * group;
  const int64_t end = groups * (share + 1) / worker->shares * group;
  LineSums sums = {.vectors = THNN_(paddedLines_list)(g, bands, &band, worker->at),
                   .offsets = worker->offset,
                   .planes = minimum(end, g->outputPlanes) - plane,
                   .yPlane = positions,
                   .start = worker->adds ? NULL : worker->start + plane,
                   .x = worker->padded,
                   .streams = bands->flat,
                   .y = worker->map + plane * positions};
  for (int64_t first = 0; first < g->inputPlanes; first += bands->planes) {
    sums.taps = blockPlanes(worker, first) * THNN_convolutionTaps(g);
    sums.factors = worker->factors + blockFactors(g, first) + plane * sums.taps;
    if (bands->flat) {
      addFlat(worker, first, sums);
    } else {
      THNN_(paddedLines_fill)(g, bands, &band, first, worker->image, worker->padded);
      THNN_(simd).shifts.sumLines(&sums);
    }
    sums.start = NULL;
  }
}

/* Fills what threads share, but for the weights: what sums start from, and offsets in a padded
 * tile. */
static void prepareShared(const LinesWorker *worker, const Operands *of)
{
  const THNNConvolution *g = &worker->g;
  THNN_(simd).pointwise.fill(wholePlanes(g), 0, worker->start);
  if (of->bias)
    THNN_(simd).pointwise.copy(g->outputPlanes, of->bias, worker->start);
  THNN_(paddedLines_offsets)(g, &worker->bands, worker->offset);
}

bool THNN_(lines_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  LinesWorker common = {
      .g = plan->geometry, .image = of->image, .map = of->map, .adds = of->finish.adds};
  OWN_OF(plan, common.bands);
  Scratch shared = {.base = scratch};
  layOutShared(&common, &shared);
  prepareShared(&common, of);
  const int threads = plan->threads;
  common.shares = maximum(threads / common.bands.count, 1);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    LinesWorker worker = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&worker, &own);
#pragma omp for schedule(static)
    for (int64_t index = 0; index < planeGroups(&common.g); index++)
      packGroup(&worker, index, of->weight);
#pragma omp for schedule(static)
    for (int64_t task = 0; task < common.bands.count * common.shares; task++)
      runTask(&worker, task);
  }
  return true;
}
