/* What the weight gradient prepares for a group of boxes: the transposed map, padded boxes, and the
 * sums for the bias gradient. */
#include "generic/convolution/engine/directWeight/directWeight.h"

/* Fills the group's padded boxes. All threads of the parallel region call this. */
static void fillPadded(const WeightWorker *worker, THNNRange boxes)
{
  const WeightPlan *plan = worker->plan;
  const THNNConvolution *geometry = geometryOf(worker);
  const int64_t elements = paddedElements(plan, geometry);
#pragma omp for schedule(static) nowait
  for (int64_t i = boxes.begin; i < boxes.end; i++) {
    const THNNConvolutionBox box = THNN_convolutionBox(&plan->boxes, i);
    THNN_(paddedBoxes_fill)(geometry, &plan->boxes, &box, worker->image,
                            worker->padded + (i - boxes.begin) * elements);
  }
}

/* The sums of a box for the bias gradient. */
static real *boxSums(const WeightWorker *worker, int64_t place)
{
  return worker->boxSums + place * THNN_(directWeight_biasSums)(worker->plan, worker->sides);
}

/* Transposes a panel of the map for one box, which is the group's `place`-th. Lanes without a plane
 * hold zeros. */
static void transposeBox(const WeightWorker *worker, int64_t panelIndex, int64_t boxIndex,
                         int64_t place)
{
  const THNNConvolution *geometry = geometryOf(worker);
  const WeightPlan *plan = worker->plan;
  const THNNConvolutionBox box = THNN_convolutionBox(&plan->boxes, boxIndex);
  const Panel panel = panelAt(geometry->outputPlanes, panelIndex);
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  real *transposed = transposedBox(worker, panelIndex, place);
  for (int64_t sample = box.first[THNN_SAMPLE]; sample < box.end[THNN_SAMPLE]; sample++) {
    const real *planes =
        worker->map + sample * THNN_convolutionMapSample(geometry) + panel.first * positions;
    for (int64_t stretch = 0; stretch < box.stretches; stretch++) {
      panel.loops->pack(panel.planes, box.stretch,
                        planes + THNN_convolutionStretch(&plan->boxes, &box, stretch), positions,
                        transposed, panel.lanes);
      transposed += box.stretch * panel.lanes;
    }
  }
  if (!worker->gradBias || worker->sides->bias != BIAS_FROM_MAP)
    return;
  real *sums = boxSums(worker, place) + panelIndex * plan->panelLanes;
  THNN_(simd).pointwise.fill(plan->panelLanes, 0, sums);
  panel.loops->total(box.positions, panel.vectors, transposedBox(worker, panelIndex, place), sums);
}

/* Transposes the panel and box that come `index`-th in the order of tasks: share by share, and
 * panel by panel within a share. So a thread adds up what it has transposed itself, which is in its
 * cache; fetching it from another core's takes long. */
static void transposeNext(const WeightWorker *worker, THNNRange group, int64_t index)
{
  const WeightPlan *plan = worker->plan;
  const int64_t panels = panelCount(geometryOf(worker)->outputPlanes);
  const int64_t count = group.end - group.begin;
  const int64_t share = ((index / panels + 1) * plan->shares - 1) / count;
  const int64_t first = shareBegin(plan, count, share);
  const int64_t boxes = shareBegin(plan, count, share + 1) - first;
  const int64_t inShare = index - first * panels, place = first + inShare % boxes;
  transposeBox(worker, inShare / boxes, group.begin + place, place);
}

void THNN_(directWeight_prepareGroup)(const WeightWorker *worker, THNNRange boxes)
{
  const int64_t panels = panelCount(geometryOf(worker)->outputPlanes);
  if (worker->padded)
    fillPadded(worker, boxes);
#pragma omp for schedule(static)
  for (int64_t i = 0; i < panels * (boxes.end - boxes.begin); i++)
    transposeNext(worker, boxes, i);
}

/* ---- The bias gradient ----------------------------------------------------------------------- */

int64_t THNN_(directWeight_biasSums)(const WeightPlan *plan, const WeightSides *sides)
{
  const THNNConvolution *geometry = &sides->correlation.geometry;
  switch (sides->bias) {
  case BIAS_FROM_MAP:
    return panelCount(geometry->outputPlanes) * plan->panelLanes;
  case BIAS_FROM_IMAGE:
    return geometry->inputPlanes;
  default:
    return 0;
  }
}

void THNN_(directWeight_sumImage)(const WeightWorker *worker, const Task *task,
                                  const THNNConvolutionBox *box, int64_t place)
{
  const THNNConvolution *geometry = geometryOf(worker);
  const int64_t sample = THNN_convolutionImageSample(geometry);
  const int64_t positions = THNN_convolutionImagePositions(geometry);
  for (int64_t plane = task->block.planeFirst; plane < task->block.planeEnd; plane++) {
    double sum = 0;
    for (int64_t n = box->first[THNN_SAMPLE]; n < box->end[THNN_SAMPLE]; n++)
      for (int64_t stretch = 0; stretch < box->stretches; stretch++)
        sum += THNN_(simd).reduce.sum(
            box->stretch, worker->image + n * sample + plane * positions +
                              THNN_convolutionStretch(&worker->plan->boxes, box, stretch));
    boxSums(worker, place)[plane] = (real)sum;
  }
}

void THNN_(directWeight_addBoxSums)(const WeightWorker *worker, int64_t count)
{
  const int64_t sums = THNN_(directWeight_biasSums)(worker->plan, worker->sides);
#pragma omp for schedule(static)
  for (int64_t i = 0; i < sums; i++)
    for (int64_t box = 0; box < count; box++)
      worker->planeSums[i] += boxSums(worker, box)[i];
}

void THNN_(directWeight_addBias)(const WeightWorker *worker, accreal scale)
{
  const THNNConvolution *geometry = geometryOf(worker);
  if (worker->sides->bias == BIAS_FROM_IMAGE) {
    for (int64_t plane = 0; plane < geometry->inputPlanes; plane++)
      worker->gradBias[plane] += (real)(scale * worker->planeSums[plane]);
    return;
  }
  for (int64_t index = 0; index < panelCount(geometry->outputPlanes); index++) {
    const Panel panel = panelAt(geometry->outputPlanes, index);
    const double *sums = worker->planeSums + index * worker->plan->panelLanes;
    for (int64_t lane = 0; lane < panel.planes; lane++)
      worker->gradBias[panel.first + lane] += (real)(scale * sums[lane]);
  }
}
