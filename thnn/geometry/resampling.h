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

/* Where the places of output indices begin, and whether what is between two elements is mixed. */
typedef enum THNNInterpolationMode {
  THNN_INTERPOLATION_EDGES,   /* the outer edges of the first elements coincide */
  THNN_INTERPOLATION_CORNERS, /* the first elements coincide */
  THNN_INTERPOLATION_NEAREST  /* as before, and a place is the element at or before it */
} THNNInterpolationMode;

/* Where output indices are along each dimension: index i at start + i * step, or at the nearest
 * index of the input; with `isWhole` at the index before that. */
typedef struct THNNResamplingSteps {
  double step[3], start[3];
  bool isWhole;
} THNNResamplingSteps;

typedef struct THNNResampling {
  int64_t batch, planes;
  int64_t input[3], output[3]; /* element 0 is 1 where there are two dimensions */
  bool hasSteps;               /* otherwise the corners of input and output coincide */
  THNNResamplingSteps steps;
} THNNResampling;

THNNResampling THNN_resamplingCheck(const THNNResamplingArguments *arguments);

#endif
