/* Linear resampling of planes in two or three dimensions. */
#ifndef THNN_RESAMPLING_H
#define THNN_RESAMPLING_H

#include "call/check.h"

/* The arguments of a resampling module. The arrays hold nDimension values, outermost dimension
 * first. Forward, the input's sizes are those of the tensor. */
typedef struct THNNResamplingArguments {
  const char *function;
  int nDimension; /* 2 or 3 */
  THNNShape input, gradOutput;
  THNNScalar batch, planes, inputSize[3]; /* backward only */
  THNNScalar outputSize[3];
} THNNResamplingArguments;

/* Where the places of output indices begin, and what is made of the elements around a place. */
typedef enum THNNInterpolationMode {
  THNN_INTERPOLATION_EDGES,        /* the outer edges of the first elements coincide */
  THNN_INTERPOLATION_CORNERS,      /* the first elements coincide */
  THNN_INTERPOLATION_NEAREST,      /* as before, and a place is the element at or before it */
  THNN_INTERPOLATION_CUBIC,        /* outer edges coincide; four elements are mixed */
  THNN_INTERPOLATION_CUBIC_CORNERS /* the first elements coincide; four elements are mixed */
} THNNInterpolationMode;

/* Where output indices are along each dimension: index i at start + i * step, or at the nearest
 * index of the input; with `isWhole` at the index before that. With `isCubic` it is cubic
 * convolution of the four indices around, of which the nearest ones stand for those outside. */
typedef struct THNNResamplingSteps {
  double step[3], start[3];
  bool isWhole, isCubic;
} THNNResamplingSteps;

typedef struct THNNResampling {
  int64_t batch, planes;
  int64_t input[3], output[3]; /* element 0 is 1 where there are two dimensions */
  bool hasSteps;               /* otherwise the corners of input and output coincide */
  THNNResamplingSteps steps;
} THNNResampling;

THNNResampling THNN_resamplingCheck(const THNNResamplingArguments *arguments);

#endif
