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
THNN_API THNNConvolution THNN_convolutionCheck(const THNNConvolutionArguments *arguments);

/* Fills in the sizes of the image if `image` is true, else of the map: [batch x] planes x spatial
 * sizes, with a batch dimension if `batched`. Returns the number of dimensions. */
THNN_API int THNN_convolutionSizes(const THNNConvolution *geometry, int nDimension, bool image,
                                   bool batched, int64_t *size);

#endif
