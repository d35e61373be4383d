/* Direct convolution: the map from the image, and the image gradient from the map gradient.
 *
 * Both are one computation: a result is a sum over source planes and taps of a source element times
 * a weight. A vector holds the results of neighbouring planes at one position; the source element
 * is one scalar for all of them, read where it lies. So nothing is unfolded or padded: stride,
 * dilation and transposition only change which scalars are read, and positions near an edge have
 * fewer terms. No product with padding is ever formed.
 *
 * Along each dimension results fall into runs that see the same taps (THNN_convolutionRuns); a run
 * per dimension makes a class of positions that share one list of terms.
 *
 * A task is a box of positions times a panel of planes. Its weights are packed as
 * [source plane][tap][lane]; its sums are kept as [position][lane], start from the bias and are
 * transposed into the result at the end. */
#include "template.h"

#include "ConvolutionParts.h"

/* Sums of one task; with the weights of one list of terms they stay in a second-level cache. */
static const int64_t SUM_BYTES = 96 << 10;
/* Packed weights, which a thread keeps from task to task where all source planes fit. */
static const int64_t WEIGHT_BYTES = 3 << 20;
/* Terms listed at a time, unless one plane has more. */
static const int64_t LISTED_TERMS = 256;
/* With fewer positions to a task, packing the weights takes too much of its time. */
static const int64_t WORTHWHILE_POSITIONS = 48;

/* The computation as it is seen here, whichever part it is. */
typedef struct Sides {
  int64_t sourcePlanes, resultPlanes;
  int64_t source[3], result[3];
  int64_t sourcePositions, resultPositions;
} Sides;

static Sides sidesOf(const THNNConvolutionPlan *plan)
{
  const THNNConvolution *geometry = &plan->geometry;
  const bool forward = plan->part == THNN_CONVOLUTION_FORWARD;
  Sides sides = {.sourcePositions = 1, .resultPositions = 1};
  sides.sourcePlanes = forward ? geometry->inputPlanes : geometry->outputPlanes;
  sides.resultPlanes = forward ? geometry->outputPlanes : geometry->inputPlanes;
  for (int i = 0; i < 3; i++) {
    sides.source[i] = forward ? geometry->input[i] : geometry->output[i];
    sides.result[i] = forward ? geometry->output[i] : geometry->input[i];
    sides.sourcePositions *= sides.source[i];
    sides.resultPositions *= sides.result[i];
  }
  return sides;
}

/* ---- Planning -------------------------------------------------------------------------------- */

bool THNN_(ConvolutionDirect_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  const Sides sides = sidesOf(plan);
  const int64_t taps = THNN_convolutionTaps(geometry), panels = panelCount(sides.resultPlanes);
  THNNConvolutionGather gather = {.panelLanes = mostPanelLanes(sides.resultPlanes)};

  const int64_t vectorBytes = gather.panelLanes * (int64_t)sizeof(real);
  const int64_t weightBytes = minimum(WEIGHT_BYTES, limitBytes / 2);
  gather.blockPlanes = minimum(weightBytes / vectorBytes / taps, sides.sourcePlanes);
  gather.listedPlanes = minimum(maximum(LISTED_TERMS / taps, 1), sides.sourcePlanes);
  const int64_t share = divideUp(geometry->batch * sides.resultPositions * panels, ENOUGH_BLOCKS);
  const int64_t room = minimum(SUM_BYTES, limitBytes / 4) / vectorBytes;
  gather.boxes = THNN_convolutionBoxes(geometry->batch, sides.result,
                                       minimum(maximum(share, WORTHWHILE_POSITIONS), room));

  const int64_t positions = THNN_convolutionBoxPositions(&gather.boxes);
  int64_t sharedBytes = 0;
  for (int i = 0; i < 3; i++) {
    gather.runs[i] = THNN_convolutionRuns(geometry, plan->part, i, NULL, 0);
    sharedBytes += scratchBytes(gather.runs[i], sizeof(THNNConvolutionRun));
  }
  const int64_t threadBytes =
      scratchBytes(gather.blockPlanes * taps * gather.panelLanes, sizeof(real)) +
      scratchBytes(positions * gather.panelLanes, sizeof(real)) +
      scratchBytes(positions, sizeof(THNNOffsets)) +
      scratchBytes(gather.listedPlanes * taps, sizeof(THNNOffsets));
  if (gather.blockPlanes < 1 || threadBytes + sharedBytes > limitBytes)
    return false;

  const int64_t tasks = THNN_convolutionBoxCount(&gather.boxes) * panels;
  plan->algorithm = THNN_CONVOLUTION_DIRECT;
  plan->gather = gather;
  plan->threads = THNN_threads(state, tasks, convolutionOperations(geometry));
  plan->sharedBytes = (size_t)sharedBytes;
  plan->threadBytes = (size_t)threadBytes;
  plan->scratchBytes = plan->sharedBytes + plan->threadBytes * (size_t)plan->threads;
  return true;
}

/* ---- One task -------------------------------------------------------------------------------- */

/* What a thread works with. */
typedef struct Worker {
  const THNNConvolutionPlan *plan;
  Sides sides;
  int64_t taps;
  const THNNConvolutionRun *runs[3];
  const real *source, *weight, *bias;
  real *result;

  real *weights;         /* packed: [source plane of the block][tap][lane] */
  int64_t packed;        /* the panel whose weights are packed for all source planes, or -1 */
  real *sums;            /* [position of the box][lane] */
  THNNOffsets *position; /* source element and sum of each position of a class */
  THNNOffsets *term;     /* source element and packed weight of each term of a class */
} Worker;

/* Packs the panel's weights for source planes [first, end). Lanes without a plane hold zeros. */
static void packWeights(Worker *worker, const Panel *panel, int64_t first, int64_t end)
{
  const THNNConvolution *geometry = &worker->plan->geometry;
  const int64_t taps = worker->taps;
  if (panel->planes < panel->lanes)
    THNN_(simd).pointwise.fill((end - first) * taps * panel->lanes, 0, worker->weights);
  if (worker->plan->part == THNN_CONVOLUTION_FORWARD) {
    const int64_t stride = geometry->inputPlanes * taps;
    THNN_(simd).products.transpose(panel->planes, (end - first) * taps,
                                   worker->weight + panel->first * stride + first * taps, stride,
                                   worker->weights, panel->lanes);
    return;
  }
  for (int64_t plane = first; plane < end; plane++)
    THNN_(simd).products.transpose(
        panel->planes, taps, worker->weight + (plane * geometry->inputPlanes + panel->first) * taps,
        taps, worker->weights + (plane - first) * taps * panel->lanes, panel->lanes);
}

/* Every position starts from the bias. */
static void startSums(Worker *worker, const Panel *panel, int64_t positions)
{
  THNN_(simd).pointwise.fill(positions * panel->lanes, 0, worker->sums);
  if (!worker->bias)
    return;
  for (int64_t position = 0; position < positions; position++)
    THNN_(simd).pointwise.copy(panel->planes, worker->bias + panel->first,
                               worker->sums + position * panel->lanes);
}

static int64_t boxSize(const THNNConvolutionBox *box, int dimension)
{
  return box->end[dimension] - box->first[dimension];
}

/* The results of a run that lie in [first, end). */
static THNNConvolutionRun clipRun(const THNNConvolutionRun *run, int64_t first, int64_t end)
{
  const int64_t skipped =
      first > run->first ? minimum(divideUp(first - run->first, run->step), run->results) : 0;
  THNNConvolutionRun clipped = *run;
  clipped.first += skipped * run->step;
  clipped.source += skipped * run->sourceStep;
  clipped.results -= skipped;
  const int64_t left = end > clipped.first ? divideUp(end - clipped.first, run->step) : 0;
  clipped.results = minimum(clipped.results, left);
  return clipped;
}

/* Lists the positions of a class in the box: its lines along the width are evenly spaced in the
 * source as well as in the sums. Returns their number. */
static int64_t listPositions(Worker *worker, const Panel *panel, const THNNConvolutionBox *box,
                             const THNNConvolutionRun *run)
{
  const int64_t *source = worker->sides.source;
  const THNNOffsets step = {run[2].sourceStep, run[2].step * panel->lanes};
  int64_t count = 0;
  for (int64_t n = 0; n < boxSize(box, THNN_SAMPLE); n++)
    for (int64_t z = 0; z < run[0].results; z++)
      for (int64_t y = 0; y < run[1].results; y++) {
        const int64_t sourceSample = (box->first[THNN_SAMPLE] + n) * worker->sides.sourcePlanes *
                                     worker->sides.sourcePositions;
        const int64_t sourceZ = run[0].source + z * run[0].sourceStep;
        const int64_t sourceY = run[1].source + y * run[1].sourceStep;
        const int64_t sumZ = run[0].first + z * run[0].step - box->first[THNN_DEPTH];
        const int64_t sumY = run[1].first + y * run[1].step - box->first[THNN_HEIGHT];
        const int64_t sumLine =
            (n * boxSize(box, THNN_DEPTH) + sumZ) * boxSize(box, THNN_HEIGHT) + sumY;
        const int64_t sum =
            sumLine * boxSize(box, THNN_WIDTH) + run[2].first - box->first[THNN_WIDTH];
        const THNNOffsets first = {sourceSample + (sourceZ * source[1] + sourceY) * source[2] +
                                       run[2].source,
                                   sum * panel->lanes};
        THNN_(simd).products.listOffsets(run[2].results, first, step, worker->position + count);
        count += run[2].results;
      }
  return count;
}

/* Lists the terms of a class for the first few source planes: plane slowest, then taps. */
static void listTerms(Worker *worker, const Panel *panel, const THNNConvolutionRun *run)
{
  const int64_t *source = worker->sides.source, *kernel = worker->plan->geometry.kernel;
  const THNNOffsets step = {run[2].tapSourceStep, run[2].tapStep * panel->lanes};
  THNNOffsets *term = worker->term;
  for (int64_t plane = 0; plane < worker->plan->gather.listedPlanes; plane++)
    for (int64_t z = 0; z < run[0].taps; z++)
      for (int64_t y = 0; y < run[1].taps; y++) {
        const int64_t tapZ = run[0].firstTap + z * run[0].tapStep;
        const int64_t tapY = run[1].firstTap + y * run[1].tapStep;
        const int64_t tap = (tapZ * kernel[1] + tapY) * kernel[2] + run[2].firstTap;
        const THNNOffsets first = {
            plane * worker->sides.sourcePositions +
                (z * run[0].tapSourceStep * source[1] + y * run[1].tapSourceStep) * source[2],
            (plane * worker->taps + tap) * panel->lanes};
        THNN_(simd).products.listOffsets(run[2].taps, first, step, term);
        term += run[2].taps;
      }
}

/* Adds the terms of source planes [first, end), whose weights are packed, to a class of positions. */
static void addClass(Worker *worker, const Panel *panel, const THNNConvolutionBox *box,
                     const THNNConvolutionRun *run, int64_t first, int64_t end)
{
  const int64_t taps = run[0].taps * run[1].taps * run[2].taps;
  const int64_t results = run[0].results * run[1].results * run[2].results;
  const int64_t listed = worker->plan->gather.listedPlanes;
  if (taps == 0 || results == 0)
    return;
  THNN_(Products)
  products = {.row = worker->position,
              .rows = listPositions(worker, panel, box, run),
              .term = worker->term,
              .vectors = panel->vectors,
              .sums = worker->sums};
  listTerms(worker, panel, run);
  for (int64_t plane = first; plane < end; plane += listed) {
    products.terms = minimum(listed, end - plane) * taps;
    products.scalars = worker->source + plane * worker->sides.sourcePositions;
    products.factors = worker->weights + (plane - first) * worker->taps * panel->lanes;
    THNN_(simd).products.add(&products);
  }
}

static void addClasses(Worker *worker, const Panel *panel, const THNNConvolutionBox *box,
                       int64_t first, int64_t end)
{
  const int64_t *runs = worker->plan->gather.runs;
  THNNConvolutionRun run[3];
  for (int64_t z = 0; z < runs[0]; z++) {
    run[0] = clipRun(&worker->runs[0][z], box->first[THNN_DEPTH], box->end[THNN_DEPTH]);
    for (int64_t y = 0; y < runs[1]; y++) {
      run[1] = clipRun(&worker->runs[1][y], box->first[THNN_HEIGHT], box->end[THNN_HEIGHT]);
      for (int64_t x = 0; x < runs[2]; x++) {
        run[2] = clipRun(&worker->runs[2][x], box->first[THNN_WIDTH], box->end[THNN_WIDTH]);
        addClass(worker, panel, box, run, first, end);
      }
    }
  }
}

/* Transposes the sums into the result, a contiguous stretch at a time. */
static void storeSums(Worker *worker, const Panel *panel, const THNNConvolutionBox *box)
{
  const THNNConvolutionBoxes *boxes = &worker->plan->gather.boxes;
  const int64_t positions = worker->sides.resultPositions;
  const real *sums = worker->sums;
  for (int64_t sample = box->first[THNN_SAMPLE]; sample < box->end[THNN_SAMPLE]; sample++) {
    real *planes =
        worker->result + (sample * worker->sides.resultPlanes + panel->first) * positions;
    for (int64_t stretch = 0; stretch < box->stretches; stretch++) {
      THNN_(simd).products.transpose(box->stretch, panel->planes, sums, panel->lanes,
                                     planes + THNN_convolutionStretch(boxes, box, stretch),
                                     positions);
      sums += box->stretch * panel->lanes;
    }
  }
}

/* Tasks go panel by panel, so that a thread packs the weights of few panels. */
static void runTask(Worker *worker, int64_t task)
{
  const THNNConvolutionGather *gather = &worker->plan->gather;
  const int64_t boxes = THNN_convolutionBoxCount(&gather->boxes), index = task / boxes;
  const int64_t planes = worker->sides.sourcePlanes, block = gather->blockPlanes;
  const Panel panel = panelAt(worker->sides.resultPlanes, index);
  const THNNConvolutionBox box = THNN_convolutionBox(&gather->boxes, task % boxes);
  startSums(worker, &panel, box.positions);
  for (int64_t first = 0; first < planes; first += block) {
    const int64_t end = minimum(first + block, planes);
    if (worker->packed != index)
      packWeights(worker, &panel, first, end);
    worker->packed = block >= planes ? index : -1;
    addClasses(worker, &panel, &box, first, end);
  }
  storeSums(worker, &panel, &box);
}

/* Fills the shared part of the scratch block. */
static void listRuns(const THNNConvolutionPlan *plan, char *scratch, Worker *worker)
{
  for (int i = 0; i < 3; i++) {
    THNNConvolutionRun *run =
        takeScratch(&scratch, plan->gather.runs[i], sizeof(THNNConvolutionRun));
    THNN_convolutionRuns(&plan->geometry, plan->part, i, run, plan->gather.runs[i]);
    worker->runs[i] = run;
  }
}

static void takeWorkerScratch(Worker *worker, char *scratch)
{
  const THNNConvolutionGather *gather = &worker->plan->gather;
  const int64_t positions = THNN_convolutionBoxPositions(&gather->boxes);
  worker->weights =
      takeScratch(&scratch, gather->blockPlanes * worker->taps * gather->panelLanes, sizeof(real));
  worker->sums = takeScratch(&scratch, positions * gather->panelLanes, sizeof(real));
  worker->position = takeScratch(&scratch, positions, sizeof(THNNOffsets));
  worker->term = takeScratch(&scratch, gather->listedPlanes * worker->taps, sizeof(THNNOffsets));
}

void THNN_(ConvolutionDirect_run)(const THNNConvolutionPlan *plan, const real *source,
                                  const real *weight, const real *bias, real *result, void *scratch)
{
  Worker common = {.plan = plan,
                   .sides = sidesOf(plan),
                   .taps = THNN_convolutionTaps(&plan->geometry),
                   .source = source,
                   .weight = weight,
                   .bias = bias,
                   .result = result,
                   .packed = -1};
  const int64_t tasks =
      THNN_convolutionBoxCount(&plan->gather.boxes) * panelCount(common.sides.resultPlanes);
  listRuns(plan, scratch, &common);
#pragma omp parallel num_threads(plan->threads) if (plan -> threads > 1)
  {
    Worker worker = common;
    takeWorkerScratch(&worker, threadScratch(plan, scratch));
#pragma omp for schedule(dynamic)
    for (int64_t task = 0; task < tasks; task++)
      runTask(&worker, task);
  }
}
