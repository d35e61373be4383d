/* Direct convolution's weight gradient for few image planes and taps, where transposing the map
 * gradients would take longer than the products: for each map plane, image plane and tap the sum
 * over batch and positions of map gradient times image.
 *
 * The lanes of a vector are neighbouring positions of a line. Map gradients are read in place. The
 * image is copied into frames: for each tap along a line, what the map positions see through it, so
 * that no load crosses a cache line. If there is only one tap, the image is read in place too. The
 * lanes of a sum are added up at the end of a share.
 *
 * A share is a range of bands of map lines. There is a fixed number of shares, whose partial sums
 * are added in order. */
#include "generic/convolution/engine/paddedLines.h"

/* Positions of a band, for which the gradients of a few planes stay in the first-level cache. */
static const int64_t BAND_POSITIONS = 4096 / sizeof(real);
/* Most bytes of the frames of a band, and of the sums of all planes, which stay in the second-level
 * cache. */
static const int64_t FRAME_BYTES = 256 << 10, SUMS_BYTES = 512 << 10;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct Correlation {
  const THNNConvolutionPlan *plan;
  const real *image, *gradMap;
  const int64_t *offset; /* offset in a frame of each image plane and tap */
  real *shareSums;       /* [share][map plane][image plane][tap] */
  real *shareTotals;     /* sums of map gradients, [share][map plane]; can be NULL */

  real *sums;       /* [map plane][image plane][tap][lane] */
  real *frames;     /* frames of a band */
  real *totals;     /* sums of map gradients, [map plane][lane] */
  THNNPosition *at; /* offsets of each vector in the frames and in a plane of map gradients */
} Correlation;

/* ---- Planning -------------------------------------------------------------------------------- */

/* The total cost: products, with map planes in whole tiles; what a tile costs for each vector,
 * partial vector and band; the sums of map gradients; filling frames; and adding shares. */
static double linesWeightCost(const THNNConvolution *geometry, const THNNConvolutionBands *bands)
{
  const int64_t lanes = THNN_(simd).shifts.lanes, map = THNN_convolutionMapPositions(geometry);
  const int64_t width = bands->flat ? map : geometry->output[2];
  const double lines = (double)geometry->batch * map / width;
  const double vectors = lines * divideUp(width, lanes), parts = width % lanes ? lines : 0;
  const int64_t tilePlanes = THNN_(simd).shifts.tilePlanes, rows = frameRows(geometry);
  const double planeTiles = (double)divideUp(geometry->outputPlanes, tilePlanes);
  const double tiles = planeTiles * divideUp(rows, THNN_(simd).shifts.tileTaps);
  /* If the image is read in place, loads cross cache lines. */
  const double crossing = bands->flat ? 1.4 : 1;
  return crossing * planeTiles * rows * (0.51 * tilePlanes * vectors + 17 * bands->count) +
         tiles * (2.8 * vectors + 4.5 * parts + 5 * bands->count) +
         2.5 * vectors * geometry->outputPlanes + 0.8 * THNN_(lineFrames_cost)(geometry, bands) +
         1.7 * bands->shares * weightElements(geometry);
}

bool THNN_(ConvolutionDirectLinesWeight_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  const int64_t rows = frameRows(geometry), sums = rows * geometry->outputPlanes;
  THNNConvolutionBands bands =
      THNN_(lineFrames_areFlat)(geometry)
          ? THNN_(lineFrames_flatBands)(geometry, BAND_POSITIONS, geometry->inputPlanes)
          : THNN_(lineFrames_bands)(geometry, true, BAND_POSITIONS, geometry->inputPlanes,
                                    FRAME_BYTES);
  bands.shares = minimum(bands.count, ENOUGH_BLOCKS);
  const int64_t frameBytes =
      scratchBytes(THNN_(lineFrames_elements)(geometry, &bands), sizeof(real));
  const int64_t sumsBytes = scratchBytes(sums * THNN_(simd).shifts.lanes, sizeof(real));
  const int64_t threadBytes =
      frameBytes + sumsBytes +
      scratchBytes(geometry->outputPlanes * THNN_(simd).shifts.lanes, sizeof(real)) +
      scratchBytes(THNN_(lineFrames_vectors)(geometry, &bands), sizeof(THNNPosition));
  const int64_t sharedBytes = scratchBytes(rows, sizeof(int64_t)) +
                              scratchBytes(bands.shares * sums, sizeof(real)) +
                              scratchBytes(bands.shares * geometry->outputPlanes, sizeof(real));
  if (frameBytes > FRAME_BYTES || sumsBytes > SUMS_BYTES || sharedBytes + threadBytes > limitBytes)
    return false;

  plan->algorithm = THNN_CONVOLUTION_DIRECT;
  plan->variant = THNN_CONVOLUTION_LINES;
  plan->bands = bands;
  plan->cost = linesWeightCost(geometry, &bands);
  plan->threads = THNN_threads(state, bands.shares, convolutionOperations(geometry));
  plan->sharedBytes = (size_t)sharedBytes;
  plan->threadBytes = (size_t)threadBytes;
  plan->scratchBytes = plan->sharedBytes + plan->threadBytes * (size_t)plan->threads;
  return true;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void addBand(const Correlation *correlation, const THNNBand *band)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const THNNConvolutionBands *bands = &correlation->plan->bands;
  THNN_(lineFrames_fill)(geometry, bands, band, 0, correlation->image, correlation->frames);
  const THNN_(LineDots)
      dots = {.vectors = THNN_(lineFrames_list)(geometry, bands, band, correlation->at),
              .taps = frameRows(geometry),
              .offsets = correlation->offset,
              .planes = geometry->outputPlanes,
              .yPlane = THNN_convolutionMapPositions(geometry),
              .x = bands->flat ? correlation->image : correlation->frames,
              .y = correlation->gradMap,
              .sums = correlation->sums,
              .totals = correlation->shareTotals ? correlation->totals : NULL};
  THNN_(simd).shifts.dotLines(&dots);
}

static void addShare(const Correlation *correlation, int64_t share)
{
  const THNNConvolutionPlan *plan = correlation->plan;
  const THNNConvolutionBands *bands = &plan->bands;
  const int64_t planes = plan->geometry.outputPlanes, lanes = THNN_(simd).shifts.lanes;
  const int64_t sums = planes * frameRows(&plan->geometry);
  THNN_(simd).pointwise.fill(sums * lanes, 0, correlation->sums);
  THNN_(simd).pointwise.fill(planes * lanes, 0, correlation->totals);
  const int64_t end = bands->count * (share + 1) / bands->shares;
  for (int64_t i = bands->count * share / bands->shares; i < end; i++) {
    const THNNBand band = THNN_(lineFrames_band)(&plan->geometry, bands, i);
    addBand(correlation, &band);
  }
  THNN_(simd).shifts.addLanes(sums, correlation->sums, correlation->shareSums + share * sums);
  if (correlation->shareTotals)
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

void THNN_(ConvolutionDirectLinesWeight_run)(const THNNConvolutionPlan *plan, const real *input,
                                             const real *gradOutput, accreal scale,
                                             real *gradWeight, real *gradBias, void *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t rows = frameRows(geometry), planes = geometry->outputPlanes, sums = planes * rows;
  const int64_t shares = plan->bands.shares, lanes = THNN_(simd).shifts.lanes;
  const int threads = plan->threads;
  char *shared = scratch;
  int64_t *offset = takeScratch(&shared, rows, sizeof(int64_t));
  real *shareSums = takeScratch(&shared, shares * sums, sizeof(real));
  real *shareTotals = takeScratch(&shared, shares * planes, sizeof(real));
  THNN_(lineFrames_offsets)(geometry, &plan->bands, offset);
  const Correlation common = {.plan = plan,
                              .image = input,
                              .gradMap = gradOutput,
                              .offset = offset,
                              .shareSums = shareSums,
                              .shareTotals = gradBias ? shareTotals : NULL};
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Correlation correlation = common;
    char *own = threadScratch(plan, scratch);
    correlation.sums = takeScratch(&own, sums * lanes, sizeof(real));
    correlation.totals = takeScratch(&own, planes * lanes, sizeof(real));
    correlation.frames =
        takeScratch(&own, THNN_(lineFrames_elements)(geometry, &plan->bands), sizeof(real));
    correlation.at =
        takeScratch(&own, THNN_(lineFrames_vectors)(geometry, &plan->bands), sizeof(THNNPosition));
#pragma omp for schedule(static)
    for (int64_t share = 0; share < shares; share++)
      addShare(&correlation, share);
  }
  addShares(shares, sums, scale, shareSums, gradWeight);
  if (gradBias)
    addShares(shares, planes, scale, shareTotals, gradBias);
}
