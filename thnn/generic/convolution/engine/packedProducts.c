/* Direct convolution with one tap, as products of matrices that need no unfolding; panelProducts.c
 * packs their operands. With n samples, m map planes, k image planes and p positions
 *   forward         map (m x p)     = bias + weight (m x k) * image (k x p), for each sample
 *   transposed      map (k x p)     = bias + weight^T (k x m) * image (m x p), for each sample
 *   weight          weight (m x k) += scale * map (m x p) * image^T (p x k), over all samples
 * With a stride the map sees only some positions of the image, which are gathered in scratch
 * memory, or scattered from there. If a sample has few positions, those of several samples are
 * gathered too: together they fill vectors, and weights are packed once for all of them. */
#include "generic/convolution/engine/algorithm.h"
#include "generic/shared/panelProducts.h"

/* How the pass is cut into products. */
typedef struct ProductsPlan {
  int64_t groupSamples; /* samples whose positions one matrix product takes together */
  int copyThreads;
  bool packsWeights; /* weights are packed once for all samples, whose planes are used in place */
  bool keepsWeights; /* packed weights are kept from call to call */
} ProductsPlan;

/* A pass: sizes of its products, and its scratch. */
typedef struct ProductsWork {
  const AlgorithmPlan *plan;
  THNNConvolution g; /* the ordinary convolution, whose map sees some positions of the image */
  int64_t positions; /* positions of the map of `g` */
  int64_t imagePlanes, mapPlanes; /* planes of the pass's own image and map */
  ProductsPlan own;

  real *seen, *other; /* copies of a group's planes: of the image of `g`, at the positions that its
                       * map sees, and of the map of `g`; NULL if the planes are used in place */
  real *weights;      /* packed weights, or NULL */
} ProductsWork;

static ProductsWork workFor(const AlgorithmPlan *plan)
{
  const THNNConvolution *g = &plan->geometry;
  ProductsWork work = {.plan = plan,
                       .g = g->transposed ? THNN_convolutionTransposed(g) : *g,
                       .imagePlanes = g->inputPlanes,
                       .mapPlanes = g->outputPlanes};
  work.positions = THNN_convolutionMapPositions(&work.g);
  return work;
}

static bool isWeight(const ProductsWork *work)
{
  return work->plan->part == THNN_CONVOLUTION_BACKWARD_WEIGHT;
}

/* Takes room for a group's copies, or for packed weights if whole samples are used in place. */
static void layOut(ProductsWork *work, Scratch *scratch)
{
  const int64_t samples = work->own.groupSamples, elements = samples * work->positions;
  const bool strided = !THNN_convolutionIsPointwise(&work->g);
  if (samples > 1 || strided)
    work->seen = THNN_take(scratch, work->g.inputPlanes * elements, sizeof(real));
  if (samples > 1)
    work->other = THNN_take(scratch, work->g.outputPlanes * elements, sizeof(real));
  if (work->own.packsWeights)
    work->weights = THNN_take(scratch,
                              THNN_(panelProducts_packedElements)(work->positions, work->mapPlanes,
                                                                  work->imagePlanes, work->g.batch),
                              sizeof(real));
}

static size_t groupBytes(ProductsWork work, int64_t samples)
{
  Scratch scratch = {0};
  work.own = (ProductsPlan){.groupSamples = samples};
  layOut(&work, &scratch);
  return scratch.used;
}

/* ---- Planning -------------------------------------------------------------------------------- */

enum { BLOCK_TERMS = 256 }; /* PANEL_TERMS of panelProducts.c */

/* Whether operands of `elements` elements are too large for a near cache. */
static bool areFar(double elements)
{
  return elements * sizeof(real) > FAR_OPERAND_BYTES;
}

/* The number of vectors whose products take as long as those of `positions` positions. A few
 * positions after the last whole panel take less than half of a vector's time. */
static double vectorsOf(int64_t positions)
{
  const SimdPanels *loops = &THNN_(simd).panels;
  const int64_t left = positions % loops->columns;
  const double vectors = (double)divideUp(positions, loops->lanes);
  return left > 0 && left <= loops->fewColumns
             ? vectors - costsInUse()->packedProducts[PACKED_PRODUCTS_FEW_COLUMNS]
             : vectors;
}

/* Counts what a map takes: products, the tiles in which they are summed up, fetching the weights for
 * each block of positions, packing the image for all planes of the map, and storing; with groups of
 * samples also gathering and scattering these. Weights that are too large for a near cache are
 * fetched for each group; transposed, only a few of each row are fetched at a time. */
static void countMap(const ProductsWork *work, double *counts)
{
  enum { BLOCK_POSITIONS = 512 }; /* about as many as panelProducts.c packs at a time */
  const int64_t samples = work->own.groupSamples, positions = work->positions;
  const int64_t width = samples * positions;
  const double groups = (double)divideUp(work->g.batch, samples);
  const double weights = THNN_convolutionWeights(&work->g);
  const double batch = (double)work->g.batch, all = batch * (double)positions;
  const double image = all * (double)work->imagePlanes;
  const double copied = samples > 1 ? batch * (double)(work->imagePlanes + work->mapPlanes) : 0;
  const SimdPanels *loops = &THNN_(simd).panels;
  const double tiles = (double)divideUp(work->mapPlanes, loops->rows) *
                       (double)divideUp(width, loops->columns) *
                       (double)divideUp(work->imagePlanes, BLOCK_TERMS);
  counts[PACKED_PRODUCTS_TILE] = groups * tiles;
  counts[PACKED_PRODUCTS_PRODUCT] = groups * weights * vectorsOf(width);
  counts[PACKED_PRODUCTS_BLOCK] = groups * weights * (double)divideUp(width, BLOCK_POSITIONS);
  if (areFar(weights))
    counts[work->plan->geometry.transposed ? PACKED_PRODUCTS_FAR_TRANSPOSED_BYTE
                                           : PACKED_PRODUCTS_FAR_BYTE] =
        groups * weights * sizeof(real);
  counts[areFar(image) ? PACKED_PRODUCTS_IMAGE_BYTE : PACKED_PRODUCTS_NEAR_BYTE] =
      image * sizeof(real);
  counts[PACKED_PRODUCTS_STORED_BYTE] = all * (double)work->mapPlanes * sizeof(real);
  counts[PACKED_PRODUCTS_COPIED_BYTE] = copied * (double)positions * sizeof(real);
  counts[PACKED_PRODUCTS_COPIED] = copied;
}

/* Counts what the weight gradient takes: products, packing, and fetching and storing the sums for
 * each block of terms. */
static void countWeight(const ProductsWork *work, double *counts)
{
  const double factor = THNN_convolutionIsPointwise(&work->g)
                            ? 1
                            : costsInUse()->packedProducts[PACKED_PRODUCTS_STRIDED];
  const double batch = (double)work->g.batch, all = batch * (double)work->positions;
  const double elements = factor * all * (double)work->mapPlanes;
  const double packed = all * ((double)work->imagePlanes + (double)work->mapPlanes);
  counts[PACKED_PRODUCTS_TERM_VECTOR] =
      elements * (double)divideUp(work->imagePlanes, vectorLanes());
  counts[PACKED_PRODUCTS_TERM] = elements;
  counts[areFar(packed) ? PACKED_PRODUCTS_GRADIENT_BYTE : PACKED_PRODUCTS_NEAR_BYTE] =
      factor * packed * sizeof(real);
  counts[PACKED_PRODUCTS_SUM_BYTE] = factor * batch *
                                     (double)divideUp(work->positions, BLOCK_TERMS) *
                                     THNN_convolutionWeights(&work->g) * sizeof(real);
}

/* Sets the cost: what the map or the weight gradient takes, and with a stride gathering or
 * scattering the positions of the image that the map sees. */
static void setPackedProductsCost(AlgorithmPlan *plan, const ProductsWork *work)
{
  const THNNConvolution *g = &work->g;
  double counts[PACKED_PRODUCTS_COSTS] = {0};
  if (isWeight(work))
    countWeight(work, counts);
  else
    countMap(work, counts);
  if (!THNN_convolutionIsPointwise(g)) {
    const double planes = (double)g->batch * (double)g->inputPlanes;
    counts[PACKED_PRODUCTS_SEEN_BYTE] = planes * (double)work->positions * sizeof(real);
    counts[plan->geometry.transposed ? PACKED_PRODUCTS_TRANSPOSED_LINE : PACKED_PRODUCTS_LINE] =
        planes * (double)g->output[0] * (double)g->output[1];
  }
  setCost(plan, PACKED_PRODUCTS_COSTS, costsInUse()->packedProducts, counts);
}

/* The number of samples in a group: 1 if a sample has enough positions, or if more samples would
 * take too much scratch memory. */
static int64_t chooseGroup(const ProductsWork *work, size_t limitBytes)
{
  enum { FEW_POSITIONS = 128, ENOUGH_POSITIONS = 256 };
  if (isWeight(work) || work->positions >= FEW_POSITIONS)
    return 1;
  const int64_t samples = evenBlock(work->g.batch, divideUp(ENOUGH_POSITIONS, work->positions), 1);
  return groupBytes(*work, samples) <= limitBytes ? samples : 1;
}

/* The room in which threads pack operands. */
static THNNRoom productRoom(const ProductsWork *work)
{
  const THNNState *state = work->plan->state;
  const int64_t positions = work->positions, samples = work->own.groupSamples;
  const int64_t whole = groupBytes(*work, samples) == 0 ? work->g.batch : 1;
  if (isWeight(work))
    return THNN_(panelProducts_addRoom)(state, work->imagePlanes, work->mapPlanes, positions, true,
                                        false, whole);
  return THNN_(panelProducts_eachRoom)(state, samples * positions, work->mapPlanes,
                                       work->imagePlanes, whole);
}

bool THNN_(packedProducts_planConvolution)(AlgorithmPlan *plan)
{
  if (!THNN_(simd).panels.packs || THNN_convolutionTaps(&plan->geometry) > 1)
    return false;
  ProductsWork work = workFor(plan);
  const size_t limitBytes = THNN_State_workspaceLimit(plan->state);
  if (!THNN_convolutionHasOneTap(&work.g) || groupBytes(work, 1) > limitBytes)
    return false;
  work.own.copyThreads = THNN_threads(plan->state, maximum(work.imagePlanes, work.mapPlanes),
                                      THNN_convolutionOperations(&work.g));
  work.own.groupSamples = chooseGroup(&work, limitBytes);
  plan->sharedBytes = groupBytes(work, work.own.groupSamples);
  if (plan->keeps) {
    work.own.keepsWeights = true;
    plan->keptBytes =
        (size_t)THNN_(panelProducts_keptElements)(work.mapPlanes, work.imagePlanes) * sizeof(real);
  } else if (plan->sharedBytes == 0 && !isWeight(&work)) {
    Scratch packed = {0};
    work.own.packsWeights = true;
    layOut(&work, &packed);
    work.own.packsWeights = packed.used > 0 && packed.used <= limitBytes;
    plan->sharedBytes = work.own.packsWeights ? packed.used : 0;
  }
  const THNNRoom room = productRoom(&work);
  plan->threads = room.threads;
  plan->threadBytes = room.bytes;
  setPackedProductsCost(plan, &work);
  plan->finishes = plan->adds = true;
  KEEP_OWN(plan, work.own);
  return true;
}

/* ---- Copying planes -------------------------------------------------------------------------- */

/* Planes of some samples, apart[sample][plane][size] and together[plane][sample][position]. */
typedef struct Planes {
  int64_t count, size;
  int64_t sample; /* elements from one sample to the next */
  bool strided;   /* the map sees only some positions of a plane */
  real *apart, *together;
} Planes;

/* Gathers the positions of an image plane that the map sees. */
static void gatherSeen(const THNNConvolution *geometry, const real *plane, real *together)
{
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const Columns seen = {.rows = 1, .positions = positions, .data = together, .stride = positions};
  THNN_(unfold_toColumns)(geometry, plane, &seen);
}

/* Scatters them again, or adds them. If they are scattered, the positions that the map does not see
 * get the bias alone. */
static void scatterSeen(const THNNConvolution *geometry, bool adds, real bias, real *together,
                        real *plane)
{
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  const Columns seen = {.rows = 1, .positions = positions, .data = together, .stride = positions};
  if (!adds)
    THNN_(simd).pointwise.fill(THNN_convolutionImagePositions(geometry), bias, plane);
  THNN_(unfold_toImage)(geometry, &seen, plane);
}

/* Gathers planes, `apart` to `together`, or scatters them again, and then finishes them. */
static void copyPlanes(const ProductsWork *work, const Planes *planes, int64_t samples, bool gather,
                       const real *bias, Finish finish)
{
  const int64_t positions = work->positions;
  if (planes->together == planes->apart)
    return;
#pragma omp parallel for num_threads(work->own.copyThreads)                                        \
    schedule(static) if (work->own.copyThreads > 1)
  for (int64_t plane = 0; plane < planes->count; plane++)
    for (int64_t sample = 0; sample < samples; sample++) {
      real *apart = planes->apart + sample * planes->sample + plane * planes->size;
      real *together = planes->together + (plane * samples + sample) * positions;
      if (planes->strided && gather)
        gatherSeen(&work->g, apart, together);
      else if (planes->strided)
        scatterSeen(&work->g, finish.adds, bias ? bias[plane] : 0, together, apart);
      else if (gather)
        THNN_(simd).pointwise.copy(positions, apart, together);
      else if (finish.adds)
        THNN_(simd).pointwise.axpy(positions, 1, together, apart);
      else
        THNN_(simd).pointwise.copy(positions, together, apart);
      finishResults(finish, apart - planes->apart, planes->size, apart);
    }
}

/* The planes of the ordinary convolution's image and of its map, from sample number `first` on. */
static Planes seenPlanes(const ProductsWork *work, const real *image, int64_t first)
{
  const int64_t sample = THNN_convolutionImageSample(&work->g);
  real *apart = (real *)image + first * sample;
  return (Planes){.count = work->g.inputPlanes,
                  .size = THNN_convolutionImagePositions(&work->g),
                  .sample = sample,
                  .strided = !THNN_convolutionIsPointwise(&work->g),
                  .apart = apart,
                  .together = work->seen ? work->seen : apart};
}

static Planes otherPlanes(const ProductsWork *work, const real *map, int64_t first)
{
  const int64_t sample = THNN_convolutionMapSample(&work->g);
  real *apart = (real *)map + first * sample;
  return (Planes){.count = work->g.outputPlanes,
                  .size = work->positions,
                  .sample = sample,
                  .apart = apart,
                  .together = work->other ? work->other : apart};
}

/* ---- The passes ------------------------------------------------------------------------------ */

/* Computes the map in groups of samples. */
static void runGroups(const ProductsWork *work, const Operands *of, Matrix weight, THNNRoom room)
{
  const bool transposed = work->plan->geometry.transposed;
  for (int64_t first = 0; first < work->g.batch; first += work->own.groupSamples) {
    const int64_t samples = minimum(work->own.groupSamples, work->g.batch - first);
    const int64_t width = samples * work->positions;
    const Planes seen = seenPlanes(work, transposed ? of->map : of->image, first);
    const Planes other = otherPlanes(work, transposed ? of->image : of->map, first);
    const Planes *images = transposed ? &other : &seen, *maps = transposed ? &seen : &other;
    const Matrix a = {images->together, width, false};
    const Finish finish = finishFrom(of->finish, maps->apart - of->map);
    copyPlanes(work, images, samples, true, NULL, (Finish){0});
    THNN_(panelProducts_each)(width, maps->count, images->count, a, weight,
                              maps->strided ? NULL : of->bias, 1, 0,
                              maps->together == maps->apart ? finish : (Finish){0}, maps->together,
                              0, work->weights, room);
    copyPlanes(work, maps, samples, false, of->bias, finish);
  }
}

static Matrix weightOf(const ProductsWork *work, const real *weight)
{
  return (Matrix){weight, work->g.inputPlanes, work->plan->geometry.transposed};
}

static void runMap(const ProductsWork *work, const Operands *of, THNNRoom room)
{
  const int64_t positions = work->positions;
  const int64_t imagePlanes = work->imagePlanes, mapPlanes = work->mapPlanes;
  const Matrix a = {of->image, positions, false};
  Matrix b = weightOf(work, of->weight);
  if (work->own.keepsWeights)
    b.data = NULL; /* it is packed already */
  if (work->seen || work->other)
    runGroups(work, of, b, room);
  else
    THNN_(panelProducts_each)(positions, mapPlanes, imagePlanes, a, b, of->bias, work->g.batch,
                              THNN_convolutionImageSample(&work->plan->geometry), of->finish,
                              of->map, THNN_convolutionMapSample(&work->plan->geometry),
                              work->weights, room);
}

static void runWeight(const ProductsWork *work, const Operands *of, THNNRoom room)
{
  const int64_t positions = work->positions;
  const int64_t imagePlanes = work->imagePlanes, mapPlanes = work->mapPlanes;
  const int64_t mapStep = THNN_convolutionMapSample(&work->g);
  const Matrix a = {of->image, positions, true}, b = {of->gradMap, positions, false};
  Product product = productOf(imagePlanes, mapPlanes, positions, (real)of->scale, a, b,
                              of->gradWeight, imagePlanes);
  product.add = true;
  product.sums = of->gradBias;
  if (!work->seen) {
    product.count = work->g.batch;
    product.aNext = THNN_convolutionImageSample(&work->g);
    product.bNext = mapStep;
    THNN_(panelProducts_multiply)(&product, room);
    return;
  }
  product.a.data = work->seen;
  for (int64_t sample = 0; sample < work->g.batch; sample++) {
    const Planes images = seenPlanes(work, of->image, sample);
    copyPlanes(work, &images, 1, true, NULL, (Finish){0});
    THNN_(panelProducts_multiply)(&product, room);
    product.b.data += mapStep;
  }
}

void THNN_(packedProducts_keepWeights)(const AlgorithmPlan *plan, const real *weight, void *kept,
                                       void *scratch)
{
  (void)scratch;
  const ProductsWork work = workFor(plan);
  THNN_(panelProducts_keep)(work.mapPlanes, work.imagePlanes, weightOf(&work, weight), kept);
}

bool THNN_(packedProducts_runConvolution)(const AlgorithmPlan *plan, const Operands *of,
                                          void *scratch)
{
  ProductsWork work = workFor(plan);
  OWN_OF(plan, work.own);
  Scratch shared = {.base = scratch};
  layOut(&work, &shared);
  if (work.own.keepsWeights)
    work.weights = (real *)of->kept; /* only read */
  const THNNRoom room = {plan->threads, plan->threadBytes, (char *)scratch + shared.used};
  if (isWeight(&work))
    runWeight(&work, of, room);
  else
    runMap(&work, of, room);
  return true;
}
