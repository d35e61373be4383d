/* The shape checks of pooling: untemplated, each in its module's own file, called by both real
 * types and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each
 * raises, or returns what the function needs to know.
 *
 * Scalars come in the order of the prototype; `firstPosition` is the position of the first of
 * them. */
#ifndef THNN_POOLING_CHECKS_H
#define THNN_POOLING_CHECKS_H

#include "call/check.h"
#include "geometry/adaptive.h"
#include "geometry/convolution.h"
#include "geometry/fractional.h"
#include "geometry/planes.h"

/* Input is batch x features x rows x columns, output batch x windows x outputRows x outputColumns,
 * whose rows and columns beyond those of input are ignored. */
typedef struct THNNFeaturePooling {
  int64_t batch, features, windows;
  int width, stride;
  int64_t rows, columns, outputRows, outputColumns;
} THNNFeaturePooling;

THNN_PRIVATE THNNFeaturePooling THNN_FeatureLPPooling_shapeCheck(const char *function,
                                                                 THNNShape input,
                                                                 THNNShape gradOutput,
                                                                 THNNShape output, THNNScalar width,
                                                                 THNNScalar stride, bool batchMode);

THNN_PRIVATE THNNConvolution THNN_SpatialMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode);

THNN_PRIVATE THNNConvolution THNN_SpatialDilatedMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW,
    int dilationH, bool ceil_mode);

THNN_PRIVATE THNNConvolution THNN_SpatialAveragePooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int kW, int kH,
    int dW, int dH, int padW, int padH, bool ceil_mode);

THNN_PRIVATE THNNAdaptivePooling THNN_SpatialAdaptiveMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    int owidthPosition, int owidth, int oheight);

THNN_PRIVATE THNNAdaptivePooling THNN_SpatialAdaptiveAveragePooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int owidthPosition, int owidth,
    int oheight);

THNN_PRIVATE THNNFractional THNN_SpatialFractionalMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    THNNShape randomSamples, int firstPosition, int outputW, int outputH, int poolSizeW,
    int poolSizeH);

THNN_PRIVATE int64_t THNN_SpatialMaxUnpooling_shapeCheck(const char *function, THNNShape input,
                                                         THNNShape gradOutput, THNNShape indices,
                                                         int owidthPosition, int owidth,
                                                         int oheight);

THNN_PRIVATE THNNConvolution THNN_SpatialSubSampling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int kH, int dW, int dH);

THNN_PRIVATE THNNConvolution
THNN_VolumetricMaxPooling_shapeCheck(const char *function, THNNShape input, THNNShape gradOutput,
                                     THNNShape indices, int firstPosition, int kT, int kW, int kH,
                                     int dT, int dW, int dH, int pT, int pW, int pH, bool ceilMode);

THNN_PRIVATE THNNConvolution THNN_VolumetricDilatedMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    int firstPosition, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH,
    int dilationT, int dilationW, int dilationH, bool ceilMode);

THNN_PRIVATE THNNConvolution THNN_VolumetricAveragePooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int kT, int kW,
    int kH, int dT, int dW, int dH, int padT, int padW, int padH, bool ceil_mode);

THNN_PRIVATE THNNFractional THNN_VolumetricFractionalMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    THNNShape randomSamples, int firstPosition, int outputT, int outputW, int outputH,
    int poolSizeT, int poolSizeW, int poolSizeH);

THNN_PRIVATE THNNConvolution THNN_VolumetricMaxUnpooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    int firstPosition, int oT, int oW, int oH, int dT, int dW, int dH, int pT, int pW, int pH);

THNN_PRIVATE THNNConvolution THNN_TemporalMaxPooling_shapeCheck(const char *function,
                                                                THNNShape input,
                                                                THNNShape gradOutput,
                                                                THNNShape indices,
                                                                int firstPosition, int kW, int dW);

THNN_PRIVATE THNNConvolution THNN_TemporalSubSampling_shapeCheck(const char *function,
                                                                 THNNShape input,
                                                                 THNNShape gradOutput,
                                                                 THNNShape weight, THNNShape bias,
                                                                 int firstPosition, int kW, int dW);

/* What a reduction makes of a dimension: the values of its argument `mode`. */
typedef enum THNNReduction {
  THNN_REDUCTION_SUM,
  THNN_REDUCTION_MEAN,
  THNN_REDUCTION_GREATEST,
  THNN_REDUCTION_LEAST
} THNNReduction;

enum { THNN_MOST_REDUCED_DIMENSIONS = 64 };

/* The planes are the dimension that is reduced. */
THNN_PRIVATE THNNPlanes THNN_Reduction_shapeCheck(const char *function, THNNShape input,
                                                  THNNScalar dim, THNNScalar mode);

/* Checks the gradient of a reduction's output and, where places are needed, their number. */
THNN_PRIVATE void THNN_Reduction_gradientCheck(const char *function, THNNPlanes reduced,
                                               THNNReduction mode, THNNShape gradOutput,
                                               THNNShape indices);

/* The sizes of a reduction's output; returns the number of dimensions. */
THNN_PRIVATE int THNN_reducedSizes(THNNShape input, int dim, bool keep, int64_t *size);

#endif
