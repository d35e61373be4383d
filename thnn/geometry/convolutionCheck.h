/* The shape check of every convolution with shared weights, in one to three dimensions, transposed
 * or not, written once. */
#ifndef THNN_CONVOLUTION_CHECK_H
#define THNN_CONVOLUTION_CHECK_H

#include "call/check.h"
#include "geometry/convolution.h"

/* The arguments of a convolution module. The arrays hold nDimension values, outermost dimension
 * first (depth, height, width); values that the module does not have stay {0}. Without `kernel`,
 * the weight gives the kernel's sizes. */
typedef struct THNNConvolutionArguments {
  const char *function;
  int nDimension; /* spatial dimensions: 1 to 3 */
  bool transposed;
  bool flatWeight; /* weight may also be nOutputPlane x (nInputPlane * kernel) */
  THNNShape input, gradOutput, weight, bias;
  THNNScalar kernel[3], stride[3], pad[3], dilation[3], adjustment[3];
} THNNConvolutionArguments;

/* Checks all sizes and settings and returns the geometry. For a transposed convolution it is the
 * geometry of the ordinary convolution from its output to its input. */
THNNConvolution THNN_convolutionCheck(const THNNConvolutionArguments *arguments);

/* Fills in the sizes of the image if `image` is true, else of the map: [batch x] planes x spatial
 * sizes, with a batch dimension if `batched`. Returns the number of dimensions. */
THNN_PRIVATE int THNN_convolutionSizes(const THNNConvolution *geometry, int nDimension, bool image,
                                       bool batched, int64_t *size);

/* The settings of a convolution in groups, in the order depth, height, width; first the padding
 * before the image in each dimension, then that after it. */
typedef struct THNNGroupSettings {
  THNNScalar groups;
  THNNScalar stride[3], before[3], after[3], dilation[3];
} THNNGroupSettings;

/* THNNGroupSettings from variables that are named as in the prototypes; `at` is the position of
 * `groups`. */
#define THNN_GROUP_SETTINGS(at)                                                                    \
  THNN_SCALAR(groups, at),                                                                         \
      {THNN_SCALAR(dT, (at) + 1), THNN_SCALAR(dH, (at) + 2), THNN_SCALAR(dW, (at) + 3)},           \
      {THNN_SCALAR(padFront, (at) + 4), THNN_SCALAR(padTop, (at) + 5),                             \
       THNN_SCALAR(padLeft, (at) + 6)},                                                            \
      {THNN_SCALAR(padBack, (at) + 7), THNN_SCALAR(padBottom, (at) + 8),                           \
       THNN_SCALAR(padRight, (at) + 9)},                                                           \
  {                                                                                                \
    THNN_SCALAR(dilationT, (at) + 10), THNN_SCALAR(dilationH, (at) + 11),                          \
        THNN_SCALAR(dilationW, (at) + 12)                                                          \
  }

/* The arguments of a convolution in groups. The shape of what the function computes is
 * THNN_NO_SHAPE; `sizes` are the sizes of an image or map that it computes, if they do not follow
 * from the rest. */
typedef struct THNNGroupedArguments {
  const char *function;
  bool transposed, flip;
  int nDimension;       /* spatial dimensions, or 0: those that the weight has */
  THNNShape image, map; /* those of the ordinary convolution */
  THNNShape weight, bias;
  THNNShape target; /* the gradient of the input, if the function adds to it */
  THNNScalar sizes[3];
  THNNGroupSettings settings;
} THNNGroupedArguments;

/* A checked convolution in groups. The padding after the image shows only in the sizes of the
 * map. */
typedef struct THNNGroups {
  THNNConvolution geometry; /* one group, for all samples */
  int64_t groups;
  int nDimension; /* spatial dimensions */
  bool transposed, batched;
  bool flip; /* kernels are flipped */
} THNNGroups;

/* Checks all sizes and settings. */
THNN_PRIVATE THNNGroups THNN_groupedCheck(const THNNGroupedArguments *arguments);

/* Fills in the sizes of the image if `image` is true, else of the map, with all groups. Returns the
 * number of dimensions. */
THNN_PRIVATE int THNN_groupedSizes(const THNNGroups *groups, bool image, int64_t *size);

/* Planes of a batch, `step` planes apart. */
typedef struct THNNPlaneSet {
  int64_t batch, sample; /* samples, and elements from one to the next */
  int64_t planes, step;
  int64_t positions; /* positions of a plane */
} THNNPlaneSet;

/* Checks the arguments of the gradient of a bias and returns the planes that it sums up. */
THNN_PRIVATE THNNPlaneSet THNN_biasPlanes(const char *function, int nDimension,
                                          THNNShape gradOutput, THNNShape gradBias);

#endif
