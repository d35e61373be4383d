/* Direct convolution: what its files share. direct.c says how it works; plan.c cuts it into tasks,
 * costs.c estimates them, classes.c lists the classes of a task's positions, and ahead.c
 * prefetches. */
#ifndef THNN_CONVOLUTION_DIRECT_H
#define THNN_CONVOLUTION_DIRECT_H

#include "generic/convolution/engine/algorithm.h"
#include "generic/convolution/engine/offsets.h"
#include "generic/convolution/engine/panels.h"
#include "geometry/inside.h"

enum {
  LISTED_CLASSES = 128, /* capacity of the list of classes */
  MOST_SUBLINES = 8     /* most interleaved lines that a run is taken in */
};

/* A task is a box of map positions times a panel of map planes. */
typedef struct DirectPlan {
  THNNConvolutionBoxes boxes;
  int along;           /* dimension along which positions form lines; -1: each position is taken by
                        * itself */
  int64_t runs[3];     /* runs per dimension; whole ones in dimension `along` */
  int64_t panelLanes;  /* lanes of the widest panel */
  int64_t blockPlanes; /* image planes whose weights are packed at a time */
  int64_t groupPlanes; /* image planes that are added at a time */
  int64_t listedTerms; /* capacity of the list of terms, which several classes share */
  bool keepsWeights;   /* packed weights of all panels are kept from call to call */
  bool surrounds;      /* images are copied with zeros around them */
} DirectPlan;

/* The positions and taps of a class along one dimension. Neighbouring positions of a line see
 * image indices that are `spacing` apart; so do taps that are `tapsApart` apart. */
typedef struct Line {
  int64_t positions, taps;
  int64_t spacing, tapsApart;
  int64_t first, tapStep; /* image index that the first position sees through the first tap; image
                           * step to the next tap */
  int64_t size;           /* number of image indices */
  int64_t element, tapFactor, positionSum; /* steps in the image per index, in the weights per tap,
                                            * and in the sums per position */
} Line;

/* Positions of the box that share their terms, and these terms: parts of the worker's two lists. If
 * the class is taken in lines, each listed position is the first of a line, and each listed term is
 * that of the first tap. */
typedef struct Class {
  const THNNOffsets *position;
  int64_t positions;
  const THNNOffsets *term; /* terms of one group of image planes */
  int64_t taps;            /* terms per image plane */
  int64_t vectorStep;      /* from each term's `vector` to the next one's, or 0 if that differs */
  Line line;               /* has one position and spacing 0 if the class is not taken in lines */
} Class;

/* Memory to prefetch while something else is computed: `length` reals at each place of a grid, of
 * which a few places are taken at each turn. */
typedef struct Ahead {
  const real *first;
  int64_t length;
  int64_t count[3], stride[3]; /* size of the grid; strides in reals */
  int64_t next, perTurn;       /* the next place; places per turn */
} Ahead;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct DirectWorker {
  THNNConvolution g; /* of the images with zeros around them, if the plan surrounds them */
  int64_t taps, imagePositions, mapPositions;
  int64_t planeStep, elementStep; /* from one image plane, and one element of it, to the next */
  DirectPlan plan;
  THNNConvolutionRun *runs[3];
  real *surrounded; /* the images with zeros around them, or NULL */
  const real *image, *weight, *bias;
  real *map;
  Finish finish;
  real *kept; /* packed weights of all panels, or NULL: [panel][image plane][tap][lane] */

  real *weights;         /* packed: [image plane of the block][tap][lane] */
  int64_t packed;        /* the panel whose weights are packed for all image planes, or -1 */
  real *start;           /* [lane]: the bias */
  real *sums;            /* [position of the box][lane] */
  THNNOffsets *position; /* offsets in image and sums of the listed positions */
  THNNOffsets *term;     /* offsets in image and weights of the listed terms */
  Class *class;
  int64_t classes;
  THNNConvolutionBox listedBox; /* its classes are listed: all of them if listedLanes is not 0 */
  int64_t listedLanes;
  Ahead aheadImage, aheadMap;
  bool fetchesWeights;      /* kept weights are prefetched */
  const real *laterWeights; /* those of the next group or panel, and their number */
  int64_t laterElements;
  int64_t listedPositions; /* positions of all listed classes, while these are fetched */
} DirectWorker;

static inline DirectWorker workerFor(const THNNConvolution *g)
{
  return (DirectWorker){.g = *g,
                        .taps = THNN_convolutionTaps(g),
                        .imagePositions = THNN_convolutionImagePositions(g),
                        .planeStep = g->imageLast ? 1 : THNN_convolutionImagePositions(g),
                        .elementStep = g->imageLast ? g->inputPlanes : 1,
                        .mapPositions = THNN_convolutionMapPositions(g),
                        .packed = -1};
}

/* The geometry of images with zeros around them: every map position sees inside them through every
 * tap. For maps of few positions, whose extent does not overflow. */
static inline THNNConvolution surroundedGeometry(const THNNConvolution *g)
{
  THNNConvolution wide = *g;
  for (int i = 0; i < 3; i++) {
    const int64_t before = maximum(g->pad[i], 0);
    const int64_t end =
        (g->output[i] - 1) * g->stride[i] - g->pad[i] + THNN_extent(g->kernel[i], g->dilation[i]);
    wide.input[i] = before + maximum(g->input[i], end);
    wide.pad[i] = g->pad[i] - before;
  }
  wide.imageStep = 0;
  return wide;
}

static inline int64_t boxSize(const THNNConvolutionBox *box, int dimension)
{
  return box->end[dimension] - box->first[dimension];
}

/* The scratch that threads share, and that of one thread. */
void THNN_(direct_layOutShared)(DirectWorker *worker, Scratch *scratch);
void THNN_(direct_layOutThread)(DirectWorker *worker, Scratch *scratch);

/* The number of packed weights of all panels. */
int64_t THNN_(direct_packedElements)(const DirectWorker *worker);

/* The runs of a dimension; in the dimension of the lines, positions at the edges are in one run
 * with the others. */
int64_t THNN_(direct_runs)(const DirectWorker *worker, int dimension, THNNConvolutionRun *run,
                           int64_t room);

/* Number of classes, summed over all boxes; those at the edges of the map are in few boxes. With
 * extreme strides and padding there are more classes than an integer holds. */
double THNN_(direct_classCount)(const DirectWorker *worker);

/* Sets the cost of all tasks; returns false where positions cannot be taken in lines. */
bool THNN_(direct_setCost)(AlgorithmPlan *plan, const DirectWorker *worker);

/* Makes a line of a run, without its length in the image and its steps in image, weights and sums.
 * The line has no positions if the run would need more than MOST_SUBLINES interleaved lines. */
Line THNN_(direct_lineAlong)(const THNNConvolutionRun *run);

/* Returns a run without its positions outside [first, end). */
THNNConvolutionRun THNN_(direct_clipRun)(const THNNConvolutionRun *run, int64_t first, int64_t end);

/* Lists as many classes as there is room for, at least one, beginning with number `index`. Returns
 * the number to continue with. Classes without taps are listed too: they get the bias. */
int64_t THNN_(direct_listClasses)(DirectWorker *worker, const Panel *panel,
                                  const THNNConvolutionBox *box, int64_t index);

/* Number of listed positions (or lines) that are computed between two turns of prefetching. */
int64_t THNN_(direct_slicePositions)(const Class *class);

/* The memory that a box reads from the first group of image planes. */
Ahead THNN_(direct_imageOf)(const DirectWorker *worker, const THNNConvolutionBox *box);

/* Prepares to prefetch the group of image planes that begins with `plane`, while the listed classes
 * are computed for another group. `image` is what the box reads from the first group. */
void THNN_(direct_aimAtImage)(DirectWorker *worker, const Ahead *image, int64_t plane);

/* Prepares to prefetch the places of the box in the map, while its last group of planes is
 * added. */
void THNN_(direct_aimAtMap)(DirectWorker *worker, const Panel *panel,
                            const THNNConvolutionBox *box);

/* Prepares to prefetch the kept weights after `end`, which are those of the next group or panel. */
void THNN_(direct_aimAtWeights)(DirectWorker *worker, const Panel *panel, const real *end);

/* The share of these weights for `count` of all listed positions, which follow `done` others;
 * nothing if no weights are prefetched. */
THNNRanges THNN_(direct_shareOfWeights)(const DirectWorker *worker, int64_t done, int64_t count);

/* Prefetches what is due in one turn. */
void THNN_(direct_fetchAhead)(Ahead *ahead);

#endif
