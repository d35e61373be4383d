/* Direct convolution's weight gradient: for each map plane, image plane and tap the sum over batch
 * and positions of map gradient times image.
 *
 * A vector holds the map gradients of neighbouring planes at one position, which takes a transposed
 * copy [position][lane]; the image element is one scalar for all of them, read where it lies. The
 * terms of a sum are the map positions that see inside the image through the tap, so nothing is
 * unfolded or padded.
 *
 * Positions are gone through box by box, a group of boxes at a time: the group's gradients are
 * transposed by all threads, then each task adds the whole group to weights that are its own. A
 * task is a panel of map planes times a block of image planes and taps, summed up as
 * [image plane][tap][lane]. */
#include "template.h"

#include "ConvolutionParts.h"

/* Positions of a box: one register sum each. */
static const int64_t BOX_POSITIONS = 256;
/* The transposed gradients of a group stay in the last-level cache. */
static const int64_t GROUP_BYTES = 4 << 20;
/* The sums of a task stay in the second-level cache. */
static const int64_t TASK_BYTES = 256 << 10;
/* A task reads all gradients; with few image planes it would do little else. */
static const int64_t WORTHWHILE_PLANES = 32;
static const int64_t FEWEST_PLANES = 8;

/* What all threads work with, and below what each has to itself. */
typedef struct Correlation {
  const THNNConvolutionPlan *plan;
  int64_t taps, boxPositions;
  const real *image, *gradMap;
  real scale;
  real *gradWeight;
  real *transposed; /* the group's gradients: [panel][box][position][lane] */

  real *sums;           /* [image plane][tap][lane] of the task */
  real *transposedSums; /* [lane][image plane][tap] */
  THNNOffsets *plane;   /* image plane and sums of each plane of the task */
  THNNOffsets *term;    /* image element and gradients of each position */
} Correlation;

/* Planes [planeFirst, planeEnd) and taps [tapFirst, tapEnd). */
typedef struct Block {
  int64_t planeFirst, planeEnd, tapFirst, tapEnd;
} Block;

/* ---- Planning -------------------------------------------------------------------------------- */

/* Cuts planes and taps into blocks whose sums fit `rowsInCache`, enough of them for threads. */
static void chooseBlocks(THNNConvolutionCorrelate *correlate, int64_t planes, int64_t taps,
                         int64_t panels, int64_t rowsInCache)
{
  correlate->planeBlocks = divideUp(planes, WORTHWHILE_PLANES);
  const int64_t wanted = divideUp(2 * ENOUGH_BLOCKS, panels * correlate->planeBlocks);
  const int64_t blockPlanes = divideUp(planes, correlate->planeBlocks);
  const int64_t needed = divideUp(blockPlanes * taps, rowsInCache);
  correlate->tapBlocks = minimum(taps, maximum(wanted, needed));

  const int64_t wantedPlaneBlocks = divideUp(ENOUGH_BLOCKS, panels * correlate->tapBlocks);
  const int64_t mostPlaneBlocks = divideUp(planes, FEWEST_PLANES);
  correlate->planeBlocks =
      maximum(correlate->planeBlocks, minimum(wantedPlaneBlocks, mostPlaneBlocks));
}

static int64_t taskRows(const THNNConvolutionCorrelate *correlate, int64_t planes, int64_t taps)
{
  return divideUp(planes, correlate->planeBlocks) * divideUp(taps, correlate->tapBlocks);
}

bool THNN_(ConvolutionDirectWeight_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  const int64_t taps = THNN_convolutionTaps(geometry), panels = panelCount(geometry->outputPlanes);
  THNNConvolutionCorrelate correlate = {.panelLanes = mostPanelLanes(geometry->outputPlanes)};
  const int64_t vectorBytes = correlate.panelLanes * (int64_t)sizeof(real);

  const int64_t groupBytes = minimum(GROUP_BYTES, limitBytes / 2);
  const int64_t room = groupBytes / (vectorBytes * panels);
  correlate.boxes = THNN_convolutionBoxes(geometry->batch, geometry->output,
                                          maximum(minimum(BOX_POSITIONS, room), 1));
  const int64_t positions = THNN_convolutionBoxPositions(&correlate.boxes);
  correlate.groupBoxes =
      minimum(maximum(room / positions, 1), THNN_convolutionBoxCount(&correlate.boxes));
  chooseBlocks(&correlate, geometry->inputPlanes, taps, panels,
               maximum(minimum(TASK_BYTES, limitBytes / 8) / vectorBytes, 1));

  const int64_t rows = taskRows(&correlate, geometry->inputPlanes, taps);
  const int64_t sharedBytes =
      scratchBytes(panels * correlate.groupBoxes * positions * correlate.panelLanes, sizeof(real));
  const int64_t threadBytes =
      2 * scratchBytes(rows * correlate.panelLanes, sizeof(real)) +
      scratchBytes(divideUp(geometry->inputPlanes, correlate.planeBlocks), sizeof(THNNOffsets)) +
      scratchBytes(positions, sizeof(THNNOffsets));
  if (room < 1 || sharedBytes + threadBytes > limitBytes)
    return false;

  const int64_t tasks = panels * correlate.planeBlocks * correlate.tapBlocks;
  plan->algorithm = THNN_CONVOLUTION_DIRECT;
  plan->correlate = correlate;
  plan->threads = THNN_threads(state, tasks, convolutionOperations(geometry));
  plan->sharedBytes = (size_t)sharedBytes;
  plan->threadBytes = (size_t)threadBytes;
  plan->scratchBytes = plan->sharedBytes + plan->threadBytes * (size_t)plan->threads;
  return true;
}

/* ---- Transposing a group --------------------------------------------------------------------- */

/* Where a panel's gradients of a box of the group are kept. */
static real *transposedBox(const Correlation *correlation, int64_t panel, int64_t box)
{
  const THNNConvolutionCorrelate *correlate = &correlation->plan->correlate;
  return correlation->transposed +
         (panel * correlate->groupBoxes + box) * correlation->boxPositions * correlate->panelLanes;
}

/* Transposes a panel's gradients of one box. Lanes without a plane hold zeros. */
static void transposeBox(const Correlation *correlation, int64_t panelIndex, int64_t boxIndex,
                         real *transposed)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const THNNConvolutionBoxes *boxes = &correlation->plan->correlate.boxes;
  const THNNConvolutionBox box = THNN_convolutionBox(boxes, boxIndex);
  const Panel panel = panelAt(geometry->outputPlanes, panelIndex);
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  if (panel.planes < panel.lanes)
    THNN_(simd).pointwise.fill(box.positions * panel.lanes, 0, transposed);
  for (int64_t sample = box.first[THNN_SAMPLE]; sample < box.end[THNN_SAMPLE]; sample++) {
    const real *planes =
        correlation->gradMap + (sample * geometry->outputPlanes + panel.first) * positions;
    for (int64_t stretch = 0; stretch < box.stretches; stretch++) {
      THNN_(simd).products.transpose(panel.planes, box.stretch,
                                     planes + THNN_convolutionStretch(boxes, &box, stretch),
                                     positions, transposed, panel.lanes);
      transposed += box.stretch * panel.lanes;
    }
  }
}

/* ---- One task -------------------------------------------------------------------------------- */

/* The part of a tap's positions that lies in the box, along one dimension. */
static THNNConvolutionTap clipTap(THNNConvolutionTap tap, const THNNConvolutionBox *box,
                                  int dimension)
{
  tap.begin = maximum(tap.begin, box->first[THNN_DEPTH + dimension]);
  tap.end = maximum(tap.begin, minimum(tap.end, box->end[THNN_DEPTH + dimension]));
  return tap;
}

/* Lists the box's positions that see inside the image through a tap; returns their number. */
static int64_t listTerms(const Correlation *correlation, const THNNConvolutionBox *box,
                         int64_t tapIndex, int64_t lanes)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const int64_t *stride = geometry->stride, *input = geometry->input;
  const int64_t imageSize = geometry->inputPlanes * THNN_convolutionImagePositions(geometry);
  const int64_t height = box->end[THNN_HEIGHT] - box->first[THNN_HEIGHT];
  const int64_t width = box->end[THNN_WIDTH] - box->first[THNN_WIDTH];
  const int64_t samplePositions = (box->end[THNN_DEPTH] - box->first[THNN_DEPTH]) * height * width;
  THNNConvolutionTap tap[3];
  for (int i = 2; i >= 0; i--) {
    tap[i] = clipTap(THNN_convolutionTap(geometry, i, tapIndex % geometry->kernel[i]), box, i);
    tapIndex /= geometry->kernel[i];
  }
  const THNNOffsets step = {stride[2], lanes};
  int64_t count = 0;
  for (int64_t n = 0; n < box->end[THNN_SAMPLE] - box->first[THNN_SAMPLE]; n++)
    for (int64_t z = tap[0].begin; z < tap[0].end; z++)
      for (int64_t y = tap[1].begin; y < tap[1].end; y++) {
        const int64_t imageZ = z * stride[0] + tap[0].start;
        const int64_t imageY = y * stride[1] + tap[1].start;
        const int64_t imageX = tap[2].begin * stride[2] + tap[2].start;
        const int64_t line = (z - box->first[THNN_DEPTH]) * height + y - box->first[THNN_HEIGHT];
        const int64_t position =
            n * samplePositions + line * width + tap[2].begin - box->first[THNN_WIDTH];
        const THNNOffsets first = {(box->first[THNN_SAMPLE] + n) * imageSize +
                                       (imageZ * input[1] + imageY) * input[2] + imageX,
                                   position * lanes};
        THNN_(simd).products.listOffsets(tap[2].end - tap[2].begin, first, step,
                                         correlation->term + count);
        count += tap[2].end - tap[2].begin;
      }
  return count;
}

/* Adds one box of the group to the sums of the task. */
static void addBox(const Correlation *correlation, const Panel *panel, const Block *block,
                   const THNNConvolutionBox *box, const real *transposed)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  THNN_(Products)
  products = {.row = correlation->plane,
              .rows = block->planeEnd - block->planeFirst,
              .term = correlation->term,
              .vectors = panel->vectors,
              .scalars =
                  correlation->image + block->planeFirst * THNN_convolutionImagePositions(geometry),
              .factors = transposed};
  for (int64_t tap = block->tapFirst; tap < block->tapEnd; tap++) {
    products.terms = listTerms(correlation, box, tap, panel->lanes);
    products.sums = correlation->sums + (tap - block->tapFirst) * panel->lanes;
    if (products.terms > 0)
      THNN_(simd).products.add(&products);
  }
}

/* Adds the task's sums to the weight gradient. */
static void storeSums(const Correlation *correlation, const Panel *panel, const Block *block)
{
  const int64_t planes = block->planeEnd - block->planeFirst;
  const int64_t blockTaps = block->tapEnd - block->tapFirst, rows = planes * blockTaps;
  const int64_t inputPlanes = correlation->plan->geometry.inputPlanes;
  /* With all taps the rows of the block are contiguous in the weight too. */
  const bool whole = blockTaps == correlation->taps;
  THNN_(simd).products.transpose(rows, panel->planes, correlation->sums, panel->lanes,
                                 correlation->transposedSums, rows);
  for (int64_t lane = 0; lane < panel->planes; lane++) {
    const real *sums = correlation->transposedSums + lane * rows;
    real *gradWeight =
        correlation->gradWeight +
        ((panel->first + lane) * inputPlanes + block->planeFirst) * correlation->taps +
        block->tapFirst;
    if (whole)
      THNN_(simd).pointwise.axpy(rows, correlation->scale, sums, gradWeight);
    else
      for (int64_t plane = 0; plane < planes; plane++)
        THNN_(simd).pointwise.axpy(blockTaps, correlation->scale, sums + plane * blockTaps,
                                   gradWeight + plane * correlation->taps);
  }
}

static void runTask(const Correlation *correlation, int64_t task, int64_t firstBox, int64_t boxes)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const THNNConvolutionCorrelate *correlate = &correlation->plan->correlate;
  const int64_t tapBlock = task % correlate->tapBlocks;
  const int64_t planeBlock = task / correlate->tapBlocks % correlate->planeBlocks;
  const int64_t panelIndex = task / correlate->tapBlocks / correlate->planeBlocks;
  const Panel panel = panelAt(geometry->outputPlanes, panelIndex);
  const Block block = {.planeFirst = geometry->inputPlanes * planeBlock / correlate->planeBlocks,
                       .planeEnd =
                           geometry->inputPlanes * (planeBlock + 1) / correlate->planeBlocks,
                       .tapFirst = correlation->taps * tapBlock / correlate->tapBlocks,
                       .tapEnd = correlation->taps * (tapBlock + 1) / correlate->tapBlocks};
  const int64_t planes = block.planeEnd - block.planeFirst, taps = block.tapEnd - block.tapFirst;
  const THNNOffsets step = {THNN_convolutionImagePositions(geometry), taps * panel.lanes};
  THNN_(simd).products.listOffsets(planes, (THNNOffsets){0, 0}, step, correlation->plane);
  THNN_(simd).pointwise.fill(planes * taps * panel.lanes, 0, correlation->sums);
  for (int64_t i = 0; i < boxes; i++) {
    const THNNConvolutionBox box = THNN_convolutionBox(&correlate->boxes, firstBox + i);
    addBox(correlation, &panel, &block, &box, transposedBox(correlation, panelIndex, i));
  }
  storeSums(correlation, &panel, &block);
}

static void takeThreadScratch(Correlation *correlation, char *scratch)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const THNNConvolutionCorrelate *correlate = &correlation->plan->correlate;
  const int64_t elements =
      taskRows(correlate, geometry->inputPlanes, correlation->taps) * correlate->panelLanes;
  correlation->sums = takeScratch(&scratch, elements, sizeof(real));
  correlation->transposedSums = takeScratch(&scratch, elements, sizeof(real));
  correlation->plane = takeScratch(
      &scratch, divideUp(geometry->inputPlanes, correlate->planeBlocks), sizeof(THNNOffsets));
  correlation->term = takeScratch(&scratch, correlation->boxPositions, sizeof(THNNOffsets));
}

void THNN_(ConvolutionDirectWeight_run)(const THNNConvolutionPlan *plan, const real *input,
                                        const real *gradOutput, accreal scale, real *gradWeight,
                                        void *scratch)
{
  const THNNConvolutionCorrelate *correlate = &plan->correlate;
  const int64_t panels = panelCount(plan->geometry.outputPlanes);
  const int64_t tasks = panels * correlate->planeBlocks * correlate->tapBlocks;
  const int64_t boxes = THNN_convolutionBoxCount(&correlate->boxes);
  const Correlation common = {.plan = plan,
                              .taps = THNN_convolutionTaps(&plan->geometry),
                              .boxPositions = THNN_convolutionBoxPositions(&correlate->boxes),
                              .image = input,
                              .gradMap = gradOutput,
                              .scale = (real)scale,
                              .gradWeight = gradWeight,
                              .transposed = scratch};
#pragma omp parallel num_threads(plan->threads) if (plan -> threads > 1)
  {
    Correlation correlation = common;
    takeThreadScratch(&correlation, threadScratch(plan, scratch));
    for (int64_t first = 0; first < boxes; first += correlate->groupBoxes) {
      const int64_t count = minimum(correlate->groupBoxes, boxes - first);
#pragma omp for schedule(static)
      for (int64_t i = 0; i < panels * count; i++)
        transposeBox(&correlation, i / count, first + i % count,
                     transposedBox(&correlation, i / count, i % count));
#pragma omp for schedule(dynamic)
      for (int64_t task = 0; task < tasks; task++)
        runTask(&correlation, task, first, count);
    }
  }
}
