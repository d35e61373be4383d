/* How the weight gradient is cut into boxes, groups, tasks and shares, and its scratch. */
#include "generic/convolution/engine/directWeight/directWeight.h"

#include <math.h>

/* Most positions of a box, which are the terms of a call of the loops. With a spread, a tap is used
 * by only some of the positions: then boxes are larger by the spread, up to a factor. */
static const int64_t BOX_POSITIONS = 512, MOST_SPREAD = 4;
/* Bytes of the transposed map of a group, which stay in the last-level cache. */
static const int64_t GROUP_BYTES = 2 << 20;
/* Bytes of the sums of a task, which stay in the second-level cache. */
static const int64_t TASK_BYTES = 256 << 10;
/* Least rows (image planes times taps) of a task: it lists and reads all of its panel of the map,
 * and with few rows would do little else. Tasks have more rows where boxes can be divided among
 * threads instead. */
static const int64_t WORTHWHILE_ROWS = 36, WORTHWHILE_SHARED_ROWS = 150;
/* Least image planes of a block. Taps through which other positions see inside the image are added
 * separately, and this many planes then fill a register tile. */
static const int64_t WORTHWHILE_PLANES = 16;

/* Cuts planes into blocks, and taps too where planes are few: enough blocks for several threads,
 * and so small that their sums stay in cache. Lines of `lineTaps` taps are not cut if their sums
 * stay in cache. */
static void chooseBlocks(WeightPlan *plan, const THNNConvolution *geometry, int64_t lineTaps,
                         int64_t rowsInCache)
{
  const int64_t planes = geometry->inputPlanes, taps = THNN_convolutionTaps(geometry);
  const int64_t rows = planes * taps, panels = panelCount(geometry->outputPlanes);
  const int64_t worthwhile =
      plan->groupBoxes < ENOUGH_BLOCKS ? WORTHWHILE_ROWS : WORTHWHILE_SHARED_ROWS;
  const int64_t shared = maximum(divideUp(rows * panels, ENOUGH_BLOCKS), worthwhile);
  const int64_t blocks = divideUp(rows, minimum(shared, rowsInCache));
  plan->planeBlocks = minimum(blocks, maximum(planes / WORTHWHILE_PLANES, 1));
  const bool linesFit = divideUp(planes, plan->planeBlocks) * lineTaps <= rowsInCache;
  plan->unitTaps = linesFit ? lineTaps : 1;
  plan->tapBlocks = minimum(divideUp(blocks, plan->planeBlocks), taps / plan->unitTaps);
}

/* Number of shares that the boxes of a group are divided into for each task: 1 if there are enough
 * tasks, otherwise an even number, so that two threads get equally many. Fewer tasks are enough if
 * the number of panels is even, so that they divide evenly between two threads. */
static int64_t chooseShares(const WeightPlan *plan, const THNNConvolution *geometry,
                            int64_t roomBytes)
{
  const int64_t tasks = taskCount(plan, geometry);
  const int64_t room = roomBytes / (tasks * taskElements(plan, geometry) * (int64_t)sizeof(real));
  const bool evenPanels = panelCount(geometry->outputPlanes) % 2 == 0;
  if (tasks >= (evenPanels ? ENOUGH_BLOCKS : 2 * ENOUGH_BLOCKS))
    return 1;
  const int64_t wanted = 2 * divideUp(ENOUGH_BLOCKS, tasks);
  const int64_t shares = minimum(wanted, minimum(plan->groupBoxes, room));
  return shares > 1 ? shares - shares % 2 : 1;
}

/* Most positions of a box. */
static int64_t boxPositions(const THNNCorrelation *correlation)
{
  int64_t spread = 1;
  for (int i = 0; i < 3; i++)
    spread = minimum(spread * correlation->spread[i], MOST_SPREAD);
  return BOX_POSITIONS * spread;
}

/* Cuts the computation up with at most `limitBytes` of scratch, and sets the cost; returns false if
 * not even one position fits. */
static bool cutUp(AlgorithmPlan *to, WeightPlan *plan, const WeightSides *sides, int64_t limitBytes)
{
  const THNNCorrelation *correlation = &sides->correlation;
  const THNNConvolution *geometry = &correlation->geometry;
  plan->panelLanes = mostPanelLanes(geometry->outputPlanes);
  const int64_t vectorBytes = plan->panelLanes * (int64_t)sizeof(real);
  const int64_t groupBytes = minimum(GROUP_BYTES, limitBytes / 2);
  const int64_t room = groupBytes / (vectorBytes * panelCount(geometry->outputPlanes));
  if (room < 1)
    return false;
  plan->boxes = THNN_convolutionBoxes(geometry->batch, geometry->output, 1,
                                      minimum(boxPositions(correlation), room));
  THNN_(directWeight_choosePadding)(to, plan, sides, groupBytes / 2);
  int64_t groupBoxes = maximum(room / THNN_convolutionBoxPositions(&plan->boxes), 1);
  if (plan->paddedDimensions)
    groupBoxes = minimum(groupBoxes,
                         groupBytes / 2 / (paddedElements(plan, geometry) * (int64_t)sizeof(real)));
  const int64_t boxes = THNN_convolutionBoxCount(&plan->boxes);
  plan->groupBoxes = minimum(groupBoxes, boxes);

  /* Chains need whole lines of taps. */
  const int64_t chainStep = THNN_(directWeight_chainStep)(correlation);
  chooseBlocks(plan, geometry, chainStep ? geometry->kernel[2] : 1,
               maximum(minimum(TASK_BYTES, limitBytes / 8) / vectorBytes, 1));
  plan->chainStep = plan->unitTaps == geometry->kernel[2] ? chainStep : 0;
  plan->shares = chooseShares(plan, geometry, limitBytes / 8);
  /* Shares have equally many boxes, since threads wait for each other after every group. */
  plan->groupBoxes =
      evenBlock(boxes, plan->groupBoxes - plan->groupBoxes % plan->shares, plan->shares);
  return true;
}

void THNN_(directWeight_layOutShared)(WeightWorker *worker, Scratch *scratch)
{
  const THNNConvolution *geometry = geometryOf(worker);
  const WeightPlan *plan = worker->plan;
  const int64_t boxElements = THNN_convolutionBoxPositions(&plan->boxes) * plan->panelLanes;
  const int64_t biasSums = THNN_(directWeight_biasSums)(plan, worker->sides);
  for (int i = 0; i < 3; i++)
    worker->tap[i] = THNN_take(scratch, geometry->kernel[i], sizeof(THNNConvolutionTap));
  worker->transposed = THNN_take(
      scratch, panelCount(geometry->outputPlanes) * plan->groupBoxes * boxElements, sizeof(real));
  worker->boxSums = THNN_take(scratch, plan->groupBoxes * biasSums, sizeof(real));
  worker->planeSums = THNN_take(scratch, biasSums, sizeof(double));
  if (plan->paddedDimensions)
    worker->padded =
        THNN_take(scratch, plan->groupBoxes * paddedElements(plan, geometry), sizeof(real));
  if (plan->shares > 1)
    worker->sharedSums =
        THNN_take(scratch, taskCount(plan, geometry) * plan->shares * taskElements(plan, geometry),
                  sizeof(real));
}

void THNN_(directWeight_layOutOwn)(WeightWorker *worker, Scratch *scratch)
{
  const THNNConvolution *geometry = geometryOf(worker);
  const WeightPlan *plan = worker->plan;
  worker->sums = THNN_take(scratch, taskElements(plan, geometry), sizeof(real));
  worker->transposedSums = THNN_take(scratch, taskElements(plan, geometry), sizeof(real));
  worker->row = THNN_take(scratch, mostBlockRows(plan, geometry), sizeof(THNNOffsets));
  worker->term =
      THNN_take(scratch, THNN_convolutionBoxPositions(&plan->boxes), sizeof(THNNOffsets));
  worker->kept = THNN_take(scratch, KEPT_ROWS + 1, sizeof(Rows));
}

bool THNN_(directWeight_planSides)(AlgorithmPlan *plan, const WeightSides *sides)
{
  const THNNConvolution *geometry = &sides->correlation.geometry;
  WeightPlan weight = {.exchanged = sides->reversed};
  if (!cutUp(plan, &weight, sides, (int64_t)THNN_State_workspaceLimit(plan->state)))
    return false;
  WeightWorker worker = {.sides = sides, .plan = &weight};
  Scratch shared = {0}, thread = {0};
  THNN_(directWeight_layOutShared)(&worker, &shared);
  THNN_(directWeight_layOutOwn)(&worker, &thread);
  if (!fits(plan, &shared, &thread))
    return false;
  plan->threads = threadsFor(plan, taskCount(&weight, geometry) * weight.shares);
  KEEP_OWN(plan, weight);
  return true;
}
