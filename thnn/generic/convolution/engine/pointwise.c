/* Direct convolution with one tap, forward with any stride and transposed without: a product of the
 * weights with the planes, as in direct.c. But each image element is used only once for each map
 * plane, and every panel would fetch it again, from planes that are far apart in memory.
 *
 * So the weights of all panels are packed once, by all threads, and a task is a box of positions
 * for all panels, whose image it packs first: [group of planes][chunk of
 * positions][plane][position]. What a tile of products reads is then contiguous and stays in the
 * first-level cache.
 *
 * With many weights for few positions, handing packed weights to another thread takes longer than
 * the products: then a task is a part of the panels for all boxes. */
#include "generic/convolution/engine/algorithm.h"
#include "generic/convolution/engine/offsets.h"
#include "generic/convolution/engine/panels.h"

/* Most bytes of packed weights, which stay in a last-level cache. */
static const int64_t WEIGHT_BYTES = 3 << 20;
/* Most bytes of the packed image of a box, which stays in the second-level cache beside its sums
 * for one panel. */
static const int64_t IMAGE_BYTES = 512 << 10;
static const int64_t MOST_POSITIONS = 256;
/* With fewer positions in a box, storing them takes too much of the time. */
static const int64_t WORTHWHILE_POSITIONS = 24;
/* Most planes of a group and positions of a chunk, which are added at a time: their elements stay
 * in the first-level cache. */
static const int64_t GROUP_PLANES = 512 / sizeof(real);
static const int64_t CHUNK_POSITIONS = 24;

/* What the positions of the map are cut into. A task is a box of them, with all planes. */
typedef struct PointwisePlan {
  THNNConvolutionBoxes boxes;
  int64_t chunk;     /* positions that are added at a time */
  int64_t parts;     /* parts that the panels are cut into, one for each thread; 1: threads share
                      * the boxes instead */
  bool keepsWeights; /* packed weights are kept from call to call */
} PointwisePlan;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct PointwiseWorker {
  THNNConvolution g;
  int64_t imagePositions, mapPositions;
  PointwisePlan plan;
  const real *image, *weight, *bias;
  real *map;
  Finish finish;
  real *weights; /* [panel][image plane][lane] */

  real *packed; /* image: [group][chunk][plane][position] */
  real *line;   /* positions of one plane, if they are not contiguous in memory */
  real *start;  /* [lane]: the bias */
  real *sums;   /* [position][lane] */
  THNNOffsets *row, *term;
} PointwiseWorker;

static PointwiseWorker workerFor(const AlgorithmPlan *plan)
{
  return (PointwiseWorker){.g = plan->geometry,
                           .imagePositions = THNN_convolutionImagePositions(&plan->geometry),
                           .mapPositions = THNN_convolutionMapPositions(&plan->geometry)};
}

static int64_t chunkCount(const PointwiseWorker *worker)
{
  return divideUp(THNN_convolutionBoxPositions(&worker->plan.boxes), worker->plan.chunk);
}

static int64_t packedElements(const THNNConvolution *g)
{
  return g->inputPlanes * roundUp(g->outputPlanes, productsFor(g->outputPlanes)->lanes);
}

static void layOutShared(PointwiseWorker *worker, Scratch *scratch)
{
  if (!worker->plan.keepsWeights)
    worker->weights = THNN_take(scratch, packedElements(&worker->g), sizeof(real));
}

static void layOutThread(PointwiseWorker *worker, Scratch *scratch)
{
  const int64_t box = THNN_convolutionBoxPositions(&worker->plan.boxes);
  const int64_t planes = worker->g.outputPlanes, lanes = mostPanelLanes(planes);
  worker->packed = THNN_take(scratch,
                             roundUp(worker->g.inputPlanes, GROUP_PLANES) * chunkCount(worker) *
                                 worker->plan.chunk,
                             sizeof(real));
  worker->line = THNN_take(scratch, box + productsFor(planes)->lanes, sizeof(real));
  worker->start = THNN_take(scratch, lanes, sizeof(real));
  worker->sums = THNN_take(scratch, box * lanes, sizeof(real));
  worker->row = THNN_take(scratch, CHUNK_POSITIONS, sizeof(THNNOffsets));
  worker->term = THNN_take(scratch, GROUP_PLANES, sizeof(THNNOffsets));
}

/* ---- Planning -------------------------------------------------------------------------------- */

/* Counts products, packing both operands, and storing. */
static void setPointwiseCost(AlgorithmPlan *plan, const PointwiseWorker *worker)
{
  const THNNConvolution *g = &worker->g;
  const double positions = (double)g->batch * (double)worker->mapPositions;
  const double seen = positions * (double)g->inputPlanes;
  const double vectors = (double)divideUp(g->outputPlanes, vectorLanes());
  const bool gathers = !g->transposed && !THNN_convolutionIsPointwise(g);
  const double lines = (double)g->output[0] * (double)g->output[1];
  const double counts[POINTWISE_COSTS] = {
      [POINTWISE_SINGLE] = vectors == 1 ? seen : 0,
      [POINTWISE_PRODUCT] = vectors == 1 ? 0 : seen * vectors,
      [POINTWISE_PACKED_BYTE] = seen * sizeof(real),
      [POINTWISE_STORED] = positions * vectors,
      [POINTWISE_LINE] = gathers ? (double)g->batch * (double)g->inputPlanes * lines : 0,
      [POINTWISE_WEIGHT] = THNN_convolutionWeights(g),
  };
  setCost(plan, POINTWISE_COSTS, costsInUse()->pointwise, counts);
}

/* Whether threads share the panels, if these can be divided evenly, rather than the boxes. */
static bool sharesPanels(const PointwiseWorker *worker)
{
  return worker->g.batch * worker->mapPositions < 4 * worker->g.outputPlanes;
}

/* Divides boxes among threads; or panels, if handing over the weights costs more than packing the
 * image in each thread; or takes one thread, if panels cannot be divided evenly. */
static void chooseParts(AlgorithmPlan *plan, PointwiseWorker *worker)
{
  const int64_t planes = worker->g.outputPlanes, positions = worker->g.batch * worker->mapPositions;
  const int64_t boxes = THNN_convolutionBoxCount(&worker->plan.boxes), panels = panelCount(planes);
  plan->threads = threadsFor(plan, maximum(boxes, sharesPanels(worker) ? panels : 1));
  const bool even = panels % plan->threads == 0 || panels >= 4 * plan->threads;
  if (even && sharesPanels(worker)) {
    worker->plan.parts = plan->threads;
    return;
  }
  worker->plan.parts = 1;
  plan->threads = !even && positions < planes ? 1 : (int)minimum(plan->threads, boxes);
}

/* The positions of a box; all of them where threads share the panels. A tile of few sums has several
 * partial ones, so that sums depend on the boxes, and these may not depend on the threads. */
static int64_t mostPositions(const PointwiseWorker *worker, int64_t limitBytes)
{
  enum { MANY_PANELS = 16 }; /* which up to four threads share, as chooseParts() wants it */
  const THNNConvolution *g = &worker->g;
  const int64_t room =
      minimum(IMAGE_BYTES, limitBytes / 4) / (g->inputPlanes * (int64_t)sizeof(real));
  const bool together = sharesPanels(worker) && panelCount(g->outputPlanes) >= MANY_PANELS;
  const int64_t share = divideUp(g->batch * worker->mapPositions, together ? 1 : 2 * ENOUGH_BLOCKS);
  return minimum(minimum(room, MOST_POSITIONS), maximum(share, WORTHWHILE_POSITIONS));
}

bool THNN_(pointwise_planConvolution)(AlgorithmPlan *plan)
{
  PointwiseWorker worker = workerFor(plan);
  const THNNConvolution *g = &worker.g;
  PointwisePlan *own = &worker.plan;
  if (!THNN_convolutionHasOneTap(g))
    return false;
  const int64_t most = mostPositions(&worker, (int64_t)THNN_State_workspaceLimit(plan->state));
  if (most < WORTHWHILE_POSITIONS)
    return false;
  own->keepsWeights = plan->keeps;
  own->boxes = THNN_convolutionBoxes(g->batch, g->output, 1, most);
  const int64_t box = THNN_convolutionBoxPositions(&own->boxes);
  /* Whole tiles: in products, those of as many vectors have as many rows as in panels. */
  own->chunk = roundUp(divideUp(box, divideUp(box, CHUNK_POSITIONS)), THNN_(simd).panels.rows);

  Scratch shared = {0}, thread = {0};
  layOutShared(&worker, &shared);
  layOutThread(&worker, &thread);
  const int64_t weightBytes = packedElements(g) * (int64_t)sizeof(real);
  if (!fits(plan, &shared, &thread) || weightBytes > WEIGHT_BYTES)
    return false;
  setPointwiseCost(plan, &worker);
  chooseParts(plan, &worker);
  plan->finishes = plan->adds = true;
  if (own->keepsWeights)
    plan->keptBytes = (size_t)weightBytes;
  KEEP_OWN(plan, *own);
  return true;
}

/* ---- Packing --------------------------------------------------------------------------------- */

static real *weightsOf(const PointwiseWorker *worker, const Panel *panel)
{
  return worker->weights + worker->g.inputPlanes * panel->first;
}

/* Packs a panel's weights. Lanes without a plane hold zeros. */
static void packWeights(const PointwiseWorker *worker, const Panel *panel)
{
  const int64_t planes = worker->g.inputPlanes;
  real *weights = weightsOf(worker, panel);
  if (!worker->g.transposed) {
    panel->loops->pack(panel->planes, planes, worker->weight + panel->first * planes, planes,
                       weights, panel->lanes);
    return;
  }
  for (int64_t plane = 0; plane < planes; plane++) {
    real *lanes = weights + plane * panel->lanes;
    THNN_(simd).pointwise.copy(
        panel->planes, worker->weight + plane * worker->g.outputPlanes + panel->first, lanes);
    THNN_(simd).pointwise.fill(panel->lanes - panel->planes, 0, lanes + panel->planes);
  }
}

static real *packedGroup(const PointwiseWorker *worker, int64_t firstPlane)
{
  return worker->packed + firstPlane * chunkCount(worker) * worker->plan.chunk;
}

/* Packs a stretch of `n` positions, the first of which is number `first` in the box, for `planes`
 * planes from number `plane`. `x` is the stretch in the first plane, `stride` the distance to the
 * next one. */
static void packStretch(const PointwiseWorker *worker, int64_t plane, int64_t planes, int64_t first,
                        int64_t n, const real *x, int64_t stride)
{
  const int64_t length = worker->plan.chunk;
  for (int64_t end = plane + planes; plane < end;) {
    const int64_t inGroup = plane % GROUP_PLANES;
    const int64_t count = minimum(GROUP_PLANES - inGroup, end - plane);
    const Chunks chunks = {.planes = count,
                           .n = n,
                           .first = first,
                           .x = x,
                           .xStride = stride,
                           .length = length,
                           .y = packedGroup(worker, plane - inGroup) + inGroup * length,
                           .yStride = GROUP_PLANES * length};
    THNN_(simd).shifts.cut(&chunks);
    plane += count;
    x += count * stride;
  }
}

/* Packs lines of positions that are not contiguous in memory, plane by plane. */
static void packApart(const PointwiseWorker *worker, const THNNConvolutionBox *box, int64_t first,
                      const real *sample, int64_t z)
{
  const THNNConvolution *geometry = &worker->g;
  const int64_t *stride = geometry->stride, *input = geometry->input;
  const int64_t height = box->end[THNN_HEIGHT] - box->first[THNN_HEIGHT];
  const int64_t width = box->end[THNN_WIDTH] - box->first[THNN_WIDTH];
  const int64_t line = z * stride[0] * input[1] + box->first[THNN_HEIGHT] * stride[1];
  for (int64_t plane = 0; plane < worker->g.inputPlanes; plane++) {
    const PaddedRows lines = {.rows = height,
                              .count = width,
                              .x = sample + plane * worker->imagePositions + line * input[2] +
                                   box->first[THNN_WIDTH] * stride[2],
                              .xStride = stride[1] * input[2],
                              .step = stride[2],
                              .y = worker->line,
                              .yStride = width};
    THNN_(simd).shifts.pad(&lines);
    packStretch(worker, plane, 1, first, height * width, worker->line, 0);
  }
}

static void packImage(const PointwiseWorker *worker, const THNNConvolutionBox *box)
{
  const THNNConvolutionBoxes *boxes = &worker->plan.boxes;
  const int64_t slice = (box->end[THNN_HEIGHT] - box->first[THNN_HEIGHT]) *
                        (box->end[THNN_WIDTH] - box->first[THNN_WIDTH]);
  const bool pointwise = THNN_convolutionIsPointwise(&worker->g);
  int64_t first = 0;
  for (int64_t n = box->first[THNN_SAMPLE]; n < box->end[THNN_SAMPLE]; n++) {
    const real *sample = worker->image + n * THNN_convolutionImageSample(&worker->g);
    for (int64_t stretch = 0; pointwise && stretch < box->stretches; stretch++) {
      packStretch(worker, 0, worker->g.inputPlanes, first, box->stretch,
                  sample + THNN_convolutionStretch(boxes, box, stretch), worker->imagePositions);
      first += box->stretch;
    }
    for (int64_t z = box->first[THNN_DEPTH]; !pointwise && z < box->end[THNN_DEPTH]; z++) {
      packApart(worker, box, first, sample, z);
      first += slice;
    }
  }
}

/* ---- One task -------------------------------------------------------------------------------- */

/* Prefetches the places in the map where the results of a panel go, in turn `turn` of `turns`
 * turns. */
static void fetchMap(const PointwiseWorker *worker, const Panel *panel,
                     const THNNConvolutionBox *box, int64_t turn, int64_t turns)
{
  const THNNConvolutionBoxes *boxes = &worker->plan.boxes;
  const int64_t first = panel->first + panel->planes * turn / turns;
  const int64_t end = panel->first + panel->planes * (turn + 1) / turns;
  const int64_t sample = THNN_convolutionMapSample(&worker->g);
  for (int64_t n = box->first[THNN_SAMPLE]; n < box->end[THNN_SAMPLE]; n++)
    for (int64_t plane = first; plane < end; plane++)
      for (int64_t stretch = 0; stretch < box->stretches; stretch++)
        THNN_(simd).products.prefetch(box->stretch,
                                      worker->map + n * sample + plane * worker->mapPositions +
                                          THNN_convolutionStretch(boxes, box, stretch));
}

/* Computes the panel's sums for a box, whose image is packed. */
static void addPanel(const PointwiseWorker *worker, const Panel *panel,
                     const THNNConvolutionBox *box)
{
  const int64_t length = worker->plan.chunk, planes = worker->g.inputPlanes;
  const int64_t turns = divideUp(planes, GROUP_PLANES) * divideUp(box->positions, length);
  int64_t turn = 0;
  const THNNOffsets none = {0, 0};
  THNN_(simd).pointwise.fill(panel->lanes, 0, worker->start);
  if (worker->bias)
    THNN_(simd).pointwise.copy(panel->planes, worker->bias + panel->first, worker->start);
  listOffsets(length, none, (THNNOffsets){1, panel->lanes}, worker->row);
  listOffsets(minimum(planes, GROUP_PLANES), none, (THNNOffsets){length, panel->lanes},
              worker->term);
  for (int64_t plane = 0; plane < planes; plane += GROUP_PLANES)
    for (int64_t position = 0; position < box->positions; position += length) {
      const Products products = {.row = worker->row,
                                 .rows = minimum(length, box->positions - position),
                                 .term = worker->term,
                                 .terms = minimum(GROUP_PLANES, planes - plane),
                                 .vectorStep = panel->lanes,
                                 .vectors = panel->vectors,
                                 .scalars = packedGroup(worker, plane) + position * GROUP_PLANES,
                                 .factors = weightsOf(worker, panel) + plane * panel->lanes,
                                 .start = plane == 0 ? worker->start : NULL,
                                 .sums = worker->sums + position * panel->lanes};
      fetchMap(worker, panel, box, turn++, turns);
      panel->loops->add(&products);
    }
}

/* Packs the weights of panels [begin, end). */
static void packPanels(const PointwiseWorker *worker, int64_t begin, int64_t end)
{
  for (int64_t index = begin; index < end; index++) {
    const Panel panel = panelAt(worker->g.outputPlanes, index);
    packWeights(worker, &panel);
  }
}

/* Computes a box for panels [begin, end), whose weights are packed. */
static void runBox(const PointwiseWorker *worker, int64_t boxIndex, int64_t begin, int64_t end)
{
  const THNNConvolutionBoxes *boxes = &worker->plan.boxes;
  const THNNConvolutionBox box = THNN_convolutionBox(boxes, boxIndex);
  packImage(worker, &box);
  for (int64_t index = begin; index < end; index++) {
    const Panel panel = panelAt(worker->g.outputPlanes, index);
    addPanel(worker, &panel, &box);
    storeBox(boxes, &box, &panel, worker->sums, worker->finish, worker->map,
             THNN_convolutionMapSample(&worker->g), worker->mapPositions);
  }
}

void THNN_(pointwise_keepWeights)(const AlgorithmPlan *plan, const real *weight, void *kept,
                                  void *scratch)
{
  (void)scratch;
  PointwiseWorker worker = workerFor(plan);
  worker.weight = weight;
  worker.weights = kept;
  packPanels(&worker, 0, panelCount(worker.g.outputPlanes));
}

bool THNN_(pointwise_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  PointwiseWorker common = workerFor(plan);
  OWN_OF(plan, common.plan);
  common.image = of->image;
  common.weight = of->weight;
  common.bias = of->bias;
  common.map = of->map;
  common.finish = of->finish;
  Scratch shared = {.base = scratch};
  layOutShared(&common, &shared);
  const bool packs = !common.plan.keepsWeights;
  if (!packs)
    common.weights = (real *)of->kept; /* only read */
  const int64_t panels = panelCount(common.g.outputPlanes);
  const int64_t boxes = THNN_convolutionBoxCount(&common.plan.boxes), parts = common.plan.parts;
  const int threads = plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    PointwiseWorker worker = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&worker, &own);
    if (parts == 1) {
      if (packs)
#pragma omp for schedule(static)
        for (int64_t panel = 0; panel < panels; panel++)
          packPanels(&worker, panel, panel + 1);
#pragma omp for schedule(static) nowait
      for (int64_t box = 0; box < boxes; box++)
        runBox(&worker, box, 0, panels);
    } else {
#pragma omp for schedule(static) nowait
      for (int64_t part = 0; part < parts; part++) {
        const int64_t begin = panels * part / parts, end = panels * (part + 1) / parts;
        if (packs)
          packPanels(&worker, begin, end);
        for (int64_t box = 0; box < boxes; box++)
          runBox(&worker, box, begin, end);
      }
    }
  }
  return true;
}
