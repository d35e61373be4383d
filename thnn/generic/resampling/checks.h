/* The shape checks of resampling: untemplated, each in its module's own file, called by both real
 * types and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each
 * raises, or returns what the function needs to know.
 *
 * Scalars come in the order of the prototype; `firstPosition` is the position of the first of
 * them. */
#ifndef THNN_RESAMPLING_CHECKS_H
#define THNN_RESAMPLING_CHECKS_H

#include "call/check.h"
#include "geometry/resampling.h"

THNN_PRIVATE THNNResampling THNN_SpatialUpSamplingBilinear_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int nbatch,
    int nchannels, int inputHeight, int inputWidth, int outputHeight, int outputWidth);

THNN_PRIVATE void THNN_SpatialGridSamplerBilinear_shapeCheck(const char *function, THNNShape input,
                                                             THNNShape grid, THNNShape gradOutput);

THNN_PRIVATE THNNResampling THNN_VolumetricUpSamplingTrilinear_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int nbatch,
    int nchannels, int inputDepth, int inputHeight, int inputWidth, int outputDepth,
    int outputHeight, int outputWidth);

/* The sizes, steps and mode of an interpolation, outermost dimension first. */
typedef struct THNNInterpolation {
  int size[3];
  double step[3];
  int mode;
} THNNInterpolation;

/* Forward; `at` is the position of the first size of the output. */
THNN_PRIVATE THNNResampling THNN_Interpolation_shapeCheck(const char *function, THNNShape input,
                                                          int at, THNNInterpolation to);

/* Backward, where the sizes are those of the input. */
THNN_PRIVATE THNNResampling THNN_Interpolation_gradientCheck(const char *function,
                                                             THNNShape gradOutput, int at,
                                                             THNNInterpolation from);

THNN_PRIVATE void THNN_nearest_shapeCheck(const char *function, int nDimension, THNNShape input,
                                          THNNShape gradOutput, THNNScalar factor, int64_t *size);

#endif
