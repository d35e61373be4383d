/* Convolution in one to three dimensions: the geometry.
 *
 * One description serves every module. It is an ordinary cross-correlation from an image to a map,
 *
 *   map[n][m][o] = sum over c, t of weight[m][c][t] * image[n][c][o*stride - pad + t*dilation]
 *
 * where o, t, stride, pad and dilation have one value per dimension, and the image is 0 outside its
 * bounds. A transposed convolution is the same description used backwards: its output is the
 * image's gradient (and may start from a bias), its gradInput is the map.
 *
 * What flows backwards is a convolution too, from the map gradient to the image gradient. Its
 * description is that of THNN_convolutionTransposed, where image and map have traded places, taps
 * are met in the reverse order, and the stride belongs to the image:
 *
 *   map[n][m][o] = sum over c, t of weight[c][m][last - t] * image[n][c][i]
 *                  where i*stride = o - pad + t*dilation has a solution i */
#ifndef THNN_CONVOLUTION_H
#define THNN_CONVOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <THNNState.h>

#include "call/private.h"

/* Arrays are in the order depth, height, width. In a dimension that the module does not have,
 * sizes, kernel, stride and dilation are 1. */
typedef struct THNNConvolution {
  int64_t batch, inputPlanes, outputPlanes;
  int64_t input[3];  /* size of the image */
  int64_t output[3]; /* size of the map; not derived, need not follow from the rest */
  int64_t kernel[3], stride[3], dilation[3];
  int64_t pad[3];  /* negative padding crops the image */
  bool transposed; /* described by the second formula above */
  /* Elements from one sample to the next, where more than these planes lie between them; otherwise
   * 0. A sample's planes follow each other. */
  int64_t imageStep, mapStep;
  /* Whether the planes of image and map are the last dimension: the elements of a position in all
   * planes follow each other. */
  bool imageLast, mapLast;
} THNNConvolution;

/* The convolution that flows backwards through this one; transposed twice it is the same again. */
THNNConvolution THNN_convolutionTransposed(const THNNConvolution *geometry);

typedef enum THNNConvolutionPart {
  THNN_CONVOLUTION_FORWARD,        /* map from image and weight */
  THNN_CONVOLUTION_BACKWARD_DATA,  /* image gradient from map gradient and weight */
  THNN_CONVOLUTION_BACKWARD_WEIGHT /* weight gradient from image and map gradient */
} THNNConvolutionPart;

/* The positions of a batch, cut into boxes; where samples are small, a box holds whole ones. The
 * dimensions are batch, depth, height, width. */
enum { THNN_SAMPLE, THNN_DEPTH, THNN_HEIGHT, THNN_WIDTH, THNN_BOX_DIMENSIONS };

typedef struct THNNConvolutionBoxes {
  int64_t size[THNN_BOX_DIMENSIONS];  /* positions in all */
  int64_t box[THNN_BOX_DIMENSIONS];   /* positions in the largest box */
  int64_t boxes[THNN_BOX_DIMENSIONS]; /* number of boxes */
} THNNConvolutionBoxes;

/* One tap along one dimension: which map positions see the image through it. */
typedef struct THNNConvolutionTap {
  int64_t start;      /* image index seen by map position 0; can be outside */
  int64_t begin, end; /* positions [begin, end) see inside the image */
} THNNConvolutionTap;

THNNConvolutionTap THNN_convolutionTap(const THNNConvolution *geometry, int dimension, int64_t tap);

/* Neighbouring map positions along one dimension that see the same taps. For i < positions and
 * j < taps, position first + i*step sees tap firstTap + j*tapStep at image index
 * image + i*imageStep + j*tapImageStep, and sees nothing else. Taps are numbered as the weight
 * stores them. */
typedef struct THNNConvolutionRun {
  int64_t first, step, positions;
  int64_t firstTap, tapStep, taps;
  int64_t image, imageStep, tapImageStep;
} THNNConvolutionRun;

/* Cuts a dimension of the map into runs: in the middle one for each residue class of the image's
 * stride, and at either end one for each set of taps that see inside the image. Writes at most
 * `room` runs; returns how many there are. */
int64_t THNN_convolutionRuns(const THNNConvolution *geometry, int dimension,
                             THNNConvolutionRun *run, int64_t room);

/* Cuts a dimension into one whole run per residue class, whose positions see all its taps, even
 * those that reach outside. */
int64_t THNN_convolutionWholeRuns(const THNNConvolution *geometry, int dimension,
                                  THNNConvolutionRun *run, int64_t room);

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
int64_t
THNN_convolutionBoxPositions(const THNNConvolutionBoxes *boxes); /* positions of the largest box */
THNNConvolutionBox THNN_convolutionBox(const THNNConvolutionBoxes *boxes, int64_t index);

/* The position in a plane where a stretch begins; a sample's stretches count from 0. */
int64_t THNN_convolutionStretch(const THNNConvolutionBoxes *boxes, const THNNConvolutionBox *box,
                                int64_t stretch);

/* Multiply-adds of the whole computation, and elements of the weight. */
double THNN_convolutionOperations(const THNNConvolution *geometry);
double THNN_convolutionWeights(const THNNConvolution *geometry);

/* The number of products of a sample and a pair of planes, one for each tap and map position that
 * meet inside the image; and the factor that one dimension contributes to it. */
double THNN_convolutionProducts(const THNNConvolution *geometry);
double THNN_convolutionProductsAlong(const THNNConvolution *geometry, int dimension);

/* Sets the dilation to 1 where the kernel has one tap, so that nothing depends on it. */
void THNN_dropUnusedDilation(THNNConvolution *geometry);

/* Whether padding, stride or dilation of an ordinary convolution are so large that 64 bits might
 * not count the elements of a padded image. Only algorithms that pad nothing are planned then. */
bool THNN_convolutionIsExtreme(const THNNConvolution *geometry);

int64_t THNN_convolutionTaps(const THNNConvolution *geometry);           /* per channel pair */
int64_t THNN_convolutionImagePositions(const THNNConvolution *geometry); /* per channel */
int64_t THNN_convolutionMapPositions(const THNNConvolution *geometry);   /* per channel */

/* Elements from one sample of the image, or of the map, to the next. */
int64_t THNN_convolutionImageSample(const THNNConvolution *geometry);
int64_t THNN_convolutionMapSample(const THNNConvolution *geometry);

/* Whether the kernel has one tap, the stride is 1 and there is no padding, so that map positions
 * are image positions. */
THNN_PRIVATE bool THNN_convolutionIsPointwise(const THNNConvolution *geometry);

/* Whether two descriptions are equal but for the sizes of batch, image and map, and the padding. */
bool THNN_convolutionLayersAreEqual(const THNNConvolution *one, const THNNConvolution *other);

/* Whether two descriptions are equal. */
bool THNN_convolutionsAreEqual(const THNNConvolution *one, const THNNConvolution *other);

/* Whether every map position sees one element of each image plane, and that inside the image: a
 * kernel of one tap, with any stride unless the convolution is transposed. */
bool THNN_convolutionHasOneTap(const THNNConvolution *geometry);

/* Whether this is an ordinary convolution whose only map position sees each image element through a
 * tap of its own. */
bool THNN_convolutionIsLinear(const THNNConvolution *geometry);

#endif
