/* Direct convolution's weight gradient for few image planes and taps, where transposing the map
 * gradients would take longer than the products: for each map plane, image plane and tap the sum
 * over batch and positions of map gradient times image.
 *
 * The lanes of a vector are neighbouring positions of a line. Map gradients are read in place. The
 * image is copied into padded tiles: for each tap along a line, what the map positions see through
 * it, so that no load crosses a cache line. If there is only one tap, the image is read in place
 * too. The lanes of a sum are added up at the end of a share.
 *
 * A share is a range of bands of map lines. There is a fixed number of shares, whose partial sums
 * are added in order. */
#include "generic/convolution/engine/paddedLines.h"

/* Positions of a band, for which the gradients of a few planes stay in the first-level cache. */
static const int64_t BAND_POSITIONS = 4096 / sizeof(real);
/* Most bytes of the padded tiles of a band, and of the sums of all planes, which stay in the
 * second-level cache. */
static const int64_t PADDED_BYTES = 256 << 10, SUMS_BYTES = 512 << 10;

/* The bands, and how many shares they are divided into, each with partial sums of its own. */
typedef struct LinesWeightPlan {
  Bands bands;
  int64_t shares;
} LinesWeightPlan;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct Correlation {
  THNNConvolution g;
  LinesWeightPlan plan;
  const real *image, *gradMap;
  bool totalled;     /* sums of map gradients are wanted */
  int64_t *offset;   /* offset in a padded tile of each image plane and tap */
  real *shareSums;   /* [share][map plane][image plane][tap] */
  real *shareTotals; /* sums of map gradients, [share][map plane] */

  real *sums;       /* [map plane][image plane][tap][lane] */
  real *padded;     /* padded tiles of a band */
  real *totals;     /* sums of map gradients, [map plane][lane] */
  THNNPosition *at; /* offsets of each vector in the padded tiles and in a plane of map gradients */
} Correlation;

/* Number of sums, of one lane. */
static int64_t sumCount(const THNNConvolution *g)
{
  return tapRows(g) * g->outputPlanes;
}

static void layOutShared(Correlation *correlation, Scratch *scratch)
{
  const THNNConvolution *g = &correlation->g;
  const int64_t shares = correlation->plan.shares;
  correlation->offset = THNN_take(scratch, tapRows(g), sizeof(int64_t));
  correlation->shareSums = THNN_take(scratch, shares * sumCount(g), sizeof(real));
  correlation->shareTotals = THNN_take(scratch, shares * g->outputPlanes, sizeof(real));
}

static void layOutThread(Correlation *correlation, Scratch *scratch)
{
  const THNNConvolution *g = &correlation->g;
  const Bands *bands = &correlation->plan.bands;
  const int64_t lanes = vectorLanes();
  correlation->sums = THNN_take(scratch, sumCount(g) * lanes, sizeof(real));
  correlation->totals = THNN_take(scratch, g->outputPlanes * lanes, sizeof(real));
  correlation->padded = THNN_take(scratch, THNN_(paddedLines_elements)(g, bands), sizeof(real));
  correlation->at = THNN_take(scratch, THNN_(paddedLines_vectors)(g, bands), sizeof(THNNPosition));
}

/* ---- Planning -------------------------------------------------------------------------------- */

/* Counts products, with map planes in whole tiles; what a tile costs for each vector, partial
 * vector and band; the sums of map gradients; filling padded tiles; and adding shares. */
static void setLinesWeightCost(AlgorithmPlan *plan, const THNNConvolution *g,
                               const LinesWeightPlan *own)
{
  const Bands *bands = &own->bands;
  const int64_t lanes = vectorLanes(), map = THNN_convolutionMapPositions(g);
  const int64_t width = bands->flat ? map : g->output[2];
  const double lines = (double)g->batch * map / width;
  const double vectors = lines * divideUp(width, lanes), parts = width % lanes ? lines : 0;
  const int64_t tilePlanes = THNN_(simd).shifts.tilePlanes, rows = tapRows(g);
  const double planeTiles = (double)divideUp(g->outputPlanes, tilePlanes);
  const double tiles = planeTiles * divideUp(rows, THNN_(simd).shifts.tileTaps);
  const double tileRows = planeTiles * (double)rows, bandCount = (double)bands->count;
  const LineCounts filled = THNN_(paddedLines_counts)(g, bands);
  double counts[LINES_WEIGHT_COSTS] = {
      [LINES_WEIGHT_TILE_VECTOR] = tiles * vectors,
      [LINES_WEIGHT_TILE_PART] = tiles * parts,
      [LINES_WEIGHT_TILE_BAND] = tiles * bandCount,
      [LINES_WEIGHT_TOTAL] = vectors * (double)g->outputPlanes,
      [LINES_WEIGHT_FETCHED] = filled.fetched,
      [LINES_WEIGHT_COPY] = filled.copies,
      [LINES_WEIGHT_COPIED] = filled.copied,
      [LINES_WEIGHT_MIXED] = filled.mixed,
      [LINES_WEIGHT_WEIGHT] = (double)own->shares * THNN_convolutionWeights(g),
  };
  counts[bands->flat ? LINES_WEIGHT_FLAT_PRODUCT : LINES_WEIGHT_PRODUCT] =
      tileRows * (double)tilePlanes * vectors;
  counts[bands->flat ? LINES_WEIGHT_FLAT_BAND : LINES_WEIGHT_BAND] = tileRows * bandCount;
  setCost(plan, LINES_WEIGHT_COSTS, costsInUse()->linesWeight, counts);
}

bool THNN_(linesWeight_planConvolution)(AlgorithmPlan *plan)
{
  Correlation correlation = {.g = plan->geometry};
  const THNNConvolution *g = &correlation.g;
  LinesWeightPlan *own = &correlation.plan;
  own->bands =
      THNN_(paddedLines_areFlat)(g)
          ? THNN_(paddedLines_flatBands)(g, BAND_POSITIONS, g->inputPlanes)
          : THNN_(paddedLines_bands)(g, true, BAND_POSITIONS, g->inputPlanes, PADDED_BYTES);
  own->shares = minimum(own->bands.count, ENOUGH_BLOCKS);
  Scratch shared = {0}, thread = {0};
  layOutShared(&correlation, &shared);
  layOutThread(&correlation, &thread);
  const int64_t size = (int64_t)sizeof(real);
  if (!fits(plan, &shared, &thread) ||
      THNN_(paddedLines_elements)(g, &own->bands) * size > PADDED_BYTES ||
      sumCount(g) * vectorLanes() * size > SUMS_BYTES)
    return false;
  setLinesWeightCost(plan, g, own);
  plan->threads = threadsFor(plan, own->shares);
  KEEP_OWN(plan, *own);
  return true;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void addBand(const Correlation *correlation, const Band *band)
{
  const THNNConvolution *geometry = &correlation->g;
  const Bands *bands = &correlation->plan.bands;
  THNN_(paddedLines_fill)(geometry, bands, band, 0, correlation->image, correlation->padded);
  const LineDots dots = {.vectors = THNN_(paddedLines_list)(geometry, bands, band, correlation->at),
                         .taps = tapRows(geometry),
                         .offsets = correlation->offset,
                         .planes = geometry->outputPlanes,
                         .yPlane = THNN_convolutionMapPositions(geometry),
                         .x = bands->flat ? correlation->image : correlation->padded,
                         .y = correlation->gradMap,
                         .sums = correlation->sums,
                         .totals = correlation->totalled ? correlation->totals : NULL};
  THNN_(simd).shifts.dotLines(&dots);
}

static void addShare(const Correlation *correlation, int64_t share)
{
  const THNNConvolution *g = &correlation->g;
  const Bands *bands = &correlation->plan.bands;
  const int64_t planes = g->outputPlanes, lanes = vectorLanes();
  const int64_t sums = sumCount(g), shares = correlation->plan.shares;
  THNN_(simd).pointwise.fill(sums * lanes, 0, correlation->sums);
  THNN_(simd).pointwise.fill(planes * lanes, 0, correlation->totals);
  const int64_t end = bands->count * (share + 1) / shares;
  for (int64_t i = bands->count * share / shares; i < end; i++) {
    const Band band = THNN_(paddedLines_band)(g, bands, i);
    addBand(correlation, &band);
  }
  THNN_(simd).shifts.addLanes(sums, correlation->sums, correlation->shareSums + share * sums);
  if (correlation->totalled)
    THNN_(simd).shifts.addLanes(planes, correlation->totals,
                                correlation->shareTotals + share * planes);
}

/* gradient += scale * the sum of the shares' sums. Overwrites the first share's. */
static void addShares(int64_t shares, int64_t n, accreal scale, real *sums, real *gradient)
{
  for (int64_t share = 1; share < shares; share++)
    THNN_(simd).pointwise.axpy(n, 1, sums + share * n, sums);
  THNN_(simd).pointwise.axpy(n, (real)scale, sums, gradient);
}

bool THNN_(linesWeight_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  Correlation common = {.g = plan->geometry,
                        .image = of->image,
                        .gradMap = of->gradMap,
                        .totalled = of->gradBias != NULL};
  OWN_OF(plan, common.plan);
  const int64_t shares = common.plan.shares;
  Scratch shared = {.base = scratch};
  layOutShared(&common, &shared);
  THNN_(paddedLines_offsets)(&common.g, &common.plan.bands, common.offset);
  const int threads = plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Correlation correlation = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&correlation, &own);
#pragma omp for schedule(static)
    for (int64_t share = 0; share < shares; share++)
      addShare(&correlation, share);
  }
  addShares(shares, sumCount(&common.g), of->scale, common.shareSums, of->gradWeight);
  if (of->gradBias)
    addShares(shares, common.g.outputPlanes, of->scale, common.shareTotals, of->gradBias);
  return true;
}
