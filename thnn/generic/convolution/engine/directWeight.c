/* Direct convolution's weight gradient: for each map plane, image plane and tap the sum over batch
 * and positions of map gradient times image.
 *
 * A vector holds the map gradients of neighbouring planes at one position, which takes a transposed
 * copy [position][lane]; the image element is one scalar for all of them, read in place. The terms
 * of a sum are the map positions that see inside the image through the tap: nothing is unfolded.
 *
 * Taps through which the same positions see inside the image are added together. With padding there
 * are few such taps, and with few image planes they do not fill a register tile: then boxes read a
 * copy of the image with its padding (a frame), where along some dimensions all positions see
 * inside through all taps. As in gemm's columns, an infinite map gradient becomes NaN there.
 *
 * With one vector of map planes each product would need a load. There neighbouring taps make
 * chains, which see the same image element from neighbouring positions: it is loaded once for all
 * of them. The loops skip what a chain sees outside the image.
 *
 * Positions are processed box by box, in groups of boxes: all threads transpose the group's
 * gradients, then each task adds the whole group to weights of its own. A task is a panel of map
 * planes times a block of image planes and taps, summed up as [image plane][tap][lane]. Where that
 * makes few tasks, the boxes of a group are also divided into a fixed number of shares, whose
 * partial sums are added in order.
 *
 * Image and map gradient can be exchanged, so that few map planes do not leave most lanes empty, or
 * with one tap so that fewer planes are transposed: the sums are also those of another convolution,
 * whose image is the map gradient and whose taps run backwards. With a stride, its positions that
 * see inside the image through a tap are that far apart (their spread). */
#include "generic/convolution/engine/paddedBoxes.h"

/* Most positions of a box, which are the terms of a call of the loops. With a spread, a tap is used
 * by only some of the positions: then boxes are larger by the spread, up to a factor. */
static const int64_t BOX_POSITIONS = 512, MOST_SPREAD = 4;
/* Bytes of the transposed gradients of a group, which stay in the last-level cache. */
static const int64_t GROUP_BYTES = 2 << 20;
/* Bytes of the sums of a task, which stay in the second-level cache. */
static const int64_t TASK_BYTES = 256 << 10;
/* Least rows (image planes times taps) of a task: it lists and reads all gradients of its panel,
 * and with few rows would do little else. Tasks have more rows where boxes can be divided among
 * threads instead. */
static const int64_t WORTHWHILE_ROWS = 36, WORTHWHILE_SHARED_ROWS = 150;
/* Least image planes of a block. Taps through which other positions see inside the image are added
 * separately, and this many planes then fill a register tile. */
static const int64_t WORTHWHILE_PLANES = 8;
/* With more image planes, frames cost more by products with zeros than they save. */
static const int64_t MOST_FRAMED_PLANES = 16;

/* Image planes [planeFirst, planeEnd) and taps [tapFirst, tapEnd). */
typedef struct Block {
  int64_t planeFirst, planeEnd, tapFirst, tapEnd;
} Block;

/* Taps of one dimension: every step-th of [first, end). Through all of them the same positions of
 * the box see inside the image: `range`, whose start is that of the first tap; with a spread, only
 * every spread-th position. Or a chain of taps, whose range is all positions of the box. */
typedef struct TapGroup {
  int64_t first, end, step;
  THNNConvolutionTap range;
} TapGroup;

/* A list of rows: the image planes and taps of a block that belong to three groups (one for each
 * dimension), or chains of these taps. The rows are `count` entries of Correlation.row, beginning
 * with entry `of.begin`; `of` is what they depend on. */
typedef struct Rows {
  struct RowsOf {
    Block block;
    int64_t lanes;
    bool chains;
    int64_t first[3], end[3]; /* first tap and end of the groups */
    int64_t begin;
  } of;
  int64_t count;
} Rows;

/* Lists of rows that are kept from box to box; all further groups share one more. */
enum { KEPT_ROWS = 64 };

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct Correlation {
  const THNNConvolutionPlan *plan;
  int64_t taps, boxPositions;
  const real *image, *gradMap;
  real scale;
  real *gradWeight, *gradBias;      /* gradBias can be NULL */
  const THNNConvolutionTap *tap[3]; /* taps of each dimension */
  int64_t tapStep[3];
  real *transposed;      /* the group's gradients: [panel][box][position][lane] */
  real *frames;          /* frames of the group's boxes; NULL if the image itself is read */
  int64_t frameElements; /* elements of one frame */
  real *sharedSums;      /* sums of each [task][share], laid out as `sums`; NULL with one share */
  real *boxSums;         /* sums of gradients: [box][panel][lane], or exchanged [box][plane] */
  double *planeSums;     /* the same summed over all boxes so far */

  real *sums;               /* [image plane][tap][lane] of the task or share */
  real *transposedSums;     /* [lane][image plane][tap] */
  THNNOffsets *row;         /* offsets in image and sums of each image plane and tap */
  Rows kept[KEPT_ROWS + 1]; /* the lists in `row`, in the order of the groups in a box */
  THNNOffsets *term;        /* offsets in image and gradients of each position */
} Correlation;

typedef struct Task {
  int64_t panelIndex;
  Panel panel;
  Block block;
} Task;

/* ---- Planning -------------------------------------------------------------------------------- */

/* Number of taps of the largest block. */
static int64_t blockTaps(const THNNConvolutionCorrelate *correlate, int64_t taps)
{
  return divideUp(taps / correlate->tapUnit, correlate->tapBlocks) * correlate->tapUnit;
}

/* Number of rows (image planes times taps) of the largest block. */
static int64_t blockRows(const THNNConvolutionCorrelate *correlate, int64_t planes, int64_t taps)
{
  return divideUp(planes, correlate->planeBlocks) * blockTaps(correlate, taps);
}

/* Cuts planes into blocks, and taps too where planes are few: enough blocks for several threads,
 * and so small that their sums stay in cache. Lines of `lineTaps` taps are not cut if their sums
 * stay in cache. */
static void chooseBlocks(THNNConvolutionCorrelate *correlate, int64_t planes, int64_t taps,
                         int64_t lineTaps, int64_t panels, int64_t rowsInCache)
{
  const int64_t rows = planes * taps;
  const int64_t worthwhile =
      correlate->groupBoxes < ENOUGH_BLOCKS ? WORTHWHILE_ROWS : WORTHWHILE_SHARED_ROWS;
  const int64_t shared = maximum(divideUp(rows * panels, ENOUGH_BLOCKS), worthwhile);
  const int64_t blocks = divideUp(rows, minimum(shared, rowsInCache));
  correlate->planeBlocks = minimum(blocks, maximum(planes / WORTHWHILE_PLANES, 1));
  correlate->tapUnit =
      divideUp(planes, correlate->planeBlocks) * lineTaps <= rowsInCache ? lineTaps : 1;
  correlate->tapBlocks =
      minimum(divideUp(blocks, correlate->planeBlocks), taps / correlate->tapUnit);
}

static int64_t taskCount(const THNNConvolutionPlan *plan)
{
  return panelCount(plan->geometry.outputPlanes) * plan->correlate.planeBlocks *
         plan->correlate.tapBlocks;
}

/* Number of elements that the sums of a task take. */
static int64_t taskSums(const THNNConvolutionPlan *plan)
{
  const THNNConvolutionCorrelate *correlate = &plan->correlate;
  const int64_t rows =
      blockRows(correlate, plan->geometry.inputPlanes, THNN_convolutionTaps(&plan->geometry));
  return scratchBytes(rows * correlate->panelLanes, sizeof(real)) / (int64_t)sizeof(real);
}

/* Whether the sums of the boxes' gradients are those for the bias. Exchanged, boxes are made of
 * image positions, which are map positions only in a pointwise convolution. */
static bool sumsGradients(const THNNConvolutionPlan *plan)
{
  return !plan->correlate.exchanged || THNN_convolutionIsPointwise(&plan->geometry);
}

/* Number of sums that a box has of its gradients. */
static int64_t sumCount(const THNNConvolutionPlan *plan)
{
  const THNNConvolution *geometry = &plan->geometry;
  return plan->correlate.exchanged
             ? geometry->inputPlanes
             : panelCount(geometry->outputPlanes) * plan->correlate.panelLanes;
}

/* Bytes of a box's frame. */
static int64_t frameBytes(const THNNConvolutionPlan *plan)
{
  return scratchBytes(THNN_(boxFrames_elements)(&plan->geometry, &plan->correlate.boxes),
                      sizeof(real));
}

/* Number of shares that the boxes of a group are divided into for each task: 1 if there are enough
 * tasks, otherwise an even number, so that two threads get equally many. Fewer tasks are enough if
 * the panels divide evenly between two threads. */
static int64_t chooseShares(const THNNConvolutionPlan *plan, int64_t roomBytes)
{
  const int64_t tasks = taskCount(plan);
  const int64_t room = roomBytes / (tasks * taskSums(plan) * (int64_t)sizeof(real));
  const bool evenPanels = panelCount(plan->geometry.outputPlanes) % 2 == 0;
  const int64_t enough = evenPanels ? ENOUGH_BLOCKS : 2 * ENOUGH_BLOCKS;
  const int64_t wanted = tasks < enough ? 2 * divideUp(ENOUGH_BLOCKS, tasks) : 1;
  const int64_t shares = maximum(minimum(wanted, minimum(plan->correlate.groupBoxes, room)), 1);
  return shares > 1 ? shares - shares % 2 : 1;
}

/* The convolution with image and map gradient exchanged: an image position sees the map through the
 * taps in reverse. */
static THNNConvolution exchange(const THNNConvolution *geometry)
{
  THNNConvolution exchanged = *geometry;
  exchanged.inputPlanes = geometry->outputPlanes;
  exchanged.outputPlanes = geometry->inputPlanes;
  for (int i = 0; i < 3; i++) {
    exchanged.input[i] = geometry->output[i];
    exchanged.output[i] = geometry->input[i];
    exchanged.pad[i] = (geometry->kernel[i] - 1) * geometry->dilation[i] - geometry->pad[i];
  }
  return exchanged;
}

/* Distance between neighbouring positions that see inside the image through the same tap. */
static int64_t spread(const THNNConvolutionPlan *plan, int dimension)
{
  return plan->correlate.exchanged ? plan->geometry.stride[dimension] : 1;
}

/* Distance between neighbouring taps through which the same residue class of positions sees inside
 * the image; at most the kernel's size. */
static int64_t tapStep(const THNNConvolutionPlan *plan, int dimension)
{
  const THNNConvolution *geometry = &plan->geometry;
  int64_t step = 1;
  while (step < geometry->kernel[dimension] &&
         step * geometry->dilation[dimension] % spread(plan, dimension))
    step++;
  return step;
}

/* Which positions see inside the image through a tap. With a spread, `begin` is the first of them,
 * and `end` is a multiple of the spread after it. */
static THNNConvolutionTap tapSeen(const THNNConvolutionPlan *plan, int dimension, int64_t tap)
{
  const THNNConvolution *geometry = &plan->geometry;
  if (!plan->correlate.exchanged)
    return THNN_convolutionTap(geometry, dimension, tap);
  const THNNConvolution original = exchange(geometry);
  const THNNConvolutionTap seen =
      THNN_convolutionTap(&original, dimension, geometry->kernel[dimension] - 1 - tap);
  const int64_t stride = geometry->stride[dimension];
  return (THNNConvolutionTap){.start = -seen.start,
                              .begin = seen.begin * stride + seen.start,
                              .end = seen.end * stride + seen.start};
}

/* The image index that a position sees through a tap whose THNNConvolutionTap has this start. */
static int64_t indexSeen(const THNNConvolutionPlan *plan, int dimension, int64_t position,
                         int64_t start)
{
  const int64_t stride = plan->geometry.stride[dimension];
  return plan->correlate.exchanged ? (position + start) / stride : position * stride + start;
}

/* Smallest step between map positions that see the same image elements through different taps. Each
 * residue class of positions modulo this step is a line for chains. */
static int64_t positionsApart(const THNNConvolution *geometry)
{
  return geometry->dilation[2] / greatestCommonDivisor(geometry->stride[2], geometry->dilation[2]);
}

/* Distance between neighbouring taps of a chain; 0 if there are no chains. */
static int64_t tapsApart(const THNNConvolutionPlan *plan)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t positions = positionsApart(geometry);
  const int64_t apart = positions * geometry->stride[2] / geometry->dilation[2];
  const bool one = geometry->outputPlanes <= productsFor(geometry->outputPlanes)->lanes;
  const bool fits = spread(plan, 2) == 1 && geometry->kernel[2] > apart &&
                    geometry->output[2] >= positions * THNN_CHAIN_TAPS;
  return one && fits ? apart : 0;
}

/* The end of the chain that begins with tap `first`. The taps of one residue class make as few
 * chains as possible, of nearly equal lengths. */
static int64_t chainEnd(int64_t first, int64_t kernel, int64_t apart)
{
  const int64_t residue = first % apart, taps = divideUp(kernel - residue, apart);
  const int64_t chains = divideUp(taps, THNN_CHAIN_TAPS);
  int64_t chain = 1;
  while (taps * chain / chains <= first / apart)
    chain++;
  return residue + taps * chain / chains * apart;
}

/* For each dimension: the number of groups of taps, or of chains; and the number of positions that
 * see inside the image, summed over all taps. */
typedef struct Meetings {
  int64_t groups[3], positions[3];
} Meetings;

static Meetings countMeetings(const THNNConvolutionPlan *plan)
{
  Meetings meetings = {.groups = {0}};
  for (int i = 0; i < 3; i++) {
    const int64_t step = tapStep(plan, i);
    for (int64_t t = 0; t < plan->geometry.kernel[i]; t++) {
      const THNNConvolutionTap tap = tapSeen(plan, i, t);
      const THNNConvolutionTap last =
          t < step ? (THNNConvolutionTap){.begin = -1} : tapSeen(plan, i, t - step);
      meetings.groups[i] += tap.begin != last.begin || tap.end != last.end;
      meetings.positions[i] += (tap.end - tap.begin) / spread(plan, i);
    }
  }
  const int64_t kernel = plan->geometry.kernel[2], apart = tapsApart(plan);
  if (apart)
    meetings.groups[2] = 0;
  for (int64_t residue = 0; residue < apart; residue++)
    meetings.groups[2] += divideUp(divideUp(kernel - residue, apart), THNN_CHAIN_TAPS);
  return meetings;
}

/* Meetings with frames along the innermost `dimensions` dimensions. */
static Meetings framedMeetings(Meetings meetings, const THNNConvolution *geometry, int dimensions)
{
  for (int i = 3 - dimensions; i < 3; i++) {
    meetings.groups[i] = 1;
    meetings.positions[i] = geometry->kernel[i] * geometry->output[i];
  }
  return meetings;
}

/* The cost of fetching cache lines in a pointwise convolution, which has only one tap to use what
 * it has read: each panel reads all planes, in short stretches. */
static double streamingCost(const THNNConvolution *geometry)
{
  enum { LINE_BYTES = 64 };
  if (!THNN_convolutionIsPointwise(geometry))
    return 0;
  const double lines = (double)geometry->inputPlanes * THNN_convolutionMapPositions(geometry) *
                       sizeof(real) / LINE_BYTES;
  const double vectorsPerLine = LINE_BYTES / (THNN_(simd).products.lanes * (double)sizeof(real));
  return 5.5 * panelCount(geometry->outputPlanes) * lines * (vectorsPerLine - 1);
}

/* The cost of the bias gradient with exchanged operands: the map gradients are read once more, from
 * a cache if that is done box by box. */
static double biasCost(const THNNConvolutionPlan *plan)
{
  const THNNConvolution *geometry = &plan->geometry;
  if (!plan->correlate.exchanged)
    return 0;
  return (sumsGradients(plan) ? 0.015 : 0.04) * sizeof(real) * (double)geometry->batch *
         (double)geometry->inputPlanes * (double)THNN_convolutionImagePositions(geometry);
}

/* The total cost: products, where a single vector of planes needs a load for each except in chains;
 * listing the lines of each group of taps; the sums of each box; transposing and framing. */
static double weightCost(const THNNConvolutionPlan *plan, const Meetings *meetings)
{
  const THNNConvolution *geometry = &plan->geometry;
  const THNNConvolutionCorrelate *correlate = &plan->correlate;
  const int64_t planes = geometry->outputPlanes;
  const double vectors = (double)divideUp(planes, productsFor(planes)->lanes);
  const double panels = (double)panelCount(planes);
  const double rows = (double)geometry->inputPlanes * THNN_convolutionTaps(geometry);
  const double groups = (double)meetings->groups[0] * meetings->groups[1] * meetings->groups[2];
  const double products = (double)meetings->positions[0] * meetings->positions[1] *
                          meetings->positions[2] * geometry->inputPlanes;
  const double lines = (double)geometry->output[0] * geometry->output[1];
  const bool chains = tapsApart(plan) > 0;
  /* Fitted; with a spread, boxes are larger. */
  const double perVector = spread(plan, 2) > 1 ? 3 : 5.4;
  const double sample =
      products * (chains         ? 0.57
                  : vectors == 1 ? 0.8
                                 : 0.6 * vectors) +
      (chains ? 20 : 41) * panels * groups * lines / (double)spread(plan, 0) /
          (double)spread(plan, 1) +
      lines * geometry->output[2] * (0.07 * sizeof(real) * planes + perVector * vectors) +
      streamingCost(geometry);
  const double frames =
      correlate->framedDimensions ? THNN_(boxFrames_cost)(geometry, &correlate->boxes) : 0;
  return geometry->batch * sample +
         26 * panels * rows * THNN_convolutionBoxCount(&correlate->boxes) + frames +
         (correlate->exchanged ? 3.9 : 1.2) * weightElements(geometry) + biasCost(plan);
}

/* Chooses which dimensions are framed, and sets the plan's cost. */
static void chooseFrames(THNNConvolutionPlan *plan, int64_t roomBytes)
{
  const THNNConvolution *geometry = &plan->geometry;
  const Meetings meetings = countMeetings(plan);
  plan->cost = weightCost(plan, &meetings);
  /* Chains skip what is outside the image anyway. With exchanged operands, zeros would be
   * multiplied with image elements on which the gradient must not depend. */
  if (tapsApart(plan) || geometry->inputPlanes > MOST_FRAMED_PLANES || plan->correlate.exchanged ||
      frameBytes(plan) > roomBytes)
    return;
  THNNConvolutionPlan framed = *plan;
  for (int dimensions = 1; dimensions <= 3; dimensions++) {
    if (meetings.groups[3 - dimensions] == 1)
      continue;
    const Meetings fewer = framedMeetings(meetings, geometry, dimensions);
    framed.correlate.framedDimensions = dimensions;
    framed.cost = weightCost(&framed, &fewer);
    if (framed.cost < plan->cost)
      *plan = framed;
  }
}

static bool prepareOrder(THNNConvolutionPlan *plan, bool exchanged, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  const int64_t taps = THNN_convolutionTaps(geometry), panels = panelCount(geometry->outputPlanes);
  THNNConvolutionPlan direct = *plan;
  THNNConvolutionCorrelate *correlate = &direct.correlate;
  *correlate = (THNNConvolutionCorrelate){.panelLanes = mostPanelLanes(geometry->outputPlanes),
                                          .exchanged = exchanged};
  const int64_t vectorBytes = correlate->panelLanes * (int64_t)sizeof(real);

  const int64_t groupBytes = minimum(GROUP_BYTES, limitBytes / 2);
  const int64_t room = groupBytes / (vectorBytes * panels);
  int64_t spreads = 1;
  for (int i = 0; i < 3; i++)
    spreads = minimum(spreads * spread(&direct, i), MOST_SPREAD);
  correlate->boxes = THNN_convolutionBoxes(geometry->batch, geometry->output, 1,
                                           maximum(minimum(BOX_POSITIONS * spreads, room), 1));
  const int64_t positions = THNN_convolutionBoxPositions(&correlate->boxes);
  int64_t groupBoxes = maximum(room / positions, 1);
  chooseFrames(&direct, groupBytes / 2);
  if (correlate->framedDimensions)
    groupBoxes = minimum(groupBoxes, groupBytes / 2 / frameBytes(&direct));
  const int64_t boxes = THNN_convolutionBoxCount(&correlate->boxes);
  correlate->groupBoxes = minimum(groupBoxes, boxes);
  const int64_t lineTaps = tapsApart(&direct) ? geometry->kernel[2] : 1;
  chooseBlocks(correlate, geometry->inputPlanes, taps, lineTaps, panels,
               maximum(minimum(TASK_BYTES, limitBytes / 8) / vectorBytes, 1));
  /* Chains need whole lines of taps. */
  correlate->tapsApart = correlate->tapUnit == geometry->kernel[2] ? tapsApart(&direct) : 0;
  correlate->shares = chooseShares(&direct, limitBytes / 8);
  /* Shares have equally many boxes, since threads wait for each other after every group. */
  correlate->groupBoxes = evenBlock(
      boxes, correlate->groupBoxes - correlate->groupBoxes % correlate->shares, correlate->shares);

  const int64_t rows = blockRows(correlate, geometry->inputPlanes, taps);
  const int64_t sumsBytes = taskSums(&direct) * (int64_t)sizeof(real);
  int64_t sharedBytes = scratchBytes(
      panels * correlate->groupBoxes * positions * correlate->panelLanes, sizeof(real));
  if (correlate->framedDimensions)
    sharedBytes += correlate->groupBoxes * frameBytes(&direct);
  for (int i = 0; i < 3; i++)
    sharedBytes += scratchBytes(geometry->kernel[i], sizeof(THNNConvolutionTap));
  sharedBytes += scratchBytes(correlate->groupBoxes * sumCount(&direct), sizeof(real));
  sharedBytes += scratchBytes(sumCount(&direct), sizeof(double));
  if (correlate->shares > 1)
    sharedBytes += taskCount(&direct) * correlate->shares * sumsBytes;
  const int64_t threadBytes = 2 * sumsBytes + scratchBytes(rows, sizeof(THNNOffsets)) +
                              scratchBytes(positions, sizeof(THNNOffsets));
  if (room < 1 || sharedBytes + threadBytes > limitBytes)
    return false;

  direct.algorithm = THNN_CONVOLUTION_DIRECT;
  direct.threads =
      THNN_threads(state, taskCount(&direct) * correlate->shares, convolutionOperations(geometry));
  direct.sharedBytes = (size_t)sharedBytes;
  direct.threadBytes = (size_t)threadBytes;
  direct.scratchBytes = direct.sharedBytes + direct.threadBytes * (size_t)direct.threads;
  *plan = direct;
  return true;
}

/* Whether exchanging the operands can fill more lanes, or leave fewer planes to transpose. */
static bool mayExchange(const THNNConvolution *geometry)
{
  return geometry->outputPlanes < geometry->inputPlanes ||
         (THNN_convolutionIsPointwise(geometry) && geometry->outputPlanes > geometry->inputPlanes);
}

bool THNN_(ConvolutionDirectWeight_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  THNNConvolutionPlan exchanged = *plan;
  const bool possible = prepareOrder(plan, false, state);
  if (!mayExchange(&exchanged.geometry))
    return possible;
  exchanged.geometry = exchange(&plan->geometry);
  if (!prepareOrder(&exchanged, true, state))
    return possible;
  if (!possible || exchanged.cost < plan->cost) {
    exchanged.geometry = plan->geometry;
    *plan = exchanged;
  }
  return true;
}

/* ---- Transposing a group --------------------------------------------------------------------- */

/* Where the transposed gradients of a panel are, for a box of the group. */
static real *transposedBox(const Correlation *correlation, int64_t panel, int64_t box)
{
  const THNNConvolutionCorrelate *correlate = &correlation->plan->correlate;
  return correlation->transposed +
         (panel * correlate->groupBoxes + box) * correlation->boxPositions * correlate->panelLanes;
}

/* Fills the frames of the group's boxes. All threads of the parallel region call this. */
static void fillFrames(const Correlation *correlation, int64_t groupFirst, int64_t count)
{
  const THNNConvolutionBoxes *boxes = &correlation->plan->correlate.boxes;
#pragma omp for schedule(static) nowait
  for (int64_t i = 0; i < count; i++) {
    const THNNConvolutionBox box = THNN_convolutionBox(boxes, groupFirst + i);
    THNN_(boxFrames_fill)(&correlation->plan->geometry, boxes, &box, correlation->image,
                          correlation->frames + i * correlation->frameElements);
  }
}

static real *boxSums(const Correlation *correlation, int64_t box)
{
  return correlation->boxSums + box * sumCount(correlation->plan);
}

/* Transposes a panel's gradients of one box, which is the group's `place`-th. Lanes without a plane
 * hold zeros. */
static void transposeBox(const Correlation *correlation, int64_t panelIndex, int64_t boxIndex,
                         int64_t place)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const THNNConvolutionBoxes *boxes = &correlation->plan->correlate.boxes;
  const THNNConvolutionBox box = THNN_convolutionBox(boxes, boxIndex);
  const Panel panel = panelAt(geometry->outputPlanes, panelIndex);
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  real *transposed = transposedBox(correlation, panelIndex, place);
  for (int64_t sample = box.first[THNN_SAMPLE]; sample < box.end[THNN_SAMPLE]; sample++) {
    const real *planes =
        correlation->gradMap + (sample * geometry->outputPlanes + panel.first) * positions;
    for (int64_t stretch = 0; stretch < box.stretches; stretch++) {
      panel.loops->pack(panel.planes, box.stretch,
                        planes + THNN_convolutionStretch(boxes, &box, stretch), positions,
                        transposed, panel.lanes);
      transposed += box.stretch * panel.lanes;
    }
  }
  if (!correlation->gradBias || correlation->plan->correlate.exchanged)
    return;
  real *sums = boxSums(correlation, place) + panelIndex * correlation->plan->correlate.panelLanes;
  THNN_(simd).pointwise.fill(correlation->plan->correlate.panelLanes, 0, sums);
  panel.loops->total(box.positions, panel.vectors, transposedBox(correlation, panelIndex, place),
                     sums);
}

/* The first box of share number `share` of a group of `count` boxes. */
static int64_t shareBegin(const Correlation *correlation, int64_t count, int64_t share)
{
  return count * share / correlation->plan->correlate.shares;
}

/* Transposes the panel and box that come `index`-th in the order of tasks: share by share, and
 * panel by panel within a share. So a thread adds up what it has transposed itself, which is in its
 * cache; fetching it from another core's takes long. */
static void transposeNext(const Correlation *correlation, int64_t groupFirst, int64_t count,
                          int64_t index)
{
  const int64_t panels = panelCount(correlation->plan->geometry.outputPlanes);
  const int64_t shares = correlation->plan->correlate.shares;
  const int64_t share = ((index / panels + 1) * shares - 1) / count;
  const int64_t first = shareBegin(correlation, count, share);
  const int64_t boxes = shareBegin(correlation, count, share + 1) - first;
  const int64_t inShare = index - first * panels, place = first + inShare % boxes;
  transposeBox(correlation, inShare / boxes, groupFirst + place, place);
}

/* Adds the sums of a group's boxes to those of the planes. All threads of the parallel region call
 * this, and wait at its end: the next group's boxes overwrite these sums. */
static void addBoxSums(const Correlation *correlation, int64_t count)
{
  const int64_t sums = sumCount(correlation->plan);
#pragma omp for schedule(static)
  for (int64_t i = 0; i < sums; i++)
    for (int64_t box = 0; box < count; box++)
      correlation->planeSums[i] += boxSums(correlation, box)[i];
}

static void addBias(const Correlation *correlation, accreal scale)
{
  const THNNConvolutionPlan *plan = correlation->plan;
  const int64_t planes = plan->geometry.outputPlanes;
  if (plan->correlate.exchanged) {
    for (int64_t i = 0; i < sumCount(plan); i++)
      correlation->gradBias[i] += (real)(scale * correlation->planeSums[i]);
    return;
  }
  for (int64_t index = 0; index < panelCount(planes); index++) {
    const Panel panel = panelAt(planes, index);
    const double *sums = correlation->planeSums + index * plan->correlate.panelLanes;
    for (int64_t lane = 0; lane < panel.planes; lane++)
      correlation->gradBias[panel.first + lane] += (real)(scale * sums[lane]);
  }
}

/* ---- One task -------------------------------------------------------------------------------- */

static THNNConvolutionTap clipTap(THNNConvolutionTap tap, const THNNConvolutionBox *box,
                                  int dimension, int64_t apart)
{
  const int64_t first = box->first[THNN_DEPTH + dimension];
  const int64_t end = minimum(tap.end, box->end[THNN_DEPTH + dimension]);
  tap.begin += roundUp(maximum(first - tap.begin, 0), apart);
  tap.end = tap.begin + roundUp(maximum(end - tap.begin, 0), apart);
  return tap;
}

/* The chain along the width that begins with tap `first`. If it is a single tap, its range is the
 * positions that see inside the image through it. */
static TapGroup chainGroup(const Correlation *correlation, const THNNConvolutionBox *box,
                           int64_t first, int64_t apart)
{
  TapGroup group = {first, chainEnd(first, correlation->plan->geometry.kernel[2], apart), apart,
                    correlation->tap[2][first]};
  if (group.end - first == apart)
    group.range = clipTap(group.range, box, 2, 1);
  else {
    group.range.begin = box->first[THNN_WIDTH];
    group.range.end = box->end[THNN_WIDTH];
  }
  return group;
}

/* The group that begins at tap `first`. */
static TapGroup tapGroup(const Correlation *correlation, const THNNConvolutionBox *box,
                         int dimension, int64_t first)
{
  const THNNConvolutionTap *taps = correlation->tap[dimension];
  const int64_t kernel = correlation->plan->geometry.kernel[dimension];
  const int64_t apart = spread(correlation->plan, dimension),
                step = correlation->tapStep[dimension];
  TapGroup group = {first, first + step, step, clipTap(taps[first], box, dimension, apart)};
  for (; group.end < kernel; group.end += step) {
    const THNNConvolutionTap next = clipTap(taps[group.end], box, dimension, apart);
    if (next.begin != group.range.begin || next.end != group.range.end)
      break;
  }
  return group;
}

/* The first tap of the next group, in the same residue class modulo the step or in the next one. */
static int64_t nextGroup(const TapGroup *group, int64_t kernel)
{
  if (group->end < kernel)
    return group->end;
  const int64_t remainder = group->first % group->step + 1;
  return remainder < group->step ? remainder : kernel;
}

/* What a box sees of the image: its frame, or the image itself. */
typedef struct View {
  const real *elements;      /* elements of the box's first sample */
  int64_t first[3], size[3]; /* image index that a plane begins with, and its size */
  int64_t plane;             /* elements of a plane */
} View;

static View viewOf(const Correlation *correlation, const THNNConvolutionBox *box, int64_t place)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  View view = {.size = {geometry->input[0], geometry->input[1], geometry->input[2]},
               .plane = THNN_convolutionImagePositions(geometry)};
  view.elements = correlation->image + box->first[THNN_SAMPLE] * geometry->inputPlanes * view.plane;
  if (!correlation->frames)
    return view;
  boxFrameSize(geometry, &correlation->plan->correlate.boxes, view.size);
  for (int i = 0; i < 3; i++)
    view.first[i] = boxFrameFirst(geometry, box, i);
  view.plane = view.size[0] * view.size[1] * view.size[2];
  view.elements = correlation->frames + place * correlation->frameElements;
  return view;
}

/* Lists the image planes of the block with each tap of the groups that belongs to the block, or
 * with the first tap of each chain: their offsets in the image, from the groups' first taps, and in
 * the sums. Returns the number of rows. */
static int64_t listRows(const Correlation *correlation, const struct RowsOf *rows, const View *view,
                        const TapGroup *group, THNNOffsets *row)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const int64_t *kernel = geometry->kernel, *dilation = geometry->dilation;
  const Block *block = &rows->block;
  const int64_t planes = block->planeEnd - block->planeFirst;
  const int64_t apart[] = {spread(correlation->plan, 0), spread(correlation->plan, 1),
                           spread(correlation->plan, 2)};
  const THNNOffsets step = {view->plane, (block->tapEnd - block->tapFirst) * rows->lanes};
  const int64_t endX = rows->chains ? group[2].first + 1 : group[2].end;
  int64_t count = 0;
  for (int64_t z = group[0].first; z < group[0].end; z += group[0].step)
    for (int64_t y = group[1].first; y < group[1].end; y += group[1].step)
      for (int64_t x = group[2].first; x < endX; x += group[2].step) {
        const int64_t tap = (z * kernel[1] + y) * kernel[2] + x;
        if (tap < block->tapFirst || tap >= block->tapEnd)
          continue;
        const int64_t slice = (z - group[0].first) * dilation[0] / apart[0];
        const int64_t height = (y - group[1].first) * dilation[1] / apart[1];
        const int64_t column = (x - group[2].first) * dilation[2] / apart[2];
        row[count++] = (THNNOffsets){(slice * view->size[1] + height) * view->size[2] + column,
                                     (tap - block->tapFirst) * rows->lanes};
      }
  for (int64_t plane = 1; plane < planes; plane++) {
    const THNNOffsets by = {plane * step.scalar, plane * step.vector};
    moveOffsets(count, row, by, row + plane * count);
  }
  return planes * count;
}

static bool isSame(const struct RowsOf *a, const struct RowsOf *b)
{
  bool same = a->lanes == b->lanes && a->chains == b->chains && a->begin == b->begin &&
              a->block.planeFirst == b->block.planeFirst &&
              a->block.planeEnd == b->block.planeEnd && a->block.tapFirst == b->block.tapFirst &&
              a->block.tapEnd == b->block.tapEnd;
  for (int i = 0; i < 3; i++)
    same = same && a->first[i] == b->first[i] && a->end[i] == b->end[i];
  return same;
}

/* Lists the rows of the groups, which are the box's `place`-th, after those of the groups before.
 * Reuses the previous box's list if it is the same, which it is with one group, or if boxes are
 * whole samples. */
static const Rows *listGroups(Correlation *correlation, const Task *task, const View *view,
                              const TapGroup *group, bool chains, int64_t place)
{
  Rows *kept = &correlation->kept[minimum(place, KEPT_ROWS)];
  struct RowsOf of = {.block = task->block,
                      .lanes = task->panel.lanes,
                      .chains = chains,
                      .begin = place ? kept[-1].of.begin + kept[-1].count : 0};
  for (int i = 0; i < 3; i++) {
    of.first[i] = group[i].first;
    of.end[i] = group[i].end;
  }
  if (isSame(&kept->of, &of))
    return kept;
  /* The next list has to be built anew, since these rows can overwrite its rows. */
  kept[place < KEPT_ROWS].of.lanes = 0;
  kept->of = of;
  kept->count = listRows(correlation, &of, view, group, correlation->row + of.begin);
  return kept;
}

/* Lists the positions of the box that see inside the image through the groups' taps, or with chains
 * the first position of each line. Returns their number. */
static int64_t listTerms(const Correlation *correlation, const THNNConvolutionBox *box,
                         const View *view, const TapGroup *group, bool chains, int64_t lanes)
{
  const THNNConvolutionPlan *plan = correlation->plan;
  const int64_t inputPlanes = plan->geometry.inputPlanes, *first = view->first;
  const int64_t height = box->end[THNN_HEIGHT] - box->first[THNN_HEIGHT];
  const int64_t width = box->end[THNN_WIDTH] - box->first[THNN_WIDTH];
  const int64_t samplePositions = (box->end[THNN_DEPTH] - box->first[THNN_DEPTH]) * height * width;
  const THNNConvolutionTap *z = &group[0].range, *y = &group[1].range, *x = &group[2].range;
  const int64_t apart = spread(plan, 2), positions = (x->end - x->begin) / apart;
  const THNNOffsets step = {plan->correlate.exchanged ? 1 : plan->geometry.stride[2],
                            apart * lanes};
  int64_t count = 0;
  for (int64_t n = 0; n < box->end[THNN_SAMPLE] - box->first[THNN_SAMPLE]; n++)
    for (int64_t mapZ = z->begin; mapZ < z->end; mapZ += spread(plan, 0))
      for (int64_t mapY = y->begin; mapY < y->end; mapY += spread(plan, 1)) {
        const int64_t slice = indexSeen(plan, 0, mapZ, z->start) - first[0];
        const int64_t line = slice * view->size[1] + indexSeen(plan, 1, mapY, y->start) - first[1];
        const int64_t mapLine =
            (mapZ - box->first[THNN_DEPTH]) * height + mapY - box->first[THNN_HEIGHT];
        const int64_t position =
            n * samplePositions + mapLine * width + x->begin - box->first[THNN_WIDTH];
        const THNNOffsets begin = {n * inputPlanes * view->plane + line * view->size[2] +
                                       indexSeen(plan, 2, x->begin, x->start) - first[2],
                                   position * lanes};
        if (chains) {
          correlation->term[count++] = begin;
          continue;
        }
        listOffsets(positions, begin, step, correlation->term + count);
        count += positions;
      }
  return count;
}

/* One box and the taps of three groups, whose products are added to the sums of a task. */
typedef struct Meeting {
  const Task *task;
  const THNNConvolutionBox *box;
  View view;
  TapGroup group[3];
  const real *scalars, *factors;
} Meeting;

/* Adds rows that are single taps. */
static void addTaps(const Correlation *correlation, const Meeting *meeting, const Rows *rows)
{
  const Panel *panel = &meeting->task->panel;
  const THNN_(Products) products = {
      .row = correlation->row + rows->of.begin,
      .rows = rows->count,
      .term = correlation->term,
      .terms =
          listTerms(correlation, meeting->box, &meeting->view, meeting->group, false, panel->lanes),
      .vectors = panel->vectors,
      .scalars = meeting->scalars,
      .factors = meeting->factors,
      .streams =
          THNN_convolutionIsPointwise(&correlation->plan->geometry) ? meeting->view.plane : 0,
      .sums = correlation->sums};
  if (products.terms)
    panel->loops->add(&products);
}

/* Adds rows that are chains of taps. */
static void addChains(const Correlation *correlation, const Meeting *meeting, const Rows *rows)
{
  const Panel *panel = &meeting->task->panel;
  const View *view = &meeting->view;
  const TapGroup *chain = &meeting->group[2];
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const int64_t lines = positionsApart(geometry), spacing = lines * geometry->stride[2];
  const int64_t positions = chain->range.end - chain->range.begin;
  THNN_(Correlations)
  chains = {.row = correlation->row + rows->of.begin,
            .rows = rows->count,
            .taps = (int)((chain->end - chain->first) / chain->step),
            .line = correlation->term,
            .lines = listTerms(correlation, meeting->box, view, meeting->group, true, panel->lanes),
            .spacing = spacing,
            .sumStep = chain->step * panel->lanes,
            .factorStep = lines * panel->lanes,
            .sums = correlation->sums};
  for (int64_t line = 0; line < lines; line++) {
    const int64_t seen =
        (chain->range.begin + line) * geometry->stride[2] + chain->range.start - view->first[2];
    chains.positions = divideUp(positions - line, lines);
    chains.begin = seen < 0 ? divideUp(-seen, spacing) : 0;
    chains.end = seen < view->size[2] ? divideUp(view->size[2] - seen, spacing) : 0;
    chains.scalars = meeting->scalars + line * geometry->stride[2];
    chains.factors = meeting->factors + line * panel->lanes;
    if (chains.lines && chains.begin < chains.end)
      panel->loops->chains->correlate(&chains);
  }
}

/* Adds one box, which is the group's `place`-th, to the sums of the task. */
static void addBox(Correlation *correlation, const Task *task, const THNNConvolutionBox *box,
                   int64_t place)
{
  const int64_t *kernel = correlation->plan->geometry.kernel;
  Meeting meeting = {.task = task,
                     .box = box,
                     .view = viewOf(correlation, box, place),
                     .factors = transposedBox(correlation, task->panelIndex, place)};
  meeting.scalars = meeting.view.elements + task->block.planeFirst * meeting.view.plane;
  const int64_t width = box->end[THNN_WIDTH] - box->first[THNN_WIDTH];
  const bool wide = width >= THNN_CHAIN_TAPS * positionsApart(&correlation->plan->geometry);
  const int64_t apart = wide ? correlation->plan->correlate.tapsApart : 0;
  TapGroup *group = meeting.group;
  int64_t groups = 0;
  for (int64_t z = 0; z < kernel[0]; z = nextGroup(&group[0], kernel[0])) {
    group[0] = tapGroup(correlation, box, 0, z);
    for (int64_t y = 0; y < kernel[1]; y = nextGroup(&group[1], kernel[1])) {
      group[1] = tapGroup(correlation, box, 1, y);
      for (int64_t x = 0; x < kernel[2]; x = nextGroup(&group[2], kernel[2])) {
        group[2] =
            apart ? chainGroup(correlation, box, x, apart) : tapGroup(correlation, box, 2, x);
        const bool chains = apart && group[2].end - group[2].first > apart;
        const Rows *rows = listGroups(correlation, task, &meeting.view, group, chains, groups++);
        if (rows->count)
          (chains ? addChains : addTaps)(correlation, &meeting, rows);
      }
    }
  }
}

/* Adds the task's sums to the weight gradient if operands are exchanged: each lane is an image
 * plane, and the taps run backwards. */
static void storeExchanged(const Correlation *correlation, const Panel *panel, const Block *block)
{
  const int64_t taps = correlation->taps, planes = correlation->plan->geometry.outputPlanes;
  const real *sums = correlation->sums;
  for (int64_t plane = block->planeFirst; plane < block->planeEnd; plane++)
    for (int64_t tap = block->tapFirst; tap < block->tapEnd; tap++, sums += panel->lanes) {
      real *gradWeight =
          correlation->gradWeight + (plane * planes + panel->first) * taps + taps - 1 - tap;
      for (int64_t lane = 0; lane < panel->planes; lane++)
        gradWeight[lane * taps] += correlation->scale * sums[lane];
    }
}

/* Adds the task's sums to the weight gradient if operands are not exchanged. */
static void storeSums(const Correlation *correlation, const Panel *panel, const Block *block)
{
  const int64_t planes = block->planeEnd - block->planeFirst;
  const int64_t blockTaps = block->tapEnd - block->tapFirst, rows = planes * blockTaps;
  const int64_t inputPlanes = correlation->plan->geometry.inputPlanes;
  /* With all taps the rows of the block are contiguous in the weight too. */
  const bool whole = blockTaps == correlation->taps;
  panel->loops->transpose(rows, panel->planes, correlation->sums, panel->lanes,
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

static Task taskAt(const Correlation *correlation, int64_t index)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const THNNConvolutionCorrelate *correlate = &correlation->plan->correlate;
  const int64_t tapBlock = index % correlate->tapBlocks;
  const int64_t planeBlock = index / correlate->tapBlocks % correlate->planeBlocks;
  const int64_t panelIndex = index / correlate->tapBlocks / correlate->planeBlocks;
  const int64_t units = correlation->taps / correlate->tapUnit;
  return (Task){
      .panelIndex = panelIndex,
      .panel = panelAt(geometry->outputPlanes, panelIndex),
      .block = {.planeFirst = geometry->inputPlanes * planeBlock / correlate->planeBlocks,
                .planeEnd = geometry->inputPlanes * (planeBlock + 1) / correlate->planeBlocks,
                .tapFirst = units * tapBlock / correlate->tapBlocks * correlate->tapUnit,
                .tapEnd = units * (tapBlock + 1) / correlate->tapBlocks * correlate->tapUnit}};
}

static void storeTask(const Correlation *correlation, const Task *task)
{
  if (correlation->plan->correlate.exchanged)
    storeExchanged(correlation, &task->panel, &task->block);
  else
    storeSums(correlation, &task->panel, &task->block);
}

/* Number of elements of the task's sums. */
static int64_t sumsLength(const Task *task)
{
  const Block *block = &task->block;
  return (block->planeEnd - block->planeFirst) * (block->tapEnd - block->tapFirst) *
         task->panel.lanes;
}

/* With exchanged operands, sums up the gradients of the task's planes in a box, which is the
 * group's `place`-th and has just been added, so that they are in cache. */
static void sumGradients(const Correlation *correlation, const Task *task,
                         const THNNConvolutionBox *box, int64_t place)
{
  const THNNConvolutionBoxes *boxes = &correlation->plan->correlate.boxes;
  const int64_t planes = correlation->plan->geometry.inputPlanes;
  const int64_t positions = THNN_convolutionImagePositions(&correlation->plan->geometry);
  for (int64_t plane = task->block.planeFirst; plane < task->block.planeEnd; plane++) {
    double sum = 0;
    for (int64_t n = box->first[THNN_SAMPLE]; n < box->end[THNN_SAMPLE]; n++)
      for (int64_t stretch = 0; stretch < box->stretches; stretch++)
        sum += THNN_(simd).reduce.sum(box->stretch,
                                      correlation->image + (n * planes + plane) * positions +
                                          THNN_convolutionStretch(boxes, box, stretch));
    boxSums(correlation, place)[plane] = (real)sum;
  }
}

/* Adds up boxes [first, end) of the group that begins with box `groupFirst`. */
static void sumBoxes(Correlation *correlation, const Task *task, int64_t groupFirst, int64_t first,
                     int64_t end)
{
  THNN_(simd).pointwise.fill(sumsLength(task), 0, correlation->sums);
  for (int64_t i = first; i < end; i++) {
    const THNNConvolutionBox box =
        THNN_convolutionBox(&correlation->plan->correlate.boxes, groupFirst + i);
    addBox(correlation, task, &box, i);
    if (correlation->gradBias && correlation->plan->correlate.exchanged && task->panelIndex == 0)
      sumGradients(correlation, task, &box, i);
  }
}

/* Runs the tasks of one group of `count` boxes. All threads of the parallel region call this. */
static void runTasks(Correlation *correlation, int64_t groupFirst, int64_t count)
{
  const int64_t tasks = taskCount(correlation->plan), shares = correlation->plan->correlate.shares;
  const int64_t length = taskSums(correlation->plan);
  if (shares == 1) {
#pragma omp for schedule(static)
    for (int64_t i = 0; i < tasks; i++) {
      const Task task = taskAt(correlation, i);
      sumBoxes(correlation, &task, groupFirst, 0, count);
      storeTask(correlation, &task);
    }
    return;
  }
#pragma omp for schedule(static)
  for (int64_t i = 0; i < tasks * shares; i++) {
    const Task task = taskAt(correlation, i % tasks);
    const int64_t share = i / tasks;
    correlation->sums = correlation->sharedSums + (i % tasks * shares + share) * length;
    sumBoxes(correlation, &task, groupFirst, shareBegin(correlation, count, share),
             shareBegin(correlation, count, share + 1));
  }
#pragma omp for schedule(static)
  for (int64_t i = 0; i < tasks; i++) {
    const Task task = taskAt(correlation, i);
    correlation->sums = correlation->sharedSums + i * shares * length;
    for (int64_t share = 1; share < shares; share++)
      THNN_(simd).pointwise.axpy(sumsLength(&task), 1, correlation->sums + share * length,
                                 correlation->sums);
    storeTask(correlation, &task);
  }
}

/* Fills the shared part of the scratch block. */
static void takeSharedScratch(Correlation *correlation, char *scratch)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const THNNConvolutionCorrelate *correlate = &correlation->plan->correlate;
  for (int i = 0; i < 3; i++) {
    THNNConvolutionTap *tap =
        takeScratch(&scratch, geometry->kernel[i], sizeof(THNNConvolutionTap));
    for (int64_t t = 0; t < geometry->kernel[i]; t++) {
      tap[t] = tapSeen(correlation->plan, i, t);
      if (i >= 3 - correlate->framedDimensions) { /* positions see the padding, too */
        tap[t].begin = 0;
        tap[t].end = geometry->output[i];
      }
    }
    correlation->tap[i] = tap;
    correlation->tapStep[i] = tapStep(correlation->plan, i);
  }
  correlation->transposed = takeScratch(&scratch,
                                        panelCount(geometry->outputPlanes) * correlate->groupBoxes *
                                            correlation->boxPositions * correlate->panelLanes,
                                        sizeof(real));
  const int64_t sums = sumCount(correlation->plan);
  correlation->boxSums = takeScratch(&scratch, correlate->groupBoxes * sums, sizeof(real));
  correlation->frameElements = frameBytes(correlation->plan) / (int64_t)sizeof(real);
  if (correlate->framedDimensions)
    correlation->frames =
        takeScratch(&scratch, correlate->groupBoxes * correlation->frameElements, sizeof(real));
  correlation->planeSums = takeScratch(&scratch, sums, sizeof(double));
  for (int64_t i = 0; i < sums; i++)
    correlation->planeSums[i] = 0;
  if (correlate->shares > 1)
    correlation->sharedSums = takeScratch(
        &scratch, taskCount(correlation->plan) * correlate->shares * taskSums(correlation->plan),
        sizeof(real));
}

static void takeThreadScratch(Correlation *correlation, char *scratch)
{
  const THNNConvolution *geometry = &correlation->plan->geometry;
  const THNNConvolutionCorrelate *correlate = &correlation->plan->correlate;
  const int64_t rows = blockRows(correlate, geometry->inputPlanes, correlation->taps);
  correlation->sums = takeScratch(&scratch, taskSums(correlation->plan), sizeof(real));
  correlation->transposedSums = takeScratch(&scratch, taskSums(correlation->plan), sizeof(real));
  correlation->row = takeScratch(&scratch, rows, sizeof(THNNOffsets));
  correlation->term = takeScratch(&scratch, correlation->boxPositions, sizeof(THNNOffsets));
}

void THNN_(ConvolutionDirectWeight_run)(const THNNConvolutionPlan *plan, const real *input,
                                        const real *gradOutput, accreal scale, real *gradWeight,
                                        real *gradBias, void *scratch)
{
  const THNNConvolutionCorrelate *correlate = &plan->correlate;
  const bool exchanged = correlate->exchanged;
  THNNConvolutionPlan seen = *plan;
  if (exchanged)
    seen.geometry = exchange(&plan->geometry);
  const int64_t panels = panelCount(seen.geometry.outputPlanes);
  const int64_t boxes = THNN_convolutionBoxCount(&correlate->boxes);
  Correlation common = {.plan = &seen,
                        .taps = THNN_convolutionTaps(&seen.geometry),
                        .boxPositions = THNN_convolutionBoxPositions(&correlate->boxes),
                        .image = exchanged ? gradOutput : input,
                        .gradMap = exchanged ? input : gradOutput,
                        .scale = (real)scale,
                        .gradWeight = gradWeight,
                        .gradBias = sumsGradients(&seen) ? gradBias : NULL};
  takeSharedScratch(&common, scratch);
  const int threads = plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Correlation correlation = common;
    takeThreadScratch(&correlation, threadScratch(plan, scratch));
    for (int64_t first = 0; first < boxes; first += correlate->groupBoxes) {
      const int64_t count = minimum(correlate->groupBoxes, boxes - first);
      if (common.frames)
        fillFrames(&correlation, first, count);
#pragma omp for schedule(static)
      for (int64_t i = 0; i < panels * count; i++)
        transposeNext(&correlation, first, count, i);
      runTasks(&correlation, first, count);
      if (common.gradBias)
        addBoxSums(&correlation, count);
    }
  }
  if (common.gradBias)
    addBias(&common, scale);
  else if (gradBias)
    THNN_(Convolution_addPlaneSums)(plan, plan->geometry.outputPlanes,
                                    THNN_convolutionMapPositions(&plan->geometry), gradOutput,
                                    scale, gradBias);
}
