/* Direct convolution's weight gradient: for each map plane, image plane and tap the sum over batch
 * and positions of map times image.
 *
 * A vector holds what neighbouring map planes have at one position, which takes a transposed copy
 * [position][lane] of the map; the image element is one scalar for all of them, read in place. The
 * terms of a sum are the map positions that see inside the image through the tap: nothing is
 * unfolded.
 *
 * Positions are processed box by box, in groups of boxes: all threads transpose the map of the
 * group's boxes (group.c), then each task adds the whole group to weights of its own (tasks.c). A
 * task is a panel of map planes times a block of image planes and taps, summed up as
 * [image plane][tap][lane]. Where that makes few tasks, the boxes of a group are also divided into
 * a fixed number of shares, whose partial sums are added in order.
 *
 * There are two ways of adding a box:
 *
 *  - Taps through which the same positions see inside the image are added together (taps.c). With
 *    padding there are few such taps, and with few image planes they do not fill a register tile:
 *    then boxes read a copy of the image with its padding (paddedBoxes.c), where along some
 *    dimensions all positions see inside through all taps. As in gemm's columns, an infinite map
 *    gradient becomes NaN there.
 *  - With one vector of map planes each product would need a load. There neighbouring taps make
 *    chains (chains.c), which see the same image element from neighbouring positions: it is loaded
 *    once for all of them. The loops skip what a chain sees outside the image.
 *
 * Image and map can be exchanged (geometry/correlation.h), so that few map planes do not leave most
 * lanes empty, or with one tap so that fewer planes are transposed. That is done once, before
 * planning and before running (directWeight.c): everywhere else the map is the side that is
 * transposed, and the image the side that is read in place. */
#ifndef THNN_CONVOLUTION_DIRECT_WEIGHT_H
#define THNN_CONVOLUTION_DIRECT_WEIGHT_H

#include "generic/convolution/engine/offsets.h"
#include "generic/convolution/engine/paddedBoxes.h"
#include "generic/convolution/engine/panels.h"
#include "geometry/correlation.h"

/* How the computation is cut up. All fields refer to the sides that were chosen. */
typedef struct WeightPlan {
  THNNConvolutionBoxes boxes;
  int64_t groupBoxes;             /* boxes in a group */
  int64_t panelLanes;             /* lanes of the widest panel */
  int64_t planeBlocks, tapBlocks; /* number of blocks of image planes, and of blocks of taps */
  int64_t unitTaps;               /* neighbouring taps that must stay in one block */
  int64_t chainStep;              /* taps from one tap of a chain to its next; 0: no chains */
  int64_t shares;                 /* parts of a group, each with partial sums of its own */
  int paddedDimensions; /* innermost dimensions that are copied with their padding; 0: no copy */
  bool exchanged;       /* image and map are exchanged; only directWeight.c reads this */
} WeightPlan;

/* Where the bias gradient comes from: it sums up the planes of the convolution's map gradient. */
typedef enum BiasSource {
  BIAS_FROM_MAP,   /* the sums of the map's planes, formed when a box has been transposed */
  BIAS_FROM_IMAGE, /* the sums of the image's planes, formed when a box has been added */
  BIAS_APART       /* sums of the whole gradient, since boxes do not visit each element once */
} BiasSource;

/* What a weight gradient is computed of: the convolution's image and map gradient, or these two
 * exchanged. */
typedef struct WeightSides {
  THNNCorrelation correlation;
  BiasSource bias;
  bool reversed; /* image and map are exchanged in the weight gradient, and its taps are reversed */
} WeightSides;

/* The weight gradient: the element of a map plane, an image plane and a tap is at the sum of their
 * numbers times these strides. */
typedef struct WeightGradient {
  real *elements;
  int64_t mapPlane, imagePlane, tap;
} WeightGradient;

/* Image planes [planeFirst, planeEnd) and taps [tapFirst, tapEnd). */
typedef struct Block {
  int64_t planeFirst, planeEnd, tapFirst, tapEnd;
} Block;

typedef struct Task {
  int64_t panelIndex;
  Panel panel;
  Block block;
} Task;

/* A list of rows, which are `count` entries of WeightWorker.row from entry `of.first` on. `of` is
 * what they depend on; its fields have one type, so that it can be compared as a whole. */
typedef struct Rows {
  struct RowsOf {
    Block block;
    int64_t lanes;
    int64_t firstTap[3], endTap[3];
    int64_t first;
  } of;
  int64_t count;
} Rows;

/* The lists of rows that are kept from box to box: one for each of a box's first groups of taps,
 * and one that all further groups share. */
enum { KEPT_ROWS = 64 };

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct WeightWorker {
  const WeightSides *sides;
  const WeightPlan *plan;
  const real *image, *map;
  real scale;
  WeightGradient gradient;
  real *gradBias;             /* NULL if no bias gradient is summed up with the boxes */
  THNNConvolutionTap *tap[3]; /* taps of each dimension */
  int64_t tapStep[3];         /* from a tap to the next of its residue class */
  real *transposed;           /* the group's part of the map: [panel][box][position][lane] */
  real *padded;               /* the group's padded boxes; NULL if the image itself is read */
  real *sharedSums;           /* sums of each [task][share], laid out as `sums` */
  real *boxSums;     /* sums for the bias gradient, [box][panel][lane] or [box][image plane] */
  double *planeSums; /* these sums, over all boxes so far */

  real *sums;           /* [image plane][tap][lane] of the task or share */
  real *transposedSums; /* [lane][image plane][tap] */
  THNNOffsets *row;     /* offsets in image and sums of each image plane and tap */
  THNNOffsets *term;    /* offsets in image and transposed map of each position */
  Rows *kept;           /* the lists in `row`, in the order of the groups of a box */
} WeightWorker;

/* Taps of one dimension: every step-th of [first, end). Through all of them the same positions of
 * the box see inside the image: `range`, whose start is that of the first tap; with a spread, only
 * every spread-th position. */
typedef struct TapGroup {
  int64_t first, end, step;
  THNNConvolutionTap range;
} TapGroup;

/* A box and the taps of three groups, one of each dimension, whose products are added to the sums
 * of a task. */
typedef struct Meeting {
  const Task *task;
  const THNNConvolutionBox *box;
  TapGroup group[3];
  int64_t listed; /* groups of the box whose rows have been listed */
  /* What the box sees of the image: its padded copy, or the image itself. */
  int64_t first[3], size[3];             /* image index that a plane begins with, and its size */
  int64_t planeElements, sampleElements; /* elements from a plane, or a sample, to the next */
  const real *scalars;                   /* the block's first image plane */
  const real *factors;                   /* the transposed map */
} Meeting;

static inline const THNNConvolution *geometryOf(const WeightWorker *worker)
{
  return &worker->sides->correlation.geometry;
}

/* Number of taps, and of rows (image planes times taps), of the largest block. */
static inline int64_t mostBlockTaps(const WeightPlan *plan, int64_t taps)
{
  return divideUp(taps / plan->unitTaps, plan->tapBlocks) * plan->unitTaps;
}

static inline int64_t mostBlockRows(const WeightPlan *plan, const THNNConvolution *geometry)
{
  return divideUp(geometry->inputPlanes, plan->planeBlocks) *
         mostBlockTaps(plan, THNN_convolutionTaps(geometry));
}

/* Number of elements that the sums of a task take: whole cache lines. */
static inline int64_t taskElements(const WeightPlan *plan, const THNNConvolution *geometry)
{
  return THNN_wholeLines(mostBlockRows(plan, geometry) * plan->panelLanes, sizeof(real));
}

static inline int64_t taskCount(const WeightPlan *plan, const THNNConvolution *geometry)
{
  return panelCount(geometry->outputPlanes) * plan->planeBlocks * plan->tapBlocks;
}

/* Number of elements of a padded box: whole cache lines. */
static inline int64_t paddedElements(const WeightPlan *plan, const THNNConvolution *geometry)
{
  return THNN_wholeLines(THNN_(paddedBoxes_elements)(geometry, &plan->boxes), sizeof(real));
}

/* The first box of share number `share` of a group of `count` boxes. */
static inline int64_t shareBegin(const WeightPlan *plan, int64_t count, int64_t share)
{
  return count * share / plan->shares;
}

/* Where a panel of the transposed map is, for the group's box number `place`. */
static inline real *transposedBox(const WeightWorker *worker, int64_t panelIndex, int64_t place)
{
  const WeightPlan *plan = worker->plan;
  return worker->transposed + (panelIndex * plan->groupBoxes + place) *
                                  THNN_convolutionBoxPositions(&plan->boxes) * plan->panelLanes;
}

/* plan.c: Plans the computation for one order of the sides. Returns whether it fits into the
 * state's workspace limit. */
bool THNN_(directWeight_planSides)(AlgorithmPlan *plan, const WeightSides *sides);
/* Lays out the scratch that threads share, and that of each thread. */
void THNN_(directWeight_layOutShared)(WeightWorker *worker, Scratch *scratch);
void THNN_(directWeight_layOutOwn)(WeightWorker *worker, Scratch *scratch);

/* costs.c: Chooses which dimensions are padded, and sets the cost. Padded boxes take no more than
 * `roomBytes` each. */
void THNN_(directWeight_choosePadding)(AlgorithmPlan *to, WeightPlan *plan,
                                       const WeightSides *sides, int64_t roomBytes);

/* group.c: Prepares a group of boxes for its tasks: fills padded boxes, transposes the map. All
 * threads of the parallel region call this, and wait at its end. */
void THNN_(directWeight_prepareGroup)(const WeightWorker *worker, THNNRange boxes);
/* Sums up the task's image planes in a box, which is the group's `place`-th. */
void THNN_(directWeight_sumImage)(const WeightWorker *worker, const Task *task,
                                  const THNNConvolutionBox *box, int64_t place);
/* Adds the sums of a group's `count` boxes to those of the planes. All threads call this, and wait
 * at its end: the next group's boxes overwrite these sums. */
void THNN_(directWeight_addBoxSums)(const WeightWorker *worker, int64_t count);
void THNN_(directWeight_addBias)(const WeightWorker *worker, accreal scale);
int64_t THNN_(directWeight_biasSums)(const WeightPlan *plan, const WeightSides *sides);

/* tasks.c: Adds a group of boxes to the weight gradient. All threads call this, and wait at its
 * end. */
void THNN_(directWeight_runTasks)(WeightWorker *worker, THNNRange boxes);

/* taps.c: The group of taps of a dimension that begins with tap `first`. */
TapGroup THNN_(directWeight_tapGroup)(const WeightWorker *worker, const THNNConvolutionBox *box,
                                      int dimension, int64_t first);
/* The first tap of the next group, in the same residue class modulo the step or in the next one;
 * the kernel's size after the last group. */
int64_t THNN_(directWeight_nextGroup)(const TapGroup *group, int64_t kernel);
/* The positions of the box among those that see inside the image through a tap. */
THNNConvolutionTap THNN_(directWeight_clip)(const THNNConvolutionTap *tap,
                                            const THNNConvolutionBox *box, int dimension,
                                            int64_t spread);
/* Lists the rows, and the terms, of the meeting's groups. */
const Rows *THNN_(directWeight_listRows)(WeightWorker *worker, Meeting *meeting);
int64_t THNN_(directWeight_listTerms)(const WeightWorker *worker, const Meeting *meeting);
/* Adds the products of the meeting's three groups. */
void THNN_(directWeight_addGroups)(WeightWorker *worker, Meeting *meeting);
/* Adds the products of the meeting's first two groups with all taps of the width. */
void THNN_(directWeight_addTaps)(WeightWorker *worker, Meeting *meeting);

/* chains.c: The distance between neighbouring taps of a chain; 0 if there are no chains. */
int64_t THNN_(directWeight_chainStep)(const THNNCorrelation *correlation);
int64_t THNN_(directWeight_chainCount)(const THNNCorrelation *correlation, int64_t step);
/* Whether a box's lines of positions are long enough for chains. */
bool THNN_(directWeight_fitsChains)(const WeightWorker *worker, const THNNConvolutionBox *box);
/* Adds the products of the meeting's first two groups with chains along the width. */
void THNN_(directWeight_addChains)(WeightWorker *worker, Meeting *meeting);

#endif
