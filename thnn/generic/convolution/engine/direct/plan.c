/* Cuts direct convolution into tasks. */
#include "generic/convolution/engine/direct/direct.h"

#include <math.h>

/* Bytes of the sums of one task, which stay in a second-level cache together with the weights of
 * one list of terms. */
static const int64_t SUM_BYTES = 128 << 10;
/* Most bytes of packed weights, which a thread keeps from task to task if all image planes fit. */
static const int64_t WEIGHT_BYTES = 6 << 20;
/* Terms of a class that are added at a time, unless one plane has more: their weights stay in a
 * second-level cache while all positions are computed. */
static const int64_t GROUP_TERMS = 256;
/* The limits for positions in lines, whose loops take longer lists: there the weights stay in a
 * first-level cache, since a tile can have few positions that use each weight. */
static const int64_t LINE_GROUP_BYTES = 32 << 10, MOST_LINE_TERMS = 512;
/* Capacity of the list of terms, for several classes. */
static const int64_t LISTED_TERMS = 8192;
/* With fewer positions in a task, packing the weights takes too much of its time. */
static const int64_t WORTHWHILE_POSITIONS = 48;

Line THNN_(direct_lineAlong)(const THNNConvolutionRun *run)
{
  const int64_t tapStep = run->tapImageStep < 0 ? -run->tapImageStep : run->tapImageStep;
  Line line = {.taps = run->taps,
               .spacing = run->imageStep,
               .tapsApart = 1,
               .first = run->image,
               .tapStep = run->tapImageStep};
  int64_t sublines = 1;
  if (run->taps > 1) {
    while (line.spacing % tapStep != 0 && sublines <= MOST_SUBLINES) {
      line.spacing += run->imageStep;
      sublines++;
    }
    line.tapsApart = line.spacing / tapStep;
  }
  if (sublines <= MOST_SUBLINES)
    line.positions = run->positions / sublines;
  return line;
}

int64_t THNN_(direct_runs)(const DirectWorker *worker, int dimension, THNNConvolutionRun *run,
                           int64_t room)
{
  if (dimension == worker->plan.along)
    return THNN_convolutionWholeRuns(&worker->g, dimension, run, room);
  return THNN_convolutionRuns(&worker->g, dimension, run, room);
}

double THNN_(direct_classCount)(const DirectWorker *worker)
{
  const DirectPlan *plan = &worker->plan;
  double classes = (double)plan->boxes.boxes[THNN_SAMPLE];
  for (int i = 0; i < 3; i++) {
    const int64_t residues = worker->g.transposed ? worker->g.stride[i] : 1;
    classes *= (double)plan->runs[i] + (double)(plan->boxes.boxes[THNN_DEPTH + i] - 1) *
                                           (double)minimum(residues, plan->runs[i]);
  }
  return classes;
}

void THNN_(direct_layOutShared)(DirectWorker *worker, Scratch *scratch)
{
  for (int i = 0; i < 3; i++)
    worker->runs[i] = THNN_take(scratch, worker->plan.runs[i], sizeof(THNNConvolutionRun));
  if (worker->plan.surrounds)
    worker->surrounded = THNN_take(
        scratch, worker->g.batch * worker->g.inputPlanes * worker->imagePositions, sizeof(real));
}

void THNN_(direct_layOutThread)(DirectWorker *worker, Scratch *scratch)
{
  const DirectPlan *plan = &worker->plan;
  const int64_t positions = THNN_convolutionBoxPositions(&plan->boxes);
  if (!plan->keepsWeights)
    worker->weights =
        THNN_take(scratch, plan->blockPlanes * worker->taps * plan->panelLanes, sizeof(real));
  worker->start = THNN_take(scratch, plan->panelLanes, sizeof(real));
  worker->sums = THNN_take(scratch, positions * plan->panelLanes, sizeof(real));
  worker->position = THNN_take(scratch, positions, sizeof(THNNOffsets));
  worker->term = THNN_take(scratch, plan->listedTerms, sizeof(THNNOffsets));
  worker->class = THNN_take(scratch, LISTED_CLASSES, sizeof(Class));
}

int64_t THNN_(direct_packedElements)(const DirectWorker *worker)
{
  const THNNConvolution *g = &worker->g;
  return g->inputPlanes * worker->taps *
         roundUp(g->outputPlanes, productsFor(g->outputPlanes)->lanes);
}

/* Cuts positions, in lines along dimension `along`, or singly if it is -1, and planes. With
 * `acrossSamples` a box has a line of each of as many samples as there is room for, otherwise as
 * many lines as possible of few samples. With `keeps`, packed weights are kept from earlier calls;
 * with `surrounds`, the worker's geometry is that of images with zeros around them. */
static void cut(DirectWorker *worker, int64_t limitBytes, int along, bool acrossSamples, bool keeps,
                bool surrounds)
{
  const THNNConvolution *g = &worker->g;
  const int64_t taps = worker->taps, panels = panelCount(g->outputPlanes);
  DirectPlan *plan = &worker->plan;
  *plan = (DirectPlan){.along = along,
                       .panelLanes = mostPanelLanes(g->outputPlanes),
                       .keepsWeights = keeps,
                       .surrounds = surrounds};
  const int64_t vectorBytes = plan->panelLanes * (int64_t)sizeof(real);
  const int64_t weightBytes = minimum(WEIGHT_BYTES, limitBytes / 4 * 3);
  const int64_t groupTerms =
      along < 0 ? GROUP_TERMS : minimum(LINE_GROUP_BYTES / vectorBytes, MOST_LINE_TERMS);
  plan->blockPlanes =
      keeps ? g->inputPlanes : minimum(weightBytes / vectorBytes / taps, g->inputPlanes);
  plan->groupPlanes = minimum(maximum(groupTerms / taps, 1), g->inputPlanes);
  plan->listedTerms = maximum(plan->groupPlanes * taps, minimum(LISTED_TERMS, limitBytes / 256));
  const int64_t share = divideUp(g->batch * worker->mapPositions * panels, ENOUGH_BLOCKS);
  const int64_t room = minimum(SUM_BYTES, limitBytes / 4) / vectorBytes;
  const int64_t most = minimum(maximum(share, WORTHWHILE_POSITIONS), room);
  const int64_t samples = acrossSamples ? most / g->output[2] : 1;
  plan->boxes = THNN_convolutionBoxes(g->batch, g->output, samples, most);
  for (int i = 0; i < 3; i++)
    plan->runs[i] = THNN_(direct_runs)(worker, i, NULL, 0);
}

/* Plans one way of cutting. Changes `best` only if the new plan is cheaper and fits into memory. */
static void planAlong(AlgorithmPlan *best, DirectWorker *worker, int along, bool acrossSamples,
                      bool surrounds)
{
  const size_t limitBytes = THNN_State_workspaceLimit(best->state);
  Scratch shared = {0}, thread = {0};
  cut(worker, (int64_t)limitBytes, along, acrossSamples, best->keeps, surrounds);
  THNN_(direct_layOutShared)(worker, &shared);
  THNN_(direct_layOutThread)(worker, &thread);
  if (worker->plan.blockPlanes < 1 || shared.used + thread.used > limitBytes)
    return;
  AlgorithmPlan plan = *best;
  if (!THNN_(direct_setCost)(&plan, worker) || plan.cost >= best->cost)
    return;
  const int64_t tasks =
      THNN_convolutionBoxCount(&worker->plan.boxes) * panelCount(worker->g.outputPlanes);
  plan.threads = threadsFor(&plan, tasks);
  plan.sharedBytes = shared.used;
  plan.threadBytes = thread.used;
  if (plan.keeps)
    plan.keptBytes = (size_t)THNN_(direct_packedElements)(worker) * sizeof(real);
  plan.finishes = true;
  plan.adds = !worker->g.mapLast;
  KEEP_OWN(&plan, worker->plan);
  *best = plan;
}

/* Whether classes have less than a few positions each. */
static bool hasSmallClasses(const DirectWorker *worker)
{
  enum { FEW_POSITIONS = 4 };
  const double positions = (double)worker->g.batch * (double)worker->mapPositions;
  return THNN_(direct_classCount)(worker) * FEW_POSITIONS > positions;
}

/* Plans copies of the images with zeros around them, if weights are kept and a few positions have
 * about as many classes. Each class takes the weights from a distant cache, and one class of all
 * positions was measured to take 27 % less time (256 to 512 planes, a map of 4x4, kernels of 4x4
 * with a stride of 2; whole vectors of 64 bytes), which the costs do not show. */
static bool planSurrounded(AlgorithmPlan *plan, const DirectWorker *worker)
{
  enum { MOST_POSITIONS = 32, MOST_ZEROS = 64 };
  const THNNConvolution *g = &worker->g;
  const double positions = (double)g->batch * (double)worker->mapPositions;
  if (!plan->keeps || g->transposed || g->imageLast || positions > MOST_POSITIONS ||
      !hasSmallClasses(worker))
    return false;
  const THNNConvolution wide = surroundedGeometry(g);
  for (int i = 0; i < 3; i++)
    if (wide.input[i] - g->input[i] > MOST_ZEROS)
      return false;
  AlgorithmPlan surrounded = *plan;
  DirectWorker own = workerFor(&wide);
  surrounded.cost = INFINITY;
  planAlong(&surrounded, &own, -1, false, true);
  if (surrounded.cost < INFINITY)
    *plan = surrounded;
  return surrounded.cost < INFINITY;
}

/* The dimension along which lines go: the width, or a longer one if the width is short. */
static int lineDimension(const THNNConvolution *g)
{
  enum { ENOUGH = 5 };
  int along = 2;
  for (int i = 1; i >= 0; i--)
    if (g->output[along] < ENOUGH && g->output[i] > g->output[along])
      along = i;
  return along;
}

bool THNN_(direct_planConvolution)(AlgorithmPlan *plan)
{
  enum { WORTHWHILE_LINE = 4 };
  DirectWorker worker = workerFor(&plan->geometry);
  const THNNConvolution *g = &worker.g;
  /* Without a stride, pointwise.c and packedProducts.c are better than fetching the image for each
   * panel. */
  if (!plan->asked && !g->imageLast && !g->mapLast && THNN_convolutionIsPointwise(g))
    return false;
  const int along = lineDimension(g);
  plan->cost = INFINITY;
  planAlong(plan, &worker, -1, false, false);
  if (planSurrounded(plan, &worker))
    return true;
  if (plan->cost < INFINITY && g->batch > 1 && hasSmallClasses(&worker))
    planAlong(plan, &worker, -1, true, false);
  if (g->output[along] >= WORTHWHILE_LINE)
    planAlong(plan, &worker, along, false, false);
  return plan->cost < INFINITY;
}
