/* Convolution in one to three dimensions: the geometry, and the plan of one computation.
 *
 * One description serves every module. It is an ordinary cross-correlation from an image to a map,
 *
 *   map[n][m][o] = sum over c, t of weight[m][c][t] * image[n][c][o*stride - pad + t*dilation]
 *
 * with o, t and the three settings per dimension; where the image is read outside, it is 0. A
 * transposed convolution is the same description used backwards: its output is the image's
 * gradient (and may start from a bias), its gradInput is the map. */
#ifndef THNN_CONVOLUTION_H
#define THNN_CONVOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <THNNState.h>

/* Arrays are depth, height, width; sizes, kernel, stride and dilation are 1 where unused. */
typedef struct THNNConvolution {
  int64_t batch, inputPlanes, outputPlanes;
  int64_t input[3];  /* of the image */
  int64_t output[3]; /* of the map: given, it need not follow from the rest */
  int64_t kernel[3], stride[3], dilation[3];
  int64_t pad[3]; /* may be negative: the image is cropped */
} THNNConvolution;

typedef enum THNNConvolutionPart {
  THNN_CONVOLUTION_FORWARD,        /* map from image and weight */
  THNN_CONVOLUTION_BACKWARD_DATA,  /* image gradient from map gradient and weight */
  THNN_CONVOLUTION_BACKWARD_WEIGHT /* weight gradient from image and map gradient */
} THNNConvolutionPart;

/* The `gemm` algorithm works on tiles of the column matrix of one sample, which has a row per
 * (channel, tap) and a column per map position. */
typedef struct THNNConvolutionTiles {
  bool linear; /* one map position sees the whole image: one product for the batch, no tiles */
  int64_t rows, positions;         /* of the whole matrix */
  int64_t blockRows;               /* rows that one thread works on at a time */
  int64_t tileRows, tilePositions; /* of the part that is unfolded at a time */
} THNNConvolutionTiles;

/* Positions of a batch cut into boxes, whole samples where these are small. Dimensions are batch,
 * depth, height, width. */
enum { THNN_SAMPLE, THNN_DEPTH, THNN_HEIGHT, THNN_WIDTH, THNN_BOX_DIMENSIONS };

typedef struct THNNConvolutionBoxes {
  int64_t size[THNN_BOX_DIMENSIONS];  /* of all positions */
  int64_t box[THNN_BOX_DIMENSIONS];   /* of the largest box */
  int64_t boxes[THNN_BOX_DIMENSIONS]; /* their number */
} THNNConvolutionBoxes;

/* The `direct` algorithm for forward and backwardData: a task is a box of result positions times a
 * panel of result planes. */
typedef struct THNNConvolutionGather {
  THNNConvolutionBoxes boxes;
  int along;       /* the dimension that positions are taken in lines along, or -1 */
  int64_t runs[3]; /* per dimension: THNN_convolutionRuns, along lines THNN_convolutionWholeRuns */
  int64_t panelLanes;  /* of the widest panel */
  int64_t blockPlanes; /* source planes whose weights are packed at a time */
  int64_t groupPlanes; /* source planes that are added at a time */
  int64_t listedTerms; /* room for the terms of a group, in all classes listed at a time */
} THNNConvolutionGather;

/* The `direct` algorithm for backwardWeight: a task is a panel of map planes times a block of image
 * planes and taps. Boxes of map positions are gone through in groups, whose gradients are
 * transposed for all tasks. */
typedef struct THNNConvolutionCorrelate {
  THNNConvolutionBoxes boxes;
  int64_t groupBoxes;             /* boxes in a group */
  int64_t panelLanes;             /* of the widest panel */
  int64_t planeBlocks, tapBlocks; /* blocks that image planes and taps are cut into */
  int64_t tapUnit;                /* neighbouring taps that are in one block */
  int64_t tapsApart;              /* from one tap of a chain to the next; 0: no chains */
  int64_t shares;                 /* parts of a group that are summed up apart */
  int framedDimensions;           /* from width on: padding is multiplied, too; 0: nothing copied */
  bool exchanged;                 /* image and map gradient: the rest is for their geometry */
} THNNConvolutionCorrelate;

/* The `direct` algorithm line by line, which nothing is transposed for. A slice
 * is a map position in depth of a sample. Bands are some lines of a slice, or some whole slices. */
typedef struct THNNConvolutionBands {
  int64_t slices, lines; /* of the largest band */
  int64_t planes;        /* image planes whose lines are copied at a time */
  int64_t perSlice;      /* bands of one slice */
  int64_t count;         /* of all bands */
  int64_t shares;        /* for backwardWeight: parts of them that are summed up apart */
  bool copyPerTap;       /* image lines are copied for each tap in width */
  bool flat;             /* nothing is copied: slices are samples, lines their positions */
} THNNConvolutionBands;

/* The `direct` algorithm for one tap: a task is a box of result positions, with all planes. */
typedef struct THNNConvolutionOnePoint {
  THNNConvolutionBoxes boxes;
  int64_t chunk; /* positions that are added at a time */
  int64_t parts; /* of the panels, each with a packed source of its own; 1: boxes are shared out */
} THNNConvolutionOnePoint;

/* Winograd's algorithm, tried before the plan's own. For forward and backwardData a task is a group of
 * blocks of tiles; of those that are left when threads have equally many, a share of the result planes. For
 * backwardWeight it is a panel of map planes times a block of slices of the image, for all blocks of tiles or a
 * share of them. */
typedef struct THNNConvolutionWinograd {
  bool used;
  double cost;
  int64_t blockTiles;  /* tiles in a block, a multiple of a vector's lanes */
  int64_t groupBlocks; /* blocks in a group */
  int64_t panelPlanes; /* result planes whose products are formed at a time */
  bool sharesWeights;  /* all weights are transformed once, otherwise a panel's for each group */
  /* for backwardWeight */
  int64_t blockSegments; /* rows of tiles, or pieces of them, in a block */
  int64_t blockSlices;
  int64_t shares;    /* of the blocks, which are summed up apart */
  bool keepsResults; /* there is room to keep all results until they are known to be finite */
  int threads;
  size_t sharedBytes, threadBytes;
} THNNConvolutionWinograd;

/* Of the `direct` algorithm. */
typedef enum THNNConvolutionVariant {
  THNN_CONVOLUTION_ANY,       /* `gather`, or `correlate` for the weight gradient */
  THNN_CONVOLUTION_ONE_POINT, /* `onePoint` */
  THNN_CONVOLUTION_LINES,     /* `bands` */
  THNN_CONVOLUTION_PRODUCTS   /* `groupSamples` */
} THNNConvolutionVariant;

/* How one part of one convolution is computed. Block sizes depend on the geometry and the state's
 * workspace limit, never on the number of threads. */
typedef struct THNNConvolutionPlan {
  THNNConvolution geometry;
  THNNConvolutionPart part;
  THNNConvolutionAlgorithm algorithm; /* gemm or direct */
  THNNConvolutionVariant variant;     /* of the latter */
  const THNNState *state;             /* of products that choose their threads */
  double cost;                        /* expected time, in cycles of one core */
  int threads;
  int productThreads;  /* of products of matrices, which have scratch of their own */
  size_t sharedBytes;  /* scratch of all threads together */
  size_t threadBytes;  /* and of each one */
  size_t scratchBytes; /* what the caller provides */
  THNNConvolutionWinograd winograd;
  union {
    THNNConvolutionTiles tiles;
    THNNConvolutionGather gather;
    THNNConvolutionCorrelate correlate;
    THNNConvolutionOnePoint onePoint;
    THNNConvolutionBands bands;
    int64_t groupSamples; /* of products of matrices: whose positions are taken together */
  };
} THNNConvolutionPlan;

/* One tap along one dimension: which map positions see the image through it. */
typedef struct THNNConvolutionTap {
  int64_t start;      /* image index seen by map position 0; may lie outside */
  int64_t begin, end; /* positions [begin, end) see inside the image */
} THNNConvolutionTap;

THNNConvolutionTap THNN_convolutionTap(const THNNConvolution *geometry, int dimension, int64_t tap);

/* Neighbouring results along one dimension that see the same taps, with everything affine: for
 * i < results and j < taps, result first + i*step sees tap firstTap + j*tapStep at index
 * source + i*sourceStep + j*tapSourceStep of what is convolved, and sees nothing else. Results and
 * source are the map and the image for the forward part, and the other way round for
 * backwardData. */
typedef struct THNNConvolutionRun {
  int64_t first, step, results;
  int64_t firstTap, tapStep, taps;
  int64_t source, sourceStep, tapSourceStep;
} THNNConvolutionRun;

/* Cuts a dimension into such runs: in the middle one per residue of the stride, at the ends one per
 * set of taps that reach outside. Writes at most `room` runs; returns how many there are. */
int64_t THNN_convolutionRuns(const THNNConvolution *geometry, THNNConvolutionPart part,
                             int dimension, THNNConvolutionRun *run, int64_t room);

/* The same with one run per residue: its results see all of its taps, some of them outside. */
int64_t THNN_convolutionWholeRuns(const THNNConvolution *geometry, THNNConvolutionPart part,
                                  int dimension, THNNConvolutionRun *run, int64_t room);

/* A box of positions: first and end per dimension, how many positions there are in all, and how
 * they lie in memory: `stretches` pieces per sample, each `stretch` positions that are contiguous
 * in a plane. */
typedef struct THNNConvolutionBox {
  int64_t first[THNN_BOX_DIMENSIONS], end[THNN_BOX_DIMENSIONS];
  int64_t positions, stretch, stretches;
} THNNConvolutionBox;

/* Cuts batch x size into nearly equal boxes of at most `positions` positions, and of `samples`
 * samples at least where there is room for a position of each. */
THNNConvolutionBoxes THNN_convolutionBoxes(int64_t batch, const int64_t *size, int64_t samples,
                                           int64_t positions);
int64_t THNN_convolutionBoxCount(const THNNConvolutionBoxes *boxes);
int64_t THNN_convolutionBoxPositions(const THNNConvolutionBoxes *boxes); /* of the largest */
THNNConvolutionBox THNN_convolutionBox(const THNNConvolutionBoxes *boxes, int64_t index);

/* Where a stretch begins in its sample's planes; stretches of a sample are numbered from 0. */
int64_t THNN_convolutionStretch(const THNNConvolutionBoxes *boxes, const THNNConvolutionBox *box,
                                int64_t stretch);

/* Products per sample and pair of channels: taps and map positions that meet inside the image; and
 * those of one dimension, of which they are made. */
double THNN_convolutionProducts(const THNNConvolution *geometry);
double THNN_convolutionProductsAlong(const THNNConvolution *geometry, int dimension);

/* A kernel of one tap has nothing to spread: its dilation becomes 1, so that no work depends on it. */
void THNN_dropUnusedDilation(THNNConvolution *geometry);

/* Whether padding, stride or dilation go so far beyond the sizes of any tensor that the elements of a padded
 * image cannot be counted. Only `gemm` is planned then, which pads nothing. */
bool THNN_convolutionIsExtreme(const THNNConvolution *geometry);

int64_t THNN_convolutionTaps(const THNNConvolution *geometry);           /* per channel pair */
int64_t THNN_convolutionImagePositions(const THNNConvolution *geometry); /* per channel */
int64_t THNN_convolutionMapPositions(const THNNConvolution *geometry);   /* per channel */

/* 1x1 kernel, stride 1, no padding: map positions are image positions. */
THNN_API bool THNN_convolutionIsPointwise(const THNNConvolution *geometry);

/* Every result sees one element of each source plane: pointwise, or forward with any stride. */
bool THNN_convolutionHasOneTap(const THNNConvolution *geometry, THNNConvolutionPart part);

/* One map position that sees each image element through a tap of its own. */
bool THNN_convolutionIsLinear(const THNNConvolution *geometry);

#endif
