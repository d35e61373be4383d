/* Convolution in one to three dimensions: the geometry, and the plan of one computation.
 *
 * One description serves every module. It is an ordinary cross-correlation from an image to a map,
 *
 *   map[n][m][o] = sum over c, t of weight[m][c][t] * image[n][c][o*stride - pad + t*dilation]
 *
 * where o, t, stride, pad and dilation have one value per dimension, and the image is 0 outside its
 * bounds. A transposed convolution is the same description used backwards: its output is the
 * image's gradient (and may start from a bias), its gradInput is the map. */
#ifndef THNN_CONVOLUTION_H
#define THNN_CONVOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <THNNState.h>

/* Arrays are in the order depth, height, width. In a dimension that the module does not have,
 * sizes, kernel, stride and dilation are 1. */
typedef struct THNNConvolution {
  int64_t batch, inputPlanes, outputPlanes;
  int64_t input[3];  /* size of the image */
  int64_t output[3]; /* size of the map; not derived, need not follow from the rest */
  int64_t kernel[3], stride[3], dilation[3];
  int64_t pad[3]; /* negative padding crops the image */
} THNNConvolution;

typedef enum THNNConvolutionPart {
  THNN_CONVOLUTION_FORWARD,        /* map from image and weight */
  THNN_CONVOLUTION_BACKWARD_DATA,  /* image gradient from map gradient and weight */
  THNN_CONVOLUTION_BACKWARD_WEIGHT /* weight gradient from image and map gradient */
} THNNConvolutionPart;

/* The `gemm` algorithm works on tiles of the column matrix of one sample, which has a row per
 * (channel, tap) and a column per map position. */
typedef struct THNNConvolutionTiles {
  bool linear; /* the only map position sees the whole image: one product for the batch, no tiles */
  int64_t rows, positions;         /* size of the whole matrix */
  int64_t blockRows;               /* rows that one thread works on at a time */
  int64_t tileRows, tilePositions; /* size of a tile, which is unfolded at a time */
} THNNConvolutionTiles;

/* The positions of a batch, cut into boxes; where samples are small, a box holds whole ones. The
 * dimensions are batch, depth, height, width. */
enum { THNN_SAMPLE, THNN_DEPTH, THNN_HEIGHT, THNN_WIDTH, THNN_BOX_DIMENSIONS };

typedef struct THNNConvolutionBoxes {
  int64_t size[THNN_BOX_DIMENSIONS];  /* positions in all */
  int64_t box[THNN_BOX_DIMENSIONS];   /* positions in the largest box */
  int64_t boxes[THNN_BOX_DIMENSIONS]; /* number of boxes */
} THNNConvolutionBoxes;

/* The `direct` algorithm for forward and backwardData: a task is a box of result positions times a
 * panel of result planes. */
typedef struct THNNConvolutionGather {
  THNNConvolutionBoxes boxes;
  int along;           /* dimension in which positions form lines; -1: each is taken by itself */
  int64_t runs[3];     /* runs per dimension; whole ones in dimension `along` */
  int64_t panelLanes;  /* lanes of the widest panel */
  int64_t blockPlanes; /* source planes whose weights are packed at a time */
  int64_t groupPlanes; /* source planes that are added at a time */
  int64_t listedTerms; /* capacity of the list of terms, which several classes share */
} THNNConvolutionGather;

/* The `direct` algorithm for backwardWeight: a task is a panel of map planes times a block of image
 * planes and taps. The boxes of map positions are processed in groups; the map gradients of a group
 * are transposed once for all tasks. With `exchanged` sides, the map is the image here. */
typedef struct THNNConvolutionCorrelate {
  THNNConvolutionBoxes boxes;
  int64_t groupBoxes;             /* boxes in a group */
  int64_t panelLanes;             /* lanes of the widest panel */
  int64_t planeBlocks, tapBlocks; /* number of blocks of image planes, and of blocks of taps */
  int64_t unitTaps;               /* neighbouring taps that must stay in one block */
  int64_t chainStep;              /* from a tap of a chain to its next, in taps; 0: no chains */
  int64_t shares;                 /* parts of a group, each with partial sums of its own */
  int paddedDimensions; /* innermost dimensions that are copied with their padding; 0: no copy */
  bool exchanged;       /* which of the two sides is the image; read by the front alone */
} THNNConvolutionCorrelate;

/* The `direct` algorithm line by line, which transposes nothing. A slice is one sample at one depth
 * of the map; a band is some lines of a slice, or some whole slices. */
typedef struct THNNConvolutionBands {
  int64_t slices, lines; /* size of the largest band */
  int64_t planes;        /* image planes whose lines are copied at a time */
  int64_t perSlice;      /* bands in a slice */
  int64_t count;         /* bands in all */
  int64_t shares;        /* backwardWeight: groups of bands, each with partial sums of its own */
  bool copyPerTap;       /* an image line is copied once for each tap in width */
  bool flat;             /* nothing is copied; a slice is a whole sample, a line one position */
} THNNConvolutionBands;

/* The `direct` algorithm for one tap: a task is a box of result positions, with all planes. */
typedef struct THNNConvolutionOnePoint {
  THNNConvolutionBoxes boxes;
  int64_t chunk; /* positions that are added at a time */
  int64_t parts; /* parts of the panels, one per thread; 1: threads share the boxes instead */
} THNNConvolutionOnePoint;

/* Winograd's algorithm, which runs first; where it finds results that are not finite, the plan's
 * own algorithm runs after it. For forward and backwardData a task is a group of blocks of tiles;
 * groups left over after an even split are divided by result planes. For backwardWeight a task is a
 * panel of map planes times a block of image slices, over all blocks of tiles or a share. */
typedef struct THNNConvolutionWinograd {
  bool used;
  double cost; /* as in the plan */
  /* forward and backwardData */
  int64_t blockTiles;  /* tiles in a block, a multiple of a vector's lanes */
  int64_t groupBlocks; /* blocks in a group */
  int64_t panelPlanes; /* result planes whose products are formed at a time */
  bool sharesWeights;  /* all weights are transformed once; false: a panel's, for each group */
  /* backwardWeight */
  int64_t blockSegments; /* rows of tiles, or pieces of rows, in a block */
  int64_t blockSlices;   /* image slices in a block */
  int64_t shares;        /* shares of the blocks of tiles, each with partial sums of its own */
  bool keepsResults;     /* results are kept until all are known to be finite */
  /* both */
  int threads;
  size_t sharedBytes, threadBytes; /* scratch, as in the plan */
} THNNConvolutionWinograd;

/* The variants of the `direct` algorithm, with the plan's field that describes each. */
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
  THNNConvolutionVariant variant;     /* of the direct algorithm */
  const THNNState *state;             /* passed to matrix products, which choose their threads */
  double cost;                        /* expected time, in cycles of one core */
  int threads;
  int productThreads;  /* threads of matrix products, each with `threadBytes` of scratch */
  size_t sharedBytes;  /* scratch that all threads share */
  size_t threadBytes;  /* scratch of each thread */
  size_t scratchBytes; /* scratch in all, which the caller provides */
  THNNConvolutionWinograd winograd;
  union {
    THNNConvolutionTiles tiles;
    THNNConvolutionGather gather;
    THNNConvolutionCorrelate correlate;
    THNNConvolutionOnePoint onePoint;
    THNNConvolutionBands bands;
    int64_t groupSamples; /* samples whose positions one matrix product takes together */
  };
} THNNConvolutionPlan;

/* One tap along one dimension: which map positions see the image through it. */
typedef struct THNNConvolutionTap {
  int64_t start;      /* image index seen by map position 0; may lie outside */
  int64_t begin, end; /* positions [begin, end) see inside the image */
} THNNConvolutionTap;

THNNConvolutionTap THNN_convolutionTap(const THNNConvolution *geometry, int dimension, int64_t tap);

/* Neighbouring results along one dimension that see the same taps. For i < results and j < taps,
 * result first + i*step sees tap firstTap + j*tapStep at source index
 * source + i*sourceStep + j*tapSourceStep, and sees nothing else. Forward, results are in the map
 * and the source is the image; for backwardData it is the other way round. */
typedef struct THNNConvolutionRun {
  int64_t first, step, results;
  int64_t firstTap, tapStep, taps;
  int64_t source, sourceStep, tapSourceStep;
} THNNConvolutionRun;

/* Cuts a dimension into runs: in the middle one per residue class of the stride, at either end one
 * per set of taps that reach outside. Writes at most `room` runs; returns how many there are. */
int64_t THNN_convolutionRuns(const THNNConvolution *geometry, THNNConvolutionPart part,
                             int dimension, THNNConvolutionRun *run, int64_t room);

/* Cuts a dimension into one whole run per residue class, whose results see all its taps, even those
 * that reach outside. */
int64_t THNN_convolutionWholeRuns(const THNNConvolution *geometry, THNNConvolutionPart part,
                                  int dimension, THNNConvolutionRun *run, int64_t room);

/* One box: positions [first, end) in each dimension. In a plane of each sample they make
 * `stretches` contiguous pieces of `stretch` positions each. */
typedef struct THNNConvolutionBox {
  int64_t first[THNN_BOX_DIMENSIONS], end[THNN_BOX_DIMENSIONS];
  int64_t positions, stretch, stretches;
} THNNConvolutionBox;

/* Cuts batch x size into nearly equal boxes of at most `positions` positions. A box spans at least
 * `samples` samples, or `positions` if that is less. */
THNNConvolutionBoxes THNN_convolutionBoxes(int64_t batch, const int64_t *size, int64_t samples,
                                           int64_t positions);
int64_t THNN_convolutionBoxCount(const THNNConvolutionBoxes *boxes);
int64_t THNN_convolutionBoxPositions(const THNNConvolutionBoxes *boxes); /* in the largest */
THNNConvolutionBox THNN_convolutionBox(const THNNConvolutionBoxes *boxes, int64_t index);

/* The position in a plane where a stretch begins; a sample's stretches count from 0. */
int64_t THNN_convolutionStretch(const THNNConvolutionBoxes *boxes, const THNNConvolutionBox *box,
                                int64_t stretch);

/* Products per sample and pair of channels, one for each tap and map position that meet inside the
 * image; and the factor that one dimension contributes. */
double THNN_convolutionProducts(const THNNConvolution *geometry);
double THNN_convolutionProductsAlong(const THNNConvolution *geometry, int dimension);

/* The convolution with image and map exchanged: with a stride of 1, the image gradient is that
 * convolution of the map gradient, with the taps in reverse order. */
THNNConvolution THNN_convolutionTransposed(const THNNConvolution *geometry);

/* Sets the dilation to 1 where the kernel has one tap, so that nothing depends on it. */
void THNN_dropUnusedDilation(THNNConvolution *geometry);

/* Whether padding, stride or dilation are so large that 64 bits might not count the elements of a
 * padded image. Only `gemm` is planned then, which pads nothing. */
bool THNN_convolutionIsExtreme(const THNNConvolution *geometry);

int64_t THNN_convolutionTaps(const THNNConvolution *geometry);           /* per channel pair */
int64_t THNN_convolutionImagePositions(const THNNConvolution *geometry); /* per channel */
int64_t THNN_convolutionMapPositions(const THNNConvolution *geometry);   /* per channel */

/* 1x1 kernel, stride 1, no padding: map positions are image positions. */
THNN_API bool THNN_convolutionIsPointwise(const THNNConvolution *geometry);

/* Every result sees one element of each source plane: pointwise, or forward with any stride. */
bool THNN_convolutionHasOneTap(const THNNConvolution *geometry, THNNConvolutionPart part);

/* The only map position sees each image element through a tap of its own. */
bool THNN_convolutionIsLinear(const THNNConvolution *geometry);

#endif
