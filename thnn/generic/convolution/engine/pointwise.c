/* Direct convolution with one tap, forward with any stride and backward without: a product of the
 * weights with the planes, as in direct.c. But each source element is used only once for each
 * result plane, and every panel would fetch it again, from planes that are far apart in memory.
 *
 * So the weights of all panels are packed once, by all threads, and a task is a box of positions
 * for all panels, whose source it packs first: [group of planes][chunk of
 * positions][plane][position]. What a tile of products reads is then contiguous and stays in the
 * first-level cache.
 *
 * With many weights for few positions, handing packed weights to another thread takes longer than
 * the products: then a task is a part of the panels for all boxes. */
#include "generic/template.h"

#include "generic/convolution/engine/algorithm.h"

/* Most bytes of packed weights, which stay in a last-level cache. */
static const int64_t WEIGHT_BYTES = 3 << 20;
/* Most bytes of the packed source of a box, which stays in the second-level cache beside its sums
 * for one panel. */
static const int64_t SOURCE_BYTES = 512 << 10;
static const int64_t MOST_POSITIONS = 256;
/* With fewer positions in a box, storing its results takes too much of the time. */
static const int64_t WORTHWHILE_POSITIONS = 24;
/* Most planes of a group and positions of a chunk, which are added at a time: their elements stay
 * in the first-level cache. */
static const int64_t GROUP_PLANES = 512 / sizeof(real);
static const int64_t CHUNK_POSITIONS = 24;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct Worker {
  const THNNConvolutionPlan *plan;
  Sides sides;
  const real *source, *weight, *bias;
  real *result;
  real *weights; /* [panel][source plane][lane] */

  real *packed; /* source: [group][chunk][plane][position] */
  real *line;   /* positions of one plane, if they are not contiguous in memory */
  real *start;  /* [lane]: the bias */
  real *sums;   /* [position][lane] */
  THNNOffsets *row, *term;
} Worker;

/* ---- Planning -------------------------------------------------------------------------------- */

/* Number of lanes of all panels together. */
static int64_t allLanes(int64_t planes)
{
  return roundUp(planes, productsFor(planes)->lanes);
}

static int64_t chunkCount(const THNNConvolutionPlan *plan)
{
  return divideUp(THNN_convolutionBoxPositions(&plan->onePoint.boxes), plan->onePoint.chunk);
}

/* The total cost: products, packing both operands, and storing. */
static double onePointCost(const THNNConvolutionPlan *plan)
{
  const Sides sides = sidesOf(plan);
  const double perPosition =
      sides.sourcePlanes * (vectorsCost(sides.resultPlanes) + 0.08 * sizeof(real)) +
      11 * divideUp(sides.resultPlanes, THNN_(simd).products.lanes);
  const bool gathers = isForward(plan) && !THNN_convolutionIsPointwise(&plan->geometry);
  const double lines = (double)sides.result[0] * (double)sides.result[1];
  return (double)plan->geometry.batch * sides.resultPositions * perPosition +
         (gathers ? 45 * (double)plan->geometry.batch * sides.sourcePlanes * lines : 0) +
         0.9 * weightElements(&plan->geometry);
}

/* Divides boxes among threads; or panels, if handing over the weights costs more than packing the
 * source in each thread; or takes one thread, if panels cannot be divided evenly. */
static void chooseParts(THNNConvolutionPlan *plan, int64_t planes, int64_t positions)
{
  const int64_t panels = panelCount(planes), threads = plan->threads;
  const bool even = panels % threads == 0 || panels >= 4 * threads;
  plan->onePoint.parts = even && positions < 4 * planes ? threads : 1;
  if (!even && positions < planes)
    plan->threads = 1;
}

bool THNN_(ConvolutionDirectPointwise_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  const Sides sides = sidesOf(plan);
  const int64_t planes = sides.sourcePlanes, results = sides.resultPlanes;
  const int64_t size = (int64_t)sizeof(real);
  if (!THNN_convolutionHasOneTap(geometry, plan->part))
    return false;
  THNNConvolutionPlan direct = *plan;
  const int64_t room = minimum(SOURCE_BYTES, limitBytes / 4) / (planes * size);
  const int64_t all = geometry->batch * sides.resultPositions;
  const int64_t share = divideUp(all, 2 * ENOUGH_BLOCKS);
  const int64_t most = minimum(minimum(room, MOST_POSITIONS), maximum(share, WORTHWHILE_POSITIONS));
  if (most < WORTHWHILE_POSITIONS)
    return false;
  direct.onePoint.boxes = THNN_convolutionBoxes(geometry->batch, sides.result, 1, most);
  const int64_t box = THNN_convolutionBoxPositions(&direct.onePoint.boxes);
  direct.onePoint.chunk = divideUp(box, divideUp(box, CHUNK_POSITIONS));

  const int64_t weightBytes = scratchBytes(planes * allLanes(results), sizeof(real));
  const int64_t lanes = mostPanelLanes(results);
  const int64_t threadBytes =
      scratchBytes(roundUp(planes, GROUP_PLANES) * chunkCount(&direct) * direct.onePoint.chunk,
                   sizeof(real)) +
      scratchBytes(box + productsFor(results)->lanes, sizeof(real)) +
      scratchBytes(lanes, sizeof(real)) + scratchBytes(box * lanes, sizeof(real)) +
      scratchBytes(CHUNK_POSITIONS, sizeof(THNNOffsets)) +
      scratchBytes(GROUP_PLANES, sizeof(THNNOffsets));
  if (weightBytes > WEIGHT_BYTES || weightBytes + threadBytes > limitBytes)
    return false;
  direct.algorithm = THNN_CONVOLUTION_DIRECT;
  direct.variant = THNN_CONVOLUTION_ONE_POINT;
  direct.cost = onePointCost(plan);
  direct.threads = THNN_threads(state, THNN_convolutionBoxCount(&direct.onePoint.boxes),
                                convolutionOperations(geometry));
  chooseParts(&direct, results, all);
  direct.sharedBytes = (size_t)weightBytes;
  direct.threadBytes = (size_t)threadBytes;
  direct.scratchBytes = direct.sharedBytes + direct.threadBytes * (size_t)direct.threads;
  *plan = direct;
  return true;
}

/* ---- Packing --------------------------------------------------------------------------------- */

static real *weightsOf(const Worker *worker, const Panel *panel)
{
  return worker->weights + worker->sides.sourcePlanes * panel->first;
}

/* Packs a panel's weights. Lanes without a plane hold zeros. */
static void packWeights(const Worker *worker, const Panel *panel)
{
  const int64_t planes = worker->sides.sourcePlanes;
  real *weights = weightsOf(worker, panel);
  if (isForward(worker->plan)) {
    panel->loops->pack(panel->planes, planes, worker->weight + panel->first * planes, planes,
                       weights, panel->lanes);
    return;
  }
  for (int64_t plane = 0; plane < planes; plane++) {
    real *lanes = weights + plane * panel->lanes;
    THNN_(simd).pointwise.copy(
        panel->planes, worker->weight + plane * worker->sides.resultPlanes + panel->first, lanes);
    THNN_(simd).pointwise.fill(panel->lanes - panel->planes, 0, lanes + panel->planes);
  }
}

static real *packedGroup(const Worker *worker, int64_t firstPlane)
{
  return worker->packed + firstPlane * chunkCount(worker->plan) * worker->plan->onePoint.chunk;
}

/* Packs a stretch of `n` positions, the first of which is number `first` in the box, for `planes`
 * planes from number `plane`. `x` is the stretch in the first plane, `stride` the distance to the
 * next one. */
static void packStretch(const Worker *worker, int64_t plane, int64_t planes, int64_t first,
                        int64_t n, const real *x, int64_t stride)
{
  const int64_t length = worker->plan->onePoint.chunk;
  for (int64_t end = plane + planes; plane < end;) {
    const int64_t inGroup = plane % GROUP_PLANES;
    const int64_t count = minimum(GROUP_PLANES - inGroup, end - plane);
    const THNN_(Chunks) chunks = {.planes = count,
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
static void packApart(const Worker *worker, const THNNConvolutionBox *box, int64_t first,
                      const real *sample, int64_t z)
{
  const THNNConvolution *geometry = &worker->plan->geometry;
  const int64_t *stride = geometry->stride, *input = geometry->input;
  const int64_t height = box->end[THNN_HEIGHT] - box->first[THNN_HEIGHT];
  const int64_t width = box->end[THNN_WIDTH] - box->first[THNN_WIDTH];
  const int64_t line = z * stride[0] * input[1] + box->first[THNN_HEIGHT] * stride[1];
  for (int64_t plane = 0; plane < worker->sides.sourcePlanes; plane++) {
    const THNN_(Frame) lines = {.rows = height,
                                .count = width,
                                .x = sample + plane * worker->sides.sourcePositions +
                                     line * input[2] + box->first[THNN_WIDTH] * stride[2],
                                .xStride = stride[1] * input[2],
                                .step = stride[2],
                                .y = worker->line,
                                .yStride = width};
    THNN_(simd).shifts.frame(&lines);
    packStretch(worker, plane, 1, first, height * width, worker->line, 0);
  }
}

static void packSource(const Worker *worker, const THNNConvolutionBox *box)
{
  const THNNConvolutionBoxes *boxes = &worker->plan->onePoint.boxes;
  const int64_t slice = (box->end[THNN_HEIGHT] - box->first[THNN_HEIGHT]) *
                        (box->end[THNN_WIDTH] - box->first[THNN_WIDTH]);
  const bool pointwise = THNN_convolutionIsPointwise(&worker->plan->geometry);
  int64_t first = 0;
  for (int64_t n = box->first[THNN_SAMPLE]; n < box->end[THNN_SAMPLE]; n++) {
    const real *sample =
        worker->source + n * worker->sides.sourcePlanes * worker->sides.sourcePositions;
    for (int64_t stretch = 0; pointwise && stretch < box->stretches; stretch++) {
      packStretch(worker, 0, worker->sides.sourcePlanes, first, box->stretch,
                  sample + THNN_convolutionStretch(boxes, box, stretch),
                  worker->sides.sourcePositions);
      first += box->stretch;
    }
    for (int64_t z = box->first[THNN_DEPTH]; !pointwise && z < box->end[THNN_DEPTH]; z++) {
      packApart(worker, box, first, sample, z);
      first += slice;
    }
  }
}

/* ---- One task -------------------------------------------------------------------------------- */

/* Prefetches the places of a panel's results, in turn `turn` of `turns` turns. */
static void fetchResults(const Worker *worker, const Panel *panel, const THNNConvolutionBox *box,
                         int64_t turn, int64_t turns)
{
  const THNNConvolutionBoxes *boxes = &worker->plan->onePoint.boxes;
  const int64_t first = panel->first + panel->planes * turn / turns;
  const int64_t end = panel->first + panel->planes * (turn + 1) / turns;
  for (int64_t n = box->first[THNN_SAMPLE]; n < box->end[THNN_SAMPLE]; n++)
    for (int64_t plane = first; plane < end; plane++)
      for (int64_t stretch = 0; stretch < box->stretches; stretch++)
        THNN_(simd).products.prefetch(box->stretch,
                                      worker->result +
                                          (n * worker->sides.resultPlanes + plane) *
                                              worker->sides.resultPositions +
                                          THNN_convolutionStretch(boxes, box, stretch));
}

/* Computes the panel's sums for a box, whose source is packed. */
static void addPanel(const Worker *worker, const Panel *panel, const THNNConvolutionBox *box)
{
  const int64_t length = worker->plan->onePoint.chunk, planes = worker->sides.sourcePlanes;
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
      const THNN_(Products)
          products = {.row = worker->row,
                      .rows = minimum(length, box->positions - position),
                      .term = worker->term,
                      .terms = minimum(GROUP_PLANES, planes - plane),
                      .vectors = panel->vectors,
                      .scalars = packedGroup(worker, plane) + position * GROUP_PLANES,
                      .factors = weightsOf(worker, panel) + plane * panel->lanes,
                      .start = plane == 0 ? worker->start : NULL,
                      .sums = worker->sums + position * panel->lanes};
      fetchResults(worker, panel, box, turn++, turns);
      panel->loops->add(&products);
    }
}

static void takeWorkerScratch(Worker *worker, char *scratch)
{
  const THNNConvolutionOnePoint *plan = &worker->plan->onePoint;
  const int64_t box = THNN_convolutionBoxPositions(&plan->boxes);
  const int64_t lanes = mostPanelLanes(worker->sides.resultPlanes);
  worker->packed = takeScratch(&scratch,
                               roundUp(worker->sides.sourcePlanes, GROUP_PLANES) *
                                   chunkCount(worker->plan) * plan->chunk,
                               sizeof(real));
  worker->line =
      takeScratch(&scratch, box + productsFor(worker->sides.resultPlanes)->lanes, sizeof(real));
  worker->start = takeScratch(&scratch, lanes, sizeof(real));
  worker->sums = takeScratch(&scratch, box * lanes, sizeof(real));
  worker->row = takeScratch(&scratch, CHUNK_POSITIONS, sizeof(THNNOffsets));
  worker->term = takeScratch(&scratch, GROUP_PLANES, sizeof(THNNOffsets));
}

/* Packs the weights of panels [begin, end). */
static void packPanels(const Worker *worker, int64_t begin, int64_t end)
{
  for (int64_t index = begin; index < end; index++) {
    const Panel panel = panelAt(worker->sides.resultPlanes, index);
    packWeights(worker, &panel);
  }
}

/* Computes a box for panels [begin, end), whose weights are packed. */
static void runBox(const Worker *worker, int64_t boxIndex, int64_t begin, int64_t end)
{
  const THNNConvolutionBoxes *boxes = &worker->plan->onePoint.boxes;
  const THNNConvolutionBox box = THNN_convolutionBox(boxes, boxIndex);
  packSource(worker, &box);
  for (int64_t index = begin; index < end; index++) {
    const Panel panel = panelAt(worker->sides.resultPlanes, index);
    addPanel(worker, &panel, &box);
    storeBox(boxes, &box, &panel, worker->sums, worker->result, worker->sides.resultPlanes,
             worker->sides.resultPositions);
  }
}

void THNN_(ConvolutionDirectPointwise_run)(const THNNConvolutionPlan *plan, const real *source,
                                           const real *weight, const real *bias, real *result,
                                           void *scratch)
{
  const Worker common = {.plan = plan,
                         .sides = sidesOf(plan),
                         .source = source,
                         .weight = weight,
                         .bias = bias,
                         .result = result,
                         .weights = scratch};
  const int64_t panels = panelCount(common.sides.resultPlanes);
  const int64_t boxes = THNN_convolutionBoxCount(&plan->onePoint.boxes);
  const int64_t parts = plan->onePoint.parts;
  const int threads = plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Worker worker = common;
    takeWorkerScratch(&worker, threadScratch(plan, scratch));
    if (parts == 1) {
#pragma omp for schedule(static)
      for (int64_t panel = 0; panel < panels; panel++)
        packPanels(&worker, panel, panel + 1);
#pragma omp for schedule(static)
      for (int64_t box = 0; box < boxes; box++)
        runBox(&worker, box, 0, panels);
    } else {
#pragma omp for schedule(static)
      for (int64_t part = 0; part < parts; part++) {
        const int64_t begin = panels * part / parts, end = panels * (part + 1) / parts;
        packPanels(&worker, begin, end);
        for (int64_t box = 0; box < boxes; box++)
          runBox(&worker, box, begin, end);
      }
    }
  }
}
