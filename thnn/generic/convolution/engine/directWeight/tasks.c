/* The weight gradient's tasks: a panel of map planes times a block of image planes and taps, to
 * whose sums the boxes of a group are added. */
#include "generic/convolution/engine/directWeight/directWeight.h"

static Task taskAt(const WeightWorker *worker, int64_t index)
{
  const THNNConvolution *geometry = geometryOf(worker);
  const WeightPlan *plan = worker->plan;
  const int64_t tapBlock = index % plan->tapBlocks;
  const int64_t planeBlock = index / plan->tapBlocks % plan->planeBlocks;
  const int64_t panelIndex = index / plan->tapBlocks / plan->planeBlocks;
  const int64_t units = THNN_convolutionTaps(geometry) / plan->unitTaps;
  return (Task){.panelIndex = panelIndex,
                .panel = panelAt(geometry->outputPlanes, panelIndex),
                .block = {.planeFirst = geometry->inputPlanes * planeBlock / plan->planeBlocks,
                          .planeEnd = geometry->inputPlanes * (planeBlock + 1) / plan->planeBlocks,
                          .tapFirst = units * tapBlock / plan->tapBlocks * plan->unitTaps,
                          .tapEnd = units * (tapBlock + 1) / plan->tapBlocks * plan->unitTaps}};
}

/* Number of the task's sums. */
static int64_t sumCount(const Task *task)
{
  const Block *block = &task->block;
  return (block->planeEnd - block->planeFirst) * (block->tapEnd - block->tapFirst) *
         task->panel.lanes;
}

/* ---- Adding a box ---------------------------------------------------------------------------- */

/* What a box, which is the group's `place`-th, and the task see of each other, without any taps. */
static Meeting meetingOf(const WeightWorker *worker, const Task *task,
                         const THNNConvolutionBox *box, int64_t place)
{
  const THNNConvolution *geometry = geometryOf(worker);
  const WeightPlan *plan = worker->plan;
  Meeting meeting = {.task = task,
                     .box = box,
                     .size = {geometry->input[0], geometry->input[1], geometry->input[2]},
                     .factors = transposedBox(worker, task->panelIndex, place)};
  if (worker->padded) {
    paddedBoxSize(geometry, &plan->boxes, meeting.size);
    for (int i = 0; i < 3; i++)
      meeting.first[i] = paddedBoxFirst(geometry, box, i);
  }
  meeting.planeElements = meeting.size[0] * meeting.size[1] * meeting.size[2];
  if (worker->padded) {
    meeting.sampleElements = geometry->inputPlanes * meeting.planeElements;
    meeting.scalars = worker->padded + place * paddedElements(plan, geometry);
  } else {
    meeting.sampleElements = THNN_convolutionImageSample(geometry);
    meeting.scalars = worker->image + box->first[THNN_SAMPLE] * meeting.sampleElements;
  }
  meeting.scalars += task->block.planeFirst * meeting.planeElements;
  return meeting;
}

/* Adds one box, which is the group's `place`-th, to the sums of the task. */
static void addBox(WeightWorker *worker, const Task *task, const THNNConvolutionBox *box,
                   int64_t place)
{
  const int64_t *kernel = geometryOf(worker)->kernel;
  const bool chains = THNN_(directWeight_fitsChains)(worker, box);
  Meeting meeting = meetingOf(worker, task, box, place);
  TapGroup *group = meeting.group;
  for (int64_t z = 0; z < kernel[0]; z = THNN_(directWeight_nextGroup)(&group[0], kernel[0])) {
    group[0] = THNN_(directWeight_tapGroup)(worker, box, 0, z);
    for (int64_t y = 0; y < kernel[1]; y = THNN_(directWeight_nextGroup)(&group[1], kernel[1])) {
      group[1] = THNN_(directWeight_tapGroup)(worker, box, 1, y);
      if (chains)
        THNN_(directWeight_addChains)(worker, &meeting);
      else
        THNN_(directWeight_addTaps)(worker, &meeting);
    }
  }
}

/* Adds up the group's boxes of places [first, end). */
static void sumBoxes(WeightWorker *worker, const Task *task, THNNRange group, int64_t first,
                     int64_t end)
{
  const bool sumsImage =
      worker->gradBias && worker->sides->bias == BIAS_FROM_IMAGE && task->panelIndex == 0;
  THNN_(simd).pointwise.fill(sumCount(task), 0, worker->sums);
  for (int64_t place = first; place < end; place++) {
    const THNNConvolutionBox box = THNN_convolutionBox(&worker->plan->boxes, group.begin + place);
    addBox(worker, task, &box, place);
    if (sumsImage)
      THNN_(directWeight_sumImage)(worker, task, &box, place);
  }
}

/* ---- Adding to the weight gradient ----------------------------------------------------------- */

/* Adds the task's sums to a weight gradient where each lane's map plane has its taps in order: the
 * sums are transposed, so that what is added is contiguous. */
static void storeTransposed(const WeightWorker *worker, const Task *task)
{
  const WeightGradient *gradient = &worker->gradient;
  const Panel *panel = &task->panel;
  const Block *block = &task->block;
  const int64_t planes = block->planeEnd - block->planeFirst;
  const int64_t blockTaps = block->tapEnd - block->tapFirst, rows = planes * blockTaps;
  /* With all taps the rows of the block are contiguous in the weight too. */
  const bool whole = blockTaps == gradient->imagePlane;
  panel->loops->transpose(rows, panel->planes, worker->sums, panel->lanes, worker->transposedSums,
                          rows);
  for (int64_t lane = 0; lane < panel->planes; lane++) {
    const real *sums = worker->transposedSums + lane * rows;
    real *elements = gradient->elements + (panel->first + lane) * gradient->mapPlane +
                     block->planeFirst * gradient->imagePlane + block->tapFirst;
    if (whole)
      THNN_(simd).pointwise.axpy(rows, worker->scale, sums, elements);
    else
      for (int64_t plane = 0; plane < planes; plane++)
        THNN_(simd).pointwise.axpy(blockTaps, worker->scale, sums + plane * blockTaps,
                                   elements + plane * gradient->imagePlane);
  }
}

/* Adds the task's sums to a weight gradient in any order, one by one. */
static void storeSingly(const WeightWorker *worker, const Task *task)
{
  const WeightGradient *gradient = &worker->gradient;
  const Panel *panel = &task->panel;
  const Block *block = &task->block;
  const real *sums = worker->sums;
  for (int64_t plane = block->planeFirst; plane < block->planeEnd; plane++)
    for (int64_t tap = block->tapFirst; tap < block->tapEnd; tap++, sums += panel->lanes) {
      real *elements = gradient->elements + panel->first * gradient->mapPlane +
                       plane * gradient->imagePlane + tap * gradient->tap;
      for (int64_t lane = 0; lane < panel->planes; lane++)
        elements[lane * gradient->mapPlane] += worker->scale * sums[lane];
    }
}

static void storeTask(const WeightWorker *worker, const Task *task)
{
  if (worker->gradient.tap == 1)
    storeTransposed(worker, task);
  else
    storeSingly(worker, task);
}

/* ---- Sharing out tasks ----------------------------------------------------------------------- */

/* Each task adds up the whole group. */
static void runWhole(WeightWorker *worker, THNNRange group)
{
  const int64_t tasks = taskCount(worker->plan, geometryOf(worker));
#pragma omp for schedule(static)
  for (int64_t i = 0; i < tasks; i++) {
    const Task task = taskAt(worker, i);
    sumBoxes(worker, &task, group, 0, group.end - group.begin);
    storeTask(worker, &task);
  }
}

/* Each task adds up the shares of the group apart; their partial sums are added in order. */
static void runShares(WeightWorker *worker, THNNRange group)
{
  const WeightPlan *plan = worker->plan;
  const THNNConvolution *geometry = geometryOf(worker);
  const int64_t tasks = taskCount(plan, geometry), shares = plan->shares;
  const int64_t count = group.end - group.begin, elements = taskElements(plan, geometry);
#pragma omp for schedule(static)
  for (int64_t i = 0; i < tasks * shares; i++) {
    const Task task = taskAt(worker, i % tasks);
    const int64_t share = i / tasks;
    worker->sums = worker->sharedSums + (i % tasks * shares + share) * elements;
    sumBoxes(worker, &task, group, shareBegin(plan, count, share),
             shareBegin(plan, count, share + 1));
  }
#pragma omp for schedule(static)
  for (int64_t i = 0; i < tasks; i++) {
    const Task task = taskAt(worker, i);
    worker->sums = worker->sharedSums + i * shares * elements;
    for (int64_t share = 1; share < shares; share++)
      THNN_(simd).pointwise.axpy(sumCount(&task), 1, worker->sums + share * elements, worker->sums);
    storeTask(worker, &task);
  }
}

void THNN_(directWeight_runTasks)(WeightWorker *worker, THNNRange boxes)
{
  if (worker->plan->shares == 1)
    runWhole(worker, boxes);
  else
    runShares(worker, boxes);
}
