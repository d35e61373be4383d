/* Pooling windows in one to three dimensions: the argument check of every module that has them, and
 * what lies under a window.
 *
 * The geometry is a convolution's that has as many planes on both sides: each plane is pooled by
 * itself, image positions are the input's and map positions the output's. */
#ifndef THNN_POOLING_H
#define THNN_POOLING_H

#include "call/check.h"
#include "geometry/convolution.h"
#include "geometry/adaptive.h"
#include "work/threads.h"

/* The arguments of a pooling module. The arrays hold nDimension values, outermost dimension first
 * (depth, height, width); a dilation that the module does not have stays {0}. */
typedef struct THNNPoolingArguments {
  const char *function;
  int nDimension; /* spatial dimensions: 2 or 3 */
  bool ceilMode;  /* a last window that is cut off counts as well */
  THNNShape input, gradOutput, indices;
  THNNScalar kernel[3], stride[3], pad[3], dilation[3];
} THNNPoolingArguments;

/* Checks everything that sizes can tell and returns the geometry. */
THNN_API THNNConvolution THNN_poolingCheck(const THNNPoolingArguments *arguments);

/* Planes, of `nDimension` dimensions, that are small enough for places to be 32-bit integers. */
THNN_API void THNN_checkPlaces(const char *function, THNNShape input, int nDimension);

/* The taps of one window along one dimension that lie inside the input; tap t lies at index
 * start + t*dilation. */
typedef struct THNNTaps {
  int64_t start, begin, end;
} THNNTaps;

THNNTaps THNN_tapsInside(const THNNConvolution *geometry, int dimension, int64_t position);

/* The geometry of the windows of an input that negative padding cuts off on the right as well as on
 * the left; for what lies under the windows, not for where it lies in memory. */
THNNConvolution THNN_croppedWindows(const THNNConvolution *geometry);

/* How many elements a window counts along one dimension; those in the padding only on request, and
 * at least 1. The windows are cropped. */
int64_t THNN_windowLength(const THNNConvolution *geometry, int dimension, int64_t position,
                          bool countPadding);

/* The output positions whose windows lie inside the input as a whole. */
THNNRange THNN_wholeWindows(const THNNConvolution *geometry, int dimension);

/* The output positions whose windows, without dilation, cover an input index. */
THNNRange THNN_windowsOver(const THNNConvolution *geometry, int dimension, int64_t index);

/* Input rows that one window may cover at most. */
int64_t THNN_mostRowsUnderWindow(const THNNConvolution *geometry);

/* What average pooling sums up, and the span of an index of the result; the windows are cropped. */
THNNRegionSums THNN_windowRegionSums(const THNNConvolution *geometry, bool backward);
THNNRange THNN_windowSpan(const THNNConvolution *geometry, int dimension, int64_t index,
                          bool backward);

/* Rows of one plane, and of all: of the output (the map) or of the input (the image). */
int64_t THNN_outputRows(const THNNConvolution *geometry);
int64_t THNN_inputRows(const THNNConvolution *geometry);
int64_t THNN_poolingPlanes(const THNNConvolution *geometry);

#endif
