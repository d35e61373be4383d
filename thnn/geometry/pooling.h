/* Pooling windows in one to three dimensions: the argument check of every module that has them, and
 * which elements a window covers.
 *
 * The geometry is that of a convolution with equally many planes on both sides: each plane is
 * pooled by itself, the image is the input and the map is the output. */
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
  bool ceilMode;  /* a last window that ends outside counts as well */
  THNNShape input, gradOutput, indices;
  THNNScalar kernel[3], stride[3], pad[3], dilation[3];
} THNNPoolingArguments;

/* Checks all sizes and settings and returns the geometry. */
THNNConvolution THNN_poolingCheck(const THNNPoolingArguments *arguments);

/* Checks that the planes, of nDimension dimensions, are small enough for 32-bit places. */
void THNN_checkPlaces(const char *function, THNNShape input, int nDimension);

/* The taps [begin, end) of one window along one dimension that are inside the input; tap t sees
 * index start + t*dilation. */
typedef struct THNNTaps {
  int64_t start, begin, end;
} THNNTaps;

THNNTaps THNN_tapsInside(const THNNConvolution *geometry, int dimension, int64_t position);

/* The geometry with an input that negative padding crops on the right as well as on the left. It
 * tells which elements windows cover, not where these are in memory. */
THNNConvolution THNN_croppedWindows(const THNNConvolution *geometry);

/* The number of elements that a window counts along one dimension, at least 1; with countPadding
 * also those in the padding. The geometry is cropped. */
int64_t THNN_windowLength(const THNNConvolution *geometry, int dimension, int64_t position,
                          bool countPadding);

/* The output positions whose windows are wholly inside the input. */
THNNRange THNN_wholeWindows(const THNNConvolution *geometry, int dimension);

/* The output positions whose windows, without dilation, cover an input index. */
THNNRange THNN_windowsOver(const THNNConvolution *geometry, int dimension, int64_t index);

/* The largest number of input rows that one window may cover. */
int64_t THNN_mostRowsUnderWindow(const THNNConvolution *geometry);

/* The sums that average pooling computes, and the span of source indices that a result index sums;
 * the geometry of the span is cropped. */
THNNRegionSums THNN_windowRegionSums(const THNNConvolution *geometry, bool backward);
THNNRange THNN_windowSpan(const THNNConvolution *geometry, int dimension, int64_t index,
                          bool backward);

/* The rows of one plane of the output; the planes of all samples. */
int64_t THNN_outputRows(const THNNConvolution *geometry);
int64_t THNN_poolingPlanes(const THNNConvolution *geometry);

#endif
