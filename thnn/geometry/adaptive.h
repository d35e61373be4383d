/* Regions along one dimension whose size varies, as in adaptive pooling. */
#ifndef THNN_ADAPTIVE_H
#define THNN_ADAPTIVE_H

#include "call/check.h"
#include "simd/range.h"

/* Sums over regions of many planes: result element (z, y, x) is the sum of the source elements in a
 * span of slices, one of rows and one of columns. Forward, the source is the input, and sums are
 * divided; backward, it is gradOutput, each of whose elements is divided. */
typedef struct THNNRegionSums {
  int64_t planes, source[3], result[3];
  int64_t mostRows; /* upper bound of the rows of a region, all its slices together */
  bool backward, divided;
  /* Forward: the result columns whose spans have equal lengths and begin `step` elements apart. */
  THNNRange regular;
  int64_t step;
} THNNRegionSums;

/* Region `position` when `input` indices are divided among `output` regions, which overlap where
 * the division does not come out even: from position*input/output, rounded down, to
 * (position + 1)*input/output, rounded up. */
THNNRange THNN_adaptiveRegion(int64_t input, int64_t output, int64_t position);

/* The region computed in single precision, which now and then makes it one index larger. Max
 * pooling has always done it this way, and stored models depend on it. */
THNNRange THNN_adaptiveMaxRegion(int64_t input, int64_t output, int64_t position);

/* Where a region of max pooling begins; inline, because it is called for each index decoded. */
static inline int64_t THNN_adaptiveMaxBegin(int64_t input, int64_t output, int64_t position)
{
  /* The cast rounds down: nothing is negative. */
  const int64_t begin = (int64_t)((float)position / (float)output * (float)input);
  return begin < input ? begin : input - 1;
}

/* An upper bound of the length of the regions of max pooling. */
int64_t THNN_mostAdaptiveMaxLength(int64_t input, int64_t output);

/* The range of positions whose THNN_adaptiveRegion contains an index. */
THNNRange THNN_adaptiveRegionsOver(int64_t input, int64_t output, int64_t index);

/* Adaptive pooling of planes. */
typedef struct THNNAdaptivePooling {
  int64_t planes; /* planes of the whole batch */
  int64_t inputHeight, inputWidth, outputHeight, outputWidth;
} THNNAdaptivePooling;

/* The elements of the output. */
int64_t THNN_adaptiveElements(const THNNAdaptivePooling *pooling);

/* The sums that adaptive average pooling computes. */
THNNRegionSums THNN_adaptiveRegionSums(const THNNAdaptivePooling *pooling, bool backward);

/* Writes the output's sizes: the input's, except the last two. Returns how many there are. */
int THNN_adaptiveOutputSize(const THNNAdaptivePooling *pooling, THNNShape input, int64_t *size);

#endif
