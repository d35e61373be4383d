/* Direct convolution: the map from the image, and the image gradient from the map gradient.
 *
 * Both are one computation: a result is a sum over source planes and taps of a source element times
 * a weight. A vector holds the results of neighbouring planes at one position; the source element
 * is one scalar for all of them, read in place. So nothing is unfolded or padded: stride, dilation
 * and transposition only change which scalars are read, and positions near an edge have fewer
 * terms. No product with padding is ever formed.
 *
 * Along each dimension results fall into runs that see the same taps (THNN_convolutionRuns); a run
 * per dimension makes a class of positions that share one list of terms.
 *
 * Where it is cheaper, positions are taken in lines along one dimension: then those at the edges
 * are in one class with the others, and the loops skip products with elements outside the source.
 * Neighbours in a line see the same source element through neighbouring taps. A panel of one vector
 * has one product for each scalar and would spend most of its time on loads; in lines it loads a
 * scalar once for several products.
 *
 * A task is a box of positions times a panel of planes. Its weights are packed as
 * [source plane][tap][lane]; its sums are kept as [position][lane], start from the bias and are
 * transposed into the result at the end. */
#include "generic/template.h"

#include <math.h>

#include "generic/convolution/engine/algorithm.h"

/* Bytes of the sums of one task, which stay in a second-level cache together with the weights of
 * one list of terms. */
static const int64_t SUM_BYTES = 128 << 10;
/* Most bytes of packed weights, which a thread keeps from task to task if all source planes fit. */
static const int64_t WEIGHT_BYTES = 6 << 20;
/* Terms of a class that are added at a time, unless one plane has more: their weights stay in a
 * second-level cache while all positions are computed. */
static const int64_t GROUP_TERMS = 256;
/* The same in lines, whose loops take longer lists: the weights stay in a first-level cache, since
 * a tile can have few positions that use each weight. */
static const int64_t LINE_GROUP_BYTES = 32 << 10, MOST_LINE_TERMS = 512;
/* Capacity of the lists of terms and of classes, for several classes. */
static const int64_t LISTED_TERMS = 8192;
static const int64_t LISTED_CLASSES = 128;
/* Positions that are computed between two turns of prefetching the next group's source. */
static const int64_t SLICE_POSITIONS = 24;
/* At most this many interleaved lines. */
static const int64_t MOST_SUBLINES = 8;
/* With fewer positions in a task, packing the weights takes too much of its time. */
static const int64_t WORTHWHILE_POSITIONS = 48;

/* The positions and taps of a class along one dimension. Neighbouring positions of a line see
 * source indices that are `spacing` apart; so do taps that are `tapsApart` apart. */
typedef struct Line {
  int64_t positions, taps;
  int64_t spacing, tapsApart;
  int64_t first, tapStep; /* source index of the first position and tap; step to the next tap */
  int64_t size;           /* number of source indices */
  int64_t element, tapFactor, positionSum; /* steps per source index, tap and position */
} Line;

/* Positions of the box that share their terms, and these terms: parts of the worker's two lists. If
 * the class is taken in lines, each listed position is the first of a line, and each listed term is
 * that of the first tap. */
typedef struct Class {
  const THNNOffsets *position;
  int64_t positions;
  const THNNOffsets *term; /* terms of one group of source planes */
  int64_t taps;            /* terms per source plane */
  Line line;               /* has one position and spacing 0 if the class is not taken in lines */
} Class;

/* Memory to prefetch while something else is computed: `length` reals at each place of a grid, a
 * few places at each turn. */
typedef struct Ahead {
  const real *first;
  int64_t length;
  int64_t count[3], stride[3]; /* size of the grid; strides in reals */
  int64_t next, perTurn;       /* the next place; places per turn */
} Ahead;

/* The state of one thread. */
typedef struct Worker {
  const THNNConvolutionPlan *plan;
  Sides sides;
  int64_t taps;
  const THNNConvolutionRun *runs[3];
  const real *source, *weight, *bias;
  real *result;

  real *weights;         /* packed: [source plane of the block][tap][lane] */
  int64_t packed;        /* the panel whose weights are packed for all source planes, or -1 */
  real *start;           /* [lane]: the bias */
  real *sums;            /* [position of the box][lane] */
  THNNOffsets *position; /* offsets in source and sums of the listed positions */
  THNNOffsets *term;     /* offsets in source and weights of the listed terms */
  Class *class;
  int64_t classes;
  THNNConvolutionBox listedBox; /* its classes are listed: all of them if listedLanes is not 0 */
  int64_t listedLanes;
  Ahead aheadSource, aheadResult;
} Worker;

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A run as a line, without its length in the source and its steps in source, weights and sums. It
 * has no positions if it would need more than MOST_SUBLINES interleaved lines. */
static Line lineAlong(const THNNConvolutionRun *run)
{
  const int64_t tapStep = run->tapSourceStep < 0 ? -run->tapSourceStep : run->tapSourceStep;
  Line line = {.taps = run->taps,
               .spacing = run->sourceStep,
               .tapsApart = 1,
               .first = run->source,
               .tapStep = run->tapSourceStep};
  int64_t sublines = 1;
  if (run->taps > 1) {
    while (line.spacing % tapStep != 0 && sublines <= MOST_SUBLINES) {
      line.spacing += run->sourceStep;
      sublines++;
    }
    line.tapsApart = line.spacing / tapStep;
  }
  if (sublines <= MOST_SUBLINES)
    line.positions = run->results / sublines;
  return line;
}

/* The runs of a dimension; in the dimension of the lines, positions at the edges are in one run
 * with the others. */
static int64_t runsOf(const THNNConvolutionPlan *plan, int dimension, int along,
                      THNNConvolutionRun *run, int64_t room)
{
  return (dimension == along ? THNN_convolutionWholeRuns : THNN_convolutionRuns)(
      &plan->geometry, plan->part, dimension, run, room);
}

/* ---- Planning -------------------------------------------------------------------------------- */

/* Fraction of results that any tap reaches; with a stride beyond the kernel, some get none. */
static double shareWithTaps(const THNNConvolutionPlan *plan)
{
  const THNNConvolution *geometry = &plan->geometry;
  double share = 1;
  for (int i = 0; i < 3; i++)
    if (plan->part == THNN_CONVOLUTION_BACKWARD_DATA && geometry->kernel[i] < geometry->stride[i])
      share *= (double)geometry->kernel[i] / (double)geometry->stride[i];
  return share;
}

/* Number of classes, summed over all boxes; those at the edges are in few boxes. With extreme
 * strides and padding there are more than an integer holds. */
static double classCount(const THNNConvolutionPlan *plan)
{
  const THNNConvolutionGather *gather = &plan->gather;
  double classes = (double)gather->boxes.boxes[THNN_SAMPLE];
  for (int i = 0; i < 3; i++) {
    const int64_t residues =
        plan->part == THNN_CONVOLUTION_BACKWARD_DATA ? plan->geometry.stride[i] : 1;
    classes *= (double)gather->runs[i] + (double)(gather->boxes.boxes[THNN_DEPTH + i] - 1) *
                                             (double)minimum(residues, gather->runs[i]);
  }
  return classes;
}

/* Number of class lists that are built. Boxes that differ only in their samples share them, unless
 * there are more classes than the lists hold. */
static double listedCount(const THNNConvolutionPlan *plan, double classes)
{
  const THNNConvolutionGather *gather = &plan->gather;
  const int64_t samples = gather->boxes.boxes[THNN_SAMPLE];
  const bool again = THNN_convolutionBoxCount(&gather->boxes) > samples ||
                     classes > (double)samples * LISTED_CLASSES;
  return again ? classes : classes / (double)samples;
}

/* The cost of a panel's products if positions are taken singly. A tile of few positions waits for
 * its weights. */
static double singleProductsCost(const THNNConvolutionPlan *plan, const Sides *sides)
{
  enum { TILE_ROWS = 8 };
  const double positions = (double)plan->geometry.batch * (double)sides->resultPositions;
  const double classes = fmax(classCount(plan), 1);
  const double tiles = classes * ceil(ceil(positions / classes) / TILE_ROWS);
  const double panels = (double)panelCount(sides->resultPlanes);
  const double products = positions * vectorsCost(sides->resultPlanes) / panels;
  const double weights = tiles * plan->gather.panelLanes / productsFor(sides->resultPlanes)->lanes;
  const double terms = THNN_convolutionProducts(&plan->geometry) * sides->sourcePlanes /
                       (double)maximum(sides->resultPositions, 1);
  return terms * (0.7 * tiles + fmax(products, weights));
}

/* Measured: the factor by which lines are slower if their elements are not contiguous, if planes
 * map to few sets of a first-level cache, and with short vectors, which have no fused
 * multiply-add. */
static double lineFactor(const THNNConvolutionPlan *plan, const Sides *sides)
{
  enum { ALIAS_BYTES = 2048, SHORT_VECTOR = 16 };
  const THNNConvolutionGather *gather = &plan->gather;
  const THNN_(SimdProducts) *loops = productsFor(sides->resultPlanes);
  const bool meet = sides->sourcePositions * (int64_t)sizeof(real) % ALIAS_BYTES == 0;
  return (gather->along < 2 ? 1.05 : 1) * (meet && gather->panelLanes > loops->lanes ? 1.25 : 1) *
         (loops->lanes * sizeof(real) == SHORT_VECTOR ? 1.2 : 1);
}

/* The cost of a panel's products if positions are taken in lines; infinite where that is
 * impossible. A tile of few positions waits for its sums, or with few vectors for its scalars; in a
 * large tile each product takes half a cycle. */
static double lineProductsCost(const THNNConvolutionPlan *plan, const Sides *sides)
{
  enum { ROOM = 16, LONG_VECTOR = 64 };
  const THNNConvolution *geometry = &plan->geometry;
  const THNNConvolutionGather *gather = &plan->gather;
  const THNN_(SimdProducts) *loops = productsFor(sides->resultPlanes);
  const int64_t vectors = gather->panelLanes / loops->lanes;
  const int64_t groups = divideUp(sides->sourcePlanes, gather->groupPlanes);
  THNNConvolutionRun runs[ROOM];
  const int64_t count = runsOf(plan, gather->along, gather->along, runs, ROOM);
  const double inside = THNN_convolutionProductsAlong(geometry, gather->along);
  const double perLoad = loops->lanes * sizeof(real) == LONG_VECTOR ? 1 : 0.5;
  double all = 0, chains = 0, tiles = 0;
  if (count > ROOM)
    return INFINITY;
  for (const THNNConvolutionRun *run = runs; run < runs + count; run++)
    all += (double)run->results * run->taps;
  for (const THNNConvolutionRun *run = runs; run < runs + count; run++) {
    THNNConvolutionRun part = *run;
    part.results = minimum(part.results, gather->boxes.box[THNN_DEPTH + gather->along]);
    const Line line = lineAlong(&part);
    if (run->taps == 0)
      continue;
    if (line.positions == 0)
      return INFINITY;
    const double positions =
        (double)line.positions / divideUp(line.positions, loops->chains->longestTile[vectors - 1]);
    const int64_t taps = divideUp(line.taps, line.tapsApart);
    const double together = vectors == 1 ? (double)taps / divideUp(taps, THNN_CHAIN_TAPS) : 1;
    const double products = positions * together * vectors * inside / maximum(all, 1);
    const double busy = 0.5 * products + 1 + together, waiting = 4 * together + 2;
    const double loads = perLoad * (positions + 2 * together);
    chains += run->results / positions * run->taps / together * fmax(fmax(busy, waiting), loads);
    tiles += run->results / positions * minimum(line.tapsApart, line.taps) *
             (60 + 2 * positions * vectors);
  }
  const double lines = (double)sides->resultPositions / sides->result[gather->along];
  const double otherProducts = inside > 0 ? THNN_convolutionProducts(geometry) / inside : 0;
  const double products = chains * otherProducts * sides->sourcePlanes;
  return geometry->batch * (products * lineFactor(plan, sides) + tiles * lines * groups);
}

/* The time that a panel waits for a source that is too large for the near caches: every panel
 * fetches it again, ahead of its products. With a stride beyond the kernel, some source lines are
 * never read. */
static double fetchingCost(const THNNConvolutionPlan *plan, const Sides *sides)
{
  enum { LINE_BYTES = 64, FAR_BYTES = 8 << 20 };
  const THNNConvolution *geometry = &plan->geometry;
  double bytes =
      (double)geometry->batch * sides->sourcePlanes * sides->sourcePositions * sizeof(real);
  for (int i = 0; i < 2; i++)
    if (plan->part == THNN_CONVOLUTION_FORWARD && geometry->kernel[i] < geometry->stride[i])
      bytes *= (double)geometry->kernel[i] / (double)geometry->stride[i];
  return bytes > FAR_BYTES ? 34 * bytes / LINE_BYTES : 0;
}

/* The total cost: products, the overhead of classes and their lists, bringing the source into
 * cache, packing and storing. */
static double directCost(const THNNConvolutionPlan *plan, const Sides *sides)
{
  const THNNConvolution *geometry = &plan->geometry;
  const THNNConvolutionGather *gather = &plan->gather;
  const double positions = (double)geometry->batch * (double)sides->resultPositions;
  const double classes = classCount(plan);
  const double terms =
      THNN_convolutionProducts(geometry) / (double)maximum(sides->resultPositions, 1);
  const double perPanel =
      fmax((gather->along < 0 ? singleProductsCost : lineProductsCost)(plan, sides),
           fetchingCost(plan, sides)) +
      classes * 60 * (double)divideUp(sides->sourcePlanes, gather->groupPlanes) +
      listedCount(plan, classes) * (350 + 0.5 * terms * gather->groupPlanes) +
      THNN_convolutionBoxCount(&gather->boxes) * 25 * (double)sides->sourcePlanes;
  /* Storing results without taps overlaps with no products. */
  const double perVector = 11 + 15 * (1 - shareWithTaps(plan));
  const int64_t packings =
      gather->blockPlanes < sides->sourcePlanes ? THNN_convolutionBoxCount(&gather->boxes) : 1;
  return positions * perVector * divideUp(sides->resultPlanes, THNN_(simd).products.lanes) +
         panelCount(sides->resultPlanes) * perPanel + 0.9 * packings * weightElements(geometry);
}

/* Plans positions in lines along dimension `along`, or singly if it is -1. With `acrossSamples` a
 * box has a line of each of as many samples as there is room for, otherwise as many lines as
 * possible of few samples. Changes `best` only if the new plan is cheaper and fits into memory. */
static void prepareAlong(THNNConvolutionPlan *best, const THNNState *state, int along,
                         bool acrossSamples)
{
  THNNConvolutionPlan plan = *best;
  const THNNConvolution *geometry = &plan.geometry;
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  const Sides sides = sidesOf(&plan);
  const int64_t taps = THNN_convolutionTaps(geometry), panels = panelCount(sides.resultPlanes);
  THNNConvolutionGather gather = {.along = along, .panelLanes = mostPanelLanes(sides.resultPlanes)};

  const int64_t vectorBytes = gather.panelLanes * (int64_t)sizeof(real);
  const int64_t weightBytes = minimum(WEIGHT_BYTES, limitBytes / 4 * 3);
  const int64_t groupTerms =
      along < 0 ? GROUP_TERMS : minimum(LINE_GROUP_BYTES / vectorBytes, MOST_LINE_TERMS);
  gather.blockPlanes = minimum(weightBytes / vectorBytes / taps, sides.sourcePlanes);
  gather.groupPlanes = minimum(maximum(groupTerms / taps, 1), sides.sourcePlanes);
  gather.listedTerms = maximum(gather.groupPlanes * taps, minimum(LISTED_TERMS, limitBytes / 256));
  const int64_t share = divideUp(geometry->batch * sides.resultPositions * panels, ENOUGH_BLOCKS);
  const int64_t room = minimum(SUM_BYTES, limitBytes / 4) / vectorBytes;
  const int64_t most = minimum(maximum(share, WORTHWHILE_POSITIONS), room);
  const int64_t samples = acrossSamples ? most / sides.result[2] : 1;
  gather.boxes = THNN_convolutionBoxes(geometry->batch, sides.result, samples, most);

  const int64_t positions = THNN_convolutionBoxPositions(&gather.boxes);
  int64_t sharedBytes = 0;
  for (int i = 0; i < 3; i++) {
    gather.runs[i] = runsOf(&plan, i, gather.along, NULL, 0);
    sharedBytes += scratchBytes(gather.runs[i], sizeof(THNNConvolutionRun));
  }
  const int64_t threadBytes =
      scratchBytes(gather.blockPlanes * taps * gather.panelLanes, sizeof(real)) +
      scratchBytes(gather.panelLanes, sizeof(real)) +
      scratchBytes(positions * gather.panelLanes, sizeof(real)) +
      scratchBytes(positions, sizeof(THNNOffsets)) +
      scratchBytes(gather.listedTerms, sizeof(THNNOffsets)) +
      scratchBytes(LISTED_CLASSES, sizeof(Class));
  if (gather.blockPlanes < 1 || threadBytes + sharedBytes > limitBytes)
    return;

  plan.algorithm = THNN_CONVOLUTION_DIRECT;
  plan.gather = gather;
  plan.cost = directCost(&plan, &sides);
  if (plan.cost >= best->cost)
    return;
  const int64_t tasks = THNN_convolutionBoxCount(&gather.boxes) * panels;
  plan.threads = THNN_threads(state, tasks, convolutionOperations(geometry));
  plan.sharedBytes = (size_t)sharedBytes;
  plan.threadBytes = (size_t)threadBytes;
  plan.scratchBytes = plan.sharedBytes + plan.threadBytes * (size_t)plan.threads;
  *best = plan;
}

/* The dimension that lines go along: the width unless it is short. */
static int lineDimension(const Sides *sides)
{
  enum { ENOUGH = 5 };
  int along = 2;
  for (int i = 1; i >= 0; i--)
    if (sides->result[along] < ENOUGH && sides->result[i] > sides->result[along])
      along = i;
  return along;
}

bool THNN_(ConvolutionDirect_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  enum { WORTHWHILE_LINE = 4, FEW_POSITIONS = 4 };
  const Sides sides = sidesOf(plan);
  const double positions = (double)plan->geometry.batch * (double)sides.resultPositions;
  const int along = lineDimension(&sides);
  THNNConvolutionPlan best = *plan;
  best.cost = INFINITY;
  prepareAlong(&best, state, -1, false);
  if (plan->geometry.batch > 1 && classCount(&best) * FEW_POSITIONS > positions)
    prepareAlong(&best, state, -1, true);
  if (sides.result[along] >= WORTHWHILE_LINE)
    prepareAlong(&best, state, along, false);
  if (best.cost == INFINITY)
    return false;
  *plan = best;
  return true;
}

/* ---- Listing the classes of a box ------------------------------------------------------------ */

static int64_t boxSize(const THNNConvolutionBox *box, int dimension)
{
  return box->end[dimension] - box->first[dimension];
}

/* A run without its results outside [first, end). */
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

/* Gets class number `index` as runs that are clipped to the box. */
static void classRuns(const Worker *worker, const THNNConvolutionBox *box, int64_t index,
                      THNNConvolutionRun *run)
{
  const int64_t *runs = worker->plan->gather.runs;
  for (int i = 2; i >= 0; i--) {
    run[i] = clipRun(&worker->runs[i][index % runs[i]], box->first[THNN_DEPTH + i],
                     box->end[THNN_DEPTH + i]);
    index /= runs[i];
  }
}

/* Lists the positions of a class as offsets from the box's first sample. Along the width they are
 * evenly spaced, in the source as well as in the sums. */
static void listPositions(const Worker *worker, const Panel *panel, const THNNConvolutionBox *box,
                          const THNNConvolutionRun *run, THNNOffsets *position)
{
  const int64_t *source = worker->sides.source;
  const THNNOffsets step = {run[2].sourceStep, run[2].step * panel->lanes};
  for (int64_t n = 0; n < boxSize(box, THNN_SAMPLE); n++)
    for (int64_t z = 0; z < run[0].results; z++)
      for (int64_t y = 0; y < run[1].results; y++) {
        const int64_t sourceSample = n * worker->sides.sourcePlanes * worker->sides.sourcePositions;
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
        listOffsets(run[2].results, first, step, position);
        position += run[2].results;
      }
}

/* Lists the terms of a class for one group of source planes: plane slowest, then taps. */
static void listTerms(const Worker *worker, const Panel *panel, const THNNConvolutionRun *run,
                      THNNOffsets *term)
{
  const int64_t *source = worker->sides.source, *kernel = worker->plan->geometry.kernel;
  const THNNOffsets step = {run[2].tapSourceStep, run[2].tapStep * panel->lanes};
  int64_t count = 0;
  for (int64_t z = 0; z < run[0].taps; z++)
    for (int64_t y = 0; y < run[1].taps; y++) {
      const int64_t tapZ = run[0].firstTap + z * run[0].tapStep;
      const int64_t tapY = run[1].firstTap + y * run[1].tapStep;
      const int64_t tap = (tapZ * kernel[1] + tapY) * kernel[2] + run[2].firstTap;
      const int64_t line = z * run[0].tapSourceStep * source[1] + y * run[1].tapSourceStep;
      const THNNOffsets first = {line * source[2], tap * panel->lanes};
      listOffsets(run[2].taps, first, step, term + count);
      count += run[2].taps;
    }
  const int64_t planes = worker->plan->gather.groupPlanes;
  const THNNOffsets nextPlane = {worker->sides.sourcePositions, worker->taps * panel->lanes};
  if (count == 1)
    listOffsets(planes, *term, nextPlane, term);
  for (int64_t plane = 1; plane < planes && count > 1; plane++) {
    const THNNOffsets by = {plane * nextPlane.scalar, plane * nextPlane.vector};
    moveOffsets(count, term, by, term + plane * count);
  }
}

/* Whether all classes are still listed, from a box of the same place and size in other samples. */
static bool isListed(const Worker *worker, const Panel *panel, const THNNConvolutionBox *box)
{
  const THNNConvolutionBox *last = &worker->listedBox;
  bool same = worker->listedLanes == panel->lanes &&
              boxSize(box, THNN_SAMPLE) == boxSize(last, THNN_SAMPLE);
  for (int i = THNN_DEPTH; i < THNN_BOX_DIMENSIONS; i++)
    same = same && box->first[i] == last->first[i] && box->end[i] == last->end[i];
  return same;
}

/* A run with its taps in the order of their source elements. */
static THNNConvolutionRun ascendingTaps(THNNConvolutionRun run)
{
  if (run.tapSourceStep < 0 && run.taps > 1) {
    run.firstTap += (run.taps - 1) * run.tapStep;
    run.source += (run.taps - 1) * run.tapSourceStep;
    run.tapStep = -run.tapStep;
    run.tapSourceStep = -run.tapSourceStep;
  }
  return run;
}

/* Lists a class that is taken in lines, as one class for each set of interleaved lines. Reduces the
 * run along the lines to one tap and one result. Returns the end of the listed positions. */
static THNNOffsets *listLines(Worker *worker, const Panel *panel, const THNNConvolutionBox *box,
                              THNNConvolutionRun *run, THNNOffsets *position, THNNOffsets *term)
{
  const int along = worker->plan->gather.along;
  const int64_t *source = worker->sides.source, *kernel = worker->plan->geometry.kernel;
  int64_t sourceStep = 1, tapStep = panel->lanes, sumStep = panel->lanes;
  for (int i = 2; i > along; i--) {
    sourceStep *= source[i];
    tapStep *= kernel[i];
    sumStep *= boxSize(box, THNN_DEPTH + i);
  }
  run[along] = ascendingTaps(run[along]);
  const THNNConvolutionRun whole = run[along];
  const Line line = lineAlong(&whole);
  const int64_t sublines = minimum(line.spacing / whole.sourceStep, whole.results);
  run[along].taps = 1;
  run[along].results = 1;
  listTerms(worker, panel, run, term);
  for (int64_t i = 0; i < sublines; i++) {
    run[along].first = whole.first + i * whole.step;
    run[along].source = whole.source + i * whole.sourceStep;
    Class *class = &worker->class[worker->classes++];
    *class = (Class){.position = position,
                     .positions = boxSize(box, THNN_SAMPLE) * run[0].results * run[1].results *
                                  run[2].results,
                     .term = term,
                     .taps = run[0].taps * run[1].taps * run[2].taps,
                     .line = line};
    class->line.positions = divideUp(whole.results - i, sublines);
    class->line.first += i * whole.sourceStep;
    class->line.size = source[along];
    class->line.element = sourceStep;
    class->line.tapFactor = whole.tapStep * tapStep;
    class->line.positionSum = sublines * whole.step * sumStep;
    listPositions(worker, panel, box, run, position);
    position += class->positions;
  }
  return position;
}

/* Lists a class position by position. Returns the end of the listed positions. */
static THNNOffsets *listSingly(Worker *worker, const Panel *panel, const THNNConvolutionBox *box,
                               THNNConvolutionRun *run, THNNOffsets *position, THNNOffsets *term)
{
  Class *class = &worker->class[worker->classes++];
  *class = (Class){.position = position,
                   .positions =
                       boxSize(box, THNN_SAMPLE) * run[0].results * run[1].results * run[2].results,
                   .term = term,
                   .taps = run[0].taps * run[1].taps * run[2].taps,
                   .line = {.positions = 1}};
  listPositions(worker, panel, box, run, position);
  listTerms(worker, panel, run, term);
  return position + class->positions;
}

/* Lists as many classes as there is room for, at least one, beginning with number `index`. Returns
 * the number to continue with. Classes without taps are listed too: they get the bias. */
static int64_t listClasses(Worker *worker, const Panel *panel, const THNNConvolutionBox *box,
                           int64_t index)
{
  const THNNConvolutionGather *gather = &worker->plan->gather;
  const int64_t all = gather->runs[0] * gather->runs[1] * gather->runs[2], first = index;
  THNNOffsets *position = worker->position, *term = worker->term;
  if (isListed(worker, panel, box))
    return all;
  worker->classes = 0;
  for (; index < all && worker->classes + MOST_SUBLINES <= LISTED_CLASSES; index++) {
    THNNConvolutionRun run[3];
    classRuns(worker, box, index, run);
    const int64_t taps = run[0].taps * run[1].taps * run[2].taps;
    if (run[0].results * run[1].results * run[2].results == 0)
      continue;
    if (term + gather->groupPlanes * taps > worker->term + gather->listedTerms)
      break;
    const bool inLines = gather->along >= 0 && run[gather->along].taps > 0;
    position = (inLines ? listLines : listSingly)(worker, panel, box, run, position, term);
    term += gather->groupPlanes * worker->class[worker->classes - 1].taps;
  }
  worker->listedLanes = first == 0 && index == all ? panel->lanes : 0;
  worker->listedBox = *box;
  return index;
}

/* ---- Fetching ahead -------------------------------------------------------------------------- */

/* Restarts, to finish in `turns` turns. */
static void startAhead(Ahead *ahead, int64_t turns)
{
  const int64_t places = ahead->count[0] * ahead->count[1] * ahead->count[2];
  ahead->next = 0;
  ahead->perTurn = divideUp(places, maximum(turns, 1));
}

static void fetchAhead(Ahead *ahead)
{
  const int64_t *count = ahead->count, *stride = ahead->stride;
  const int64_t places = count[0] * count[1] * count[2];
  const int64_t end = minimum(ahead->next + ahead->perTurn, places);
  for (; ahead->next < end; ahead->next++) {
    const int64_t inner = ahead->next % count[2], rest = ahead->next / count[2];
    THNN_(simd).products.prefetch(ahead->length, ahead->first + inner * stride[2] +
                                                     rest % count[1] * stride[1] +
                                                     rest / count[1] * stride[0]);
  }
}

/* The source indices [first, end) that a box reads along one dimension. Lines can reach beyond the
 * source; such indices are left out. */
static void windowOf(const Worker *worker, const THNNConvolutionBox *box, int dimension,
                     int64_t *first, int64_t *end)
{
  *first = worker->sides.source[dimension];
  *end = 0;
  for (int64_t i = 0; i < worker->plan->gather.runs[dimension]; i++) {
    const THNNConvolutionRun run =
        clipRun(&worker->runs[dimension][i], box->first[THNN_DEPTH + dimension],
                box->end[THNN_DEPTH + dimension]);
    if (run.results == 0 || run.taps == 0)
      continue;
    const int64_t alongTaps = (run.taps - 1) * run.tapSourceStep;
    const int64_t last = run.source + (run.results - 1) * run.sourceStep;
    *first = minimum(*first, minimum(run.source, run.source + alongTaps));
    *end = maximum(*end, maximum(last, last + alongTaps) + 1);
  }
  *first = maximum(*first, 0);
  *end = minimum(*end, worker->sides.source[dimension]);
}

/* Number of listed positions (or lines) that are computed between two turns of prefetching. */
static int64_t slicePositions(const Class *class)
{
  return divideUp(SLICE_POSITIONS, class->line.positions);
}

/* Number of turns of prefetching while the listed classes are computed for one group. */
static int64_t sliceCount(const Worker *worker)
{
  int64_t slices = 0;
  for (int64_t i = 0; i < worker->classes; i++)
    slices += divideUp(worker->class[i].positions, slicePositions(&worker->class[i]));
  return slices;
}

/* The memory that a box reads from the first group of source planes. */
static Ahead sourceOf(const Worker *worker, const THNNConvolutionBox *box)
{
  const int64_t *size = worker->sides.source, positions = worker->sides.sourcePositions;
  int64_t first[3], end[3];
  for (int i = 0; i < 3; i++)
    windowOf(worker, box, i, &first[i], &end[i]);
  const int64_t sample = worker->sides.sourcePlanes * positions;
  const int64_t line = (first[0] * size[1] + first[1]) * size[2];
  return (Ahead){.first = worker->source + box->first[THNN_SAMPLE] * sample + line + first[2],
                 .length = (end[1] - 1 - first[1]) * size[2] + end[2] - first[2],
                 .count = {boxSize(box, THNN_SAMPLE), worker->plan->gather.groupPlanes,
                           maximum(end[0] - first[0], 0)},
                 .stride = {sample, positions, size[1] * size[2]}};
}

/* Prepares to prefetch the group of source planes that begins with `plane`, while the listed
 * classes are computed for another group. `source` is what the box reads from the first group. */
static void aimAtSource(Worker *worker, const Ahead *source, int64_t plane)
{
  worker->aheadSource = *source;
  worker->aheadSource.first += plane * worker->sides.sourcePositions;
  worker->aheadSource.count[1] = minimum(source->count[1], worker->sides.sourcePlanes - plane);
  startAhead(&worker->aheadSource, sliceCount(worker));
}

/* Prepares to prefetch the places of the box's results, while its last group of planes is added. */
static void aimAtResult(Worker *worker, const Panel *panel, const THNNConvolutionBox *box)
{
  const THNNConvolutionBoxes *boxes = &worker->plan->gather.boxes;
  const int64_t positions = worker->sides.resultPositions;
  worker->aheadResult = (Ahead){
      .first = worker->result +
               (box->first[THNN_SAMPLE] * worker->sides.resultPlanes + panel->first) * positions +
               THNN_convolutionStretch(boxes, box, 0),
      .length = box->stretch,
      .count = {boxSize(box, THNN_SAMPLE), panel->planes, box->stretches == 1},
      .stride = {worker->sides.resultPlanes * positions, positions, 0}};
  startAhead(&worker->aheadResult, sliceCount(worker));
}

/* ---- One task -------------------------------------------------------------------------------- */

/* Packs the panel's weights for source planes [first, end). Lanes without a plane hold zeros. */
static void packWeights(Worker *worker, const Panel *panel, int64_t first, int64_t end)
{
  const THNNConvolution *geometry = &worker->plan->geometry;
  const int64_t taps = worker->taps;
  if (worker->plan->part == THNN_CONVOLUTION_FORWARD) {
    const int64_t stride = geometry->inputPlanes * taps;
    panel->loops->pack(panel->planes, (end - first) * taps,
                       worker->weight + panel->first * stride + first * taps, stride,
                       worker->weights, panel->lanes);
    return;
  }
  for (int64_t plane = first; plane < end; plane++)
    panel->loops->pack(panel->planes, taps,
                       worker->weight + (plane * geometry->inputPlanes + panel->first) * taps, taps,
                       worker->weights + (plane - first) * taps * panel->lanes, panel->lanes);
}

/* Sets what the sums of every position start from: the bias, or zero. */
static void listBias(Worker *worker, const Panel *panel)
{
  THNN_(simd).pointwise.fill(panel->lanes, 0, worker->start);
  if (worker->bias)
    THNN_(simd).pointwise.copy(panel->planes, worker->bias + panel->first, worker->start);
}

/* Adds the terms of `planes` source planes to listed positions [first, end) of a class. `source`
 * and `weights` are those of the first of these planes. */
static void addSingly(const Worker *worker, const Panel *panel, const Class *class, int64_t first,
                      int64_t end, int64_t planes, const real *source, const real *weights,
                      const real *start)
{
  const THNN_(Products) products = {.row = class->position + first,
                                    .rows = end - first,
                                    .term = class->term,
                                    .terms = planes * class->taps,
                                    .vectors = panel->vectors,
                                    .scalars = source,
                                    .factors = weights,
                                    .start = start,
                                    .sums = worker->sums};
  panel->loops->add(&products);
}

/* The same for a class of lines. Each residue class of taps modulo `tapsApart` is a chain. */
static void addLines(const Worker *worker, const Panel *panel, const Class *class, int64_t first,
                     int64_t end, int64_t planes, const real *source, const real *weights,
                     const real *start)
{
  const Line *line = &class->line;
  THNN_(Chains)
  chains = {.line = class->position + first,
            .lines = end - first,
            .positions = line->positions,
            .chain = class->term,
            .chains = planes * class->taps,
            .vectors = panel->vectors,
            .spacing = line->spacing * line->element,
            .sumStep = line->positionSum,
            .factorStep = line->tapsApart * line->tapFactor,
            .start = start,
            .sums = worker->sums};
  for (int64_t residue = 0; residue < minimum(line->tapsApart, line->taps); residue++) {
    const int64_t seen = line->first + residue * line->tapStep;
    chains.begin = seen < 0 ? divideUp(-seen, line->spacing) : 0;
    chains.end = seen < line->size ? divideUp(line->size - seen, line->spacing) : 0;
    chains.taps = divideUp(line->taps - residue, line->tapsApart);
    chains.scalars = source + residue * line->tapStep * line->element;
    chains.factors = weights + residue * line->tapFactor;
    panel->loops->chains->add(&chains);
    chains.start = NULL;
  }
}

/* Adds a group of source planes to all listed classes; `weights` are its packed weights. */
static void addGroup(Worker *worker, const Panel *panel, const THNNConvolutionBox *box,
                     int64_t plane, int64_t planes, const real *weights)
{
  const int64_t first = box->first[THNN_SAMPLE] * worker->sides.sourcePlanes + plane;
  const real *source = worker->source + first * worker->sides.sourcePositions;
  const real *start = plane == 0 ? worker->start : NULL;
  for (const Class *class = worker->class; class < worker->class + worker->classes; class++)
    for (int64_t done = 0; done < class->positions; done += slicePositions(class)) {
      const int64_t end = minimum(done + slicePositions(class), class->positions);
      fetchAhead(&worker->aheadSource);
      fetchAhead(&worker->aheadResult);
      (class->line.spacing > 0 ? addLines : addSingly)(worker, panel, class, done, end, planes,
                                                       source, weights, start);
    }
}

/* Adds source planes [first, end), whose weights are packed, to the sums of the box. `next` is the
 * box that follows, or NULL. */
static void addPlanes(Worker *worker, const Panel *panel, const THNNConvolutionBox *box,
                      const THNNConvolutionBox *next, int64_t first, int64_t end)
{
  const THNNConvolutionGather *gather = &worker->plan->gather;
  const int64_t classes = gather->runs[0] * gather->runs[1] * gather->runs[2];
  const int64_t group = gather->groupPlanes;
  const Ahead source = sourceOf(worker, box);
  const Ahead nextSource = next ? sourceOf(worker, next) : (Ahead){0};
  for (int64_t listed = 0; listed < classes;) {
    listed = listClasses(worker, panel, box, listed);
    for (int64_t plane = first; plane < end; plane += group) {
      if (plane + group < worker->sides.sourcePlanes)
        aimAtSource(worker, &source, plane + group);
      else
        aimAtSource(worker, &nextSource, 0);
      if (plane + group >= worker->sides.sourcePlanes)
        aimAtResult(worker, panel, box);
      addGroup(worker, panel, box, plane, minimum(group, end - plane),
               worker->weights + (plane - first) * worker->taps * panel->lanes);
    }
  }
}

/* Runs one task. Tasks are ordered panel by panel, so that a thread packs the weights of few
 * panels. */
static void runTask(Worker *worker, int64_t task, int64_t tasks)
{
  const THNNConvolutionGather *gather = &worker->plan->gather;
  const int64_t boxes = THNN_convolutionBoxCount(&gather->boxes), index = task / boxes;
  const int64_t planes = worker->sides.sourcePlanes, block = gather->blockPlanes;
  const Panel panel = panelAt(worker->sides.resultPlanes, index);
  const THNNConvolutionBox box = THNN_convolutionBox(&gather->boxes, task % boxes);
  /* A guess at this thread's next task, as if threads took turns. */
  const int64_t nextTask = task + worker->plan->threads;
  const THNNConvolutionBox next = THNN_convolutionBox(&gather->boxes, nextTask % boxes);
  listBias(worker, &panel);
  for (int64_t first = 0; first < planes; first += block) {
    const int64_t end = minimum(first + block, planes);
    if (worker->packed != index)
      packWeights(worker, &panel, first, end);
    worker->packed = block >= planes ? index : -1;
    addPlanes(worker, &panel, &box, nextTask < tasks ? &next : NULL, first, end);
  }
  storeBox(&gather->boxes, &box, &panel, worker->sums, worker->result, worker->sides.resultPlanes,
           worker->sides.resultPositions);
}

/* Fills the shared part of the scratch block. */
static void listRuns(const THNNConvolutionPlan *plan, char *scratch, Worker *worker)
{
  for (int i = 0; i < 3; i++) {
    THNNConvolutionRun *run =
        takeScratch(&scratch, plan->gather.runs[i], sizeof(THNNConvolutionRun));
    runsOf(plan, i, plan->gather.along, run, plan->gather.runs[i]);
    worker->runs[i] = run;
  }
}

static void takeWorkerScratch(Worker *worker, char *scratch)
{
  const THNNConvolutionGather *gather = &worker->plan->gather;
  const int64_t positions = THNN_convolutionBoxPositions(&gather->boxes);
  worker->weights =
      takeScratch(&scratch, gather->blockPlanes * worker->taps * gather->panelLanes, sizeof(real));
  worker->start = takeScratch(&scratch, gather->panelLanes, sizeof(real));
  worker->sums = takeScratch(&scratch, positions * gather->panelLanes, sizeof(real));
  worker->position = takeScratch(&scratch, positions, sizeof(THNNOffsets));
  worker->term = takeScratch(&scratch, gather->listedTerms, sizeof(THNNOffsets));
  worker->class = takeScratch(&scratch, LISTED_CLASSES, sizeof(Class));
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
  const int threads = plan->threads;
  listRuns(plan, scratch, &common);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Worker worker = common;
    takeWorkerScratch(&worker, threadScratch(plan, scratch));
#pragma omp for schedule(static)
    for (int64_t task = 0; task < tasks; task++)
      runTask(&worker, task, tasks);
  }
}
