/* The shape check of each module: untemplated, in the module's own file, called by both real types
 * and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each raises, or
 * returns what the function needs to know. */
#ifndef THNN_SHAPE_CHECKS_H
#define THNN_SHAPE_CHECKS_H

#include "call/check.h"
#include "geometry/convolutionCheck.h"
#include "geometry/fractional.h"
#include "geometry/padding.h"
#include "geometry/adaptive.h"
#include "geometry/resampling.h"

/* Element-by-element modules, backward: as many elements in gradOutput as in `saved`, the input or
 * the output of the forward call. */
THNN_API void THNN_pointwise_shapeCheck(const char *function, THNNShape saved,
                                        THNNShape gradOutput);

/* The same, and gradOutput has the sizes of `saved`. */
THNN_API void THNN_pointwise_sizeCheck(const char *function, THNNShape saved, THNNShape gradOutput);

/* A forward call's input that only serves to be compared: NULL, or as many elements. */
THNN_API void THNN_pointwise_inputCheck(const char *function, THNNShape input,
                                        THNNShape gradOutput);

/* A tensor as planes: batch x planes x positions. */
typedef struct THNNPlanes {
  int64_t batch, planes, positions;
} THNNPlanes;

/* Where there is one weight for all, one plane. `weight` may also be gradWeight. */
THNN_API THNNPlanes THNN_PReLU_shapeCheck(const char *function, THNNShape input,
                                          THNNShape gradOutput, THNNShape weight,
                                          THNNScalar nOutputPlane);

/* Also of LogSoftMax. */
THNN_API THNNPlanes THNN_SoftMax_shapeCheck(const char *function, THNNShape input,
                                            THNNShape gradOutput, THNNShape output);

THNN_API THNNPlanes THNN_BatchNormalization_shapeCheck(const char *function, THNNShape input,
                                                       THNNShape gradOutput);

/* A parameter or statistic of the planes. */
THNN_API void THNN_BatchNormalization_vectorCheck(const char *function, THNNShape vector,
                                                  int64_t planes, bool optional);

/* A tensor cut in two along one dimension: `runs` times `length` elements of the first half and
 * then as many of the second. */
typedef struct THNNHalves {
  int64_t runs, length;
} THNNHalves;

THNN_API THNNHalves THNN_GatedLinear_shapeCheck(const char *function, THNNShape input,
                                                THNNShape gradOutput, THNNScalar dim);

/* Input is batch x features x rows x columns, output batch x windows x outputRows x outputColumns,
 * whose rows and columns beyond those of input are left aside. */
typedef struct THNNFeaturePooling {
  int64_t batch, features, windows;
  int width, stride;
  int64_t rows, columns, outputRows, outputColumns;
} THNNFeaturePooling;

THNN_API THNNFeaturePooling THNN_FeatureLPPooling_shapeCheck(const char *function, THNNShape input,
                                                             THNNShape gradOutput, THNNShape output,
                                                             THNNScalar width, THNNScalar stride,
                                                             bool batchMode);

/* Criterions that compare element by element: as many elements in target and weights (NULL: there
 * are none) as in input; one element in output. */
THNN_API void THNN_elementwiseCriterion_shapeCheck(const char *function, THNNShape input,
                                                   THNNShape target, THNNShape weights,
                                                   THNNShape output);

/* What a criterion with class targets needs to know; positions are those of a plane, or 1. */
typedef struct THNNClasses {
  int64_t batch, classes, positions;
} THNNClasses;

/* As many elements as classes, or NULL. */
THNN_API void THNN_checkClassWeights(const char *function, THNNShape weights, int64_t classes);

THNN_API THNNClasses THNN_ClassNLLCriterion_shapeCheck(const char *function, THNNShape input,
                                                       THNNShape target, THNNShape weights);

THNN_API THNNClasses THNN_SpatialClassNLLCriterion_shapeCheck(const char *function, THNNShape input,
                                                              THNNShape target, THNNShape weights);

/* Without a batch the target is a vector, or may have `anyTargetShape`. */
THNN_API THNNClasses THNN_MultiMarginCriterion_shapeCheck(const char *function, THNNShape input,
                                                          THNNShape target, bool anyTargetShape);

THNN_API THNNClasses THNN_MultiLabelMarginCriterion_shapeCheck(const char *function,
                                                               THNNShape input, THNNShape target,
                                                               THNNShape isTarget);

/* What a linear layer needs to know; batch is 0 when there is nothing to compute. */
typedef struct THNNLinear {
  int64_t batch, inputs, outputs;
} THNNLinear;

/* weight and bias may be their gradients; bias may be NULL. */
THNN_API THNNLinear THNN_Linear_shapeCheck(const char *function, THNNShape input,
                                           THNNShape gradOutput, THNNShape weight, THNNShape bias);

/* What a lookup table needs to know. */
typedef struct THNNTable {
  int64_t indices, rows, columns;
} THNNTable;

/* `weight` may be its gradient; `gradOutput` has a row for each index at least. */
THNN_API THNNTable THNN_LookupTable_shapeCheck(const char *function, THNNShape indices,
                                               int mostDimensions, THNNShape weight,
                                               THNNShape gradOutput);

THNN_API THNNTable THNN_LookupTableBag_shapeCheck(const char *function, THNNShape input,
                                                  THNNShape weight, THNNScalar mode);

/* What a linear layer over keys needs to know: the weight has rows x columns, of which the last are
 * the outputs. */
typedef struct THNNIndexLinear {
  int64_t keys, batch, rows, columns, outputs, extra;
} THNNIndexLinear;

THNN_API THNNIndexLinear THNN_IndexLinear_shapeCheck(const char *function, THNNShape keys,
                                                     THNNShape values, THNNShape sizes,
                                                     THNNShape gradOutput, THNNShape weight,
                                                     THNNShape bias);

/* For accGradParameters: leaves rows and columns 0. */
THNN_API THNNIndexLinear THNN_IndexLinear_gradientShapeCheck(const char *function, THNNShape keys,
                                                             THNNShape values, THNNShape sizes,
                                                             THNNShape gradOutput,
                                                             THNNShape gradBias, THNNShape weight,
                                                             THNNShape bias);

/* For updateParameters: leaves batch 0. */
THNN_API THNNIndexLinear THNN_IndexLinear_updateShapeCheck(const char *function,
                                                           THNNShape gradWeight, THNNShape gradBias,
                                                           THNNShape weight, THNNShape bias,
                                                           THNNShape runningKeys);

/* What a linear layer over sparse samples needs to know; batch is 0 unless the input tells it. */
typedef struct THNNSparseLinear {
  int64_t entries, batch, inputs, outputs;
} THNNSparseLinear;

/* weight and bias may be their gradients. */
THNN_API THNNSparseLinear THNN_SparseLinear_shapeCheck(const char *function, bool legacy,
                                                       THNNShape input, THNNShape weight,
                                                       THNNShape bias);

/* What a fused recurrent cell needs to know. */
typedef struct THNNCell {
  int64_t batch, units;
} THNNCell;

/* `units` is the tensor that has batch x units elements; those of GRUFused_updateOutput and
 * LSTMFused_updateOutput with `gates` for each. Both biases or neither. */
THNN_API THNNCell THNN_fusedCell_shapeCheck(const char *function, int gates, THNNShape units,
                                            THNNShape input, THNNShape hidden, THNNShape bias1,
                                            THNNShape bias2);

/* `times` as many elements as `units`. */
THNN_API void THNN_checkCellElements(const char *function, THNNShape shape, int times,
                                     THNNShape units);

THNN_API THNNPlanes THNN_SpatialCrossMapLRN_shapeCheck(const char *function, THNNShape input,
                                                       THNNShape gradOutput, THNNShape scale,
                                                       THNNShape output, THNNScalar size);

/* `kW` is the first of kW, kH, dW, dH, padW, padH. */
THNN_API THNNConvolution THNN_SpatialConvolutionMM_shapeCheck(const char *function, THNNShape input,
                                                              THNNShape gradOutput,
                                                              THNNShape weight, THNNShape bias,
                                                              int kWPosition, int kW, int kH,
                                                              int dW, int dH, int padW, int padH);

/* `kW` is the first of kW, kH, dW, dH, padW, padH, adjW, adjH. The convolution returned goes from
 * the output to the input. */
THNN_API THNNConvolution THNN_SpatialFullConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int kWPosition, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH);

/* `firstPosition` is that of the first of kW, kH, dW, dH, padW, padH, dilationW, dilationH. */
THNN_API THNNConvolution THNN_SpatialDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW,
    int dilationH);

/* `firstPosition` is that of the first of kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW,
 * adjH. */
THNN_API THNNConvolution THNN_SpatialFullDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW,
    int dilationH, int adjW, int adjH);

/* `firstPosition` is that of the first of dT, dW, dH, pT, pW, pH. */
THNN_API THNNConvolution THNN_VolumetricConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int dT, int dW, int dH, int pT, int pW, int pH);

/* `firstPosition` is that of the first of kT, kW, kH, dT, dW, dH, pT, pW, pH. */
THNN_API THNNConvolution THNN_VolumetricConvolutionMM_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH);

/* `firstPosition` is that of the first of dT, dW, dH, pT, pW, pH, aT, aW, aH. */
THNN_API THNNConvolution THNN_VolumetricFullConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH);

/* `firstPosition` is that of the first of kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT,
 * dilationW, dilationH. */
THNN_API THNNConvolution THNN_VolumetricDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH,
    int dilationT, int dilationW, int dilationH);

/* `firstPosition` is that of the first of dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH,
 * aT, aW, aH. */
THNN_API THNNConvolution THNN_VolumetricFullDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW,
    int dilationH, int aT, int aW, int aH);

/* Pooling, sampling, padding. Scalars come in the order of the prototype; their first position says
 * where, as above. */
THNN_API THNNConvolution THNN_SpatialMaxPooling_shapeCheck(const char *function, THNNShape input,
                                                           THNNShape gradOutput, THNNShape indices,
                                                           int firstPosition, int kW, int kH,
                                                           int dW, int dH, int padW, int padH,
                                                           bool ceil_mode);

THNN_API THNNConvolution THNN_SpatialDilatedMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW,
    int dilationH, bool ceil_mode);

THNN_API THNNConvolution THNN_SpatialAveragePooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int kW, int kH,
    int dW, int dH, int padW, int padH, bool ceil_mode);

THNN_API THNNAdaptivePooling THNN_SpatialAdaptiveMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    int owidthPosition, int owidth, int oheight);

THNN_API THNNAdaptivePooling THNN_SpatialAdaptiveAveragePooling_shapeCheck(const char *function,
                                                                           THNNShape input,
                                                                           THNNShape gradOutput,
                                                                           int owidthPosition,
                                                                           int owidth, int oheight);

THNN_API THNNFractional THNN_SpatialFractionalMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    THNNShape randomSamples, int firstPosition, int outputW, int outputH, int poolSizeW,
    int poolSizeH);

THNN_API int64_t THNN_SpatialMaxUnpooling_shapeCheck(const char *function, THNNShape input,
                                                     THNNShape gradOutput, THNNShape indices,
                                                     int owidthPosition, int owidth, int oheight);

THNN_API THNNConvolution THNN_SpatialSubSampling_shapeCheck(const char *function, THNNShape input,
                                                            THNNShape gradOutput, THNNShape weight,
                                                            THNNShape bias, int firstPosition,
                                                            int kW, int kH, int dW, int dH);

THNN_API THNNResampling THNN_SpatialUpSamplingBilinear_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int nbatch,
    int nchannels, int inputHeight, int inputWidth, int outputHeight, int outputWidth);

THNN_API void THNN_SpatialGridSamplerBilinear_shapeCheck(const char *function, THNNShape input,
                                                         THNNShape grid, THNNShape gradOutput);

THNN_API THNNPadding THNN_SpatialReflectionPadding_shapeCheck(const char *function, THNNShape input,
                                                              THNNShape gradOutput,
                                                              int firstPosition, int pad_l,
                                                              int pad_r, int pad_t, int pad_b);

THNN_API THNNPadding THNN_SpatialReplicationPadding_shapeCheck(const char *function,
                                                               THNNShape input,
                                                               THNNShape gradOutput,
                                                               int firstPosition, int pad_l,
                                                               int pad_r, int pad_t, int pad_b);

THNN_API THNNConvolution THNN_VolumetricMaxPooling_shapeCheck(const char *function, THNNShape input,
                                                              THNNShape gradOutput,
                                                              THNNShape indices, int firstPosition,
                                                              int kT, int kW, int kH, int dT,
                                                              int dW, int dH, int pT, int pW,
                                                              int pH, bool ceilMode);

THNN_API THNNConvolution THNN_VolumetricDilatedMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    int firstPosition, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH,
    int dilationT, int dilationW, int dilationH, bool ceilMode);

THNN_API THNNConvolution THNN_VolumetricAveragePooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int kT, int kW,
    int kH, int dT, int dW, int dH, int padT, int padW, int padH, bool ceil_mode);

THNN_API THNNFractional THNN_VolumetricFractionalMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    THNNShape randomSamples, int firstPosition, int outputT, int outputW, int outputH,
    int poolSizeT, int poolSizeW, int poolSizeH);

THNN_API THNNConvolution THNN_VolumetricMaxUnpooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    int firstPosition, int oT, int oW, int oH, int dT, int dW, int dH, int pT, int pW, int pH);

THNN_API THNNPadding THNN_VolumetricReplicationPadding_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int pleft,
    int pright, int ptop, int pbottom, int pfront, int pback);

THNN_API THNNResampling THNN_VolumetricUpSamplingTrilinear_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int nbatch,
    int nchannels, int inputDepth, int inputHeight, int inputWidth, int outputDepth,
    int outputHeight, int outputWidth);

THNN_API THNNConvolution THNN_TemporalMaxPooling_shapeCheck(const char *function, THNNShape input,
                                                            THNNShape gradOutput, THNNShape indices,
                                                            int firstPosition, int kW, int dW);

THNN_API THNNConvolution THNN_TemporalSubSampling_shapeCheck(const char *function, THNNShape input,
                                                             THNNShape gradOutput, THNNShape weight,
                                                             THNNShape bias, int firstPosition,
                                                             int kW, int dW);

THNN_API void THNN_nearest_shapeCheck(const char *function, int nDimension, THNNShape input,
                                      THNNShape gradOutput, THNNScalar factor, int64_t *size);

/* What a convolution over frames needs to know. */
typedef struct THNNFrames {
  int64_t batch;
  int64_t inputFrames, inputSize, outputFrames, outputSize;
  int64_t gradientFrames; /* of gradOutput: outputFrames or more, of which the rest is left aside */
} THNNFrames;

THNN_API THNNFrames THNN_TemporalConvolution_shapeCheck(const char *function, THNNShape input,
                                                        THNNShape gradOutput, THNNShape weight,
                                                        THNNShape bias, THNNScalar kW,
                                                        THNNScalar dW);

/* Which planes of an image and of a map kernels join: `connections` of them. With a multiplier,
 * each image plane has that many maps of its own, which follow each other; connection i belongs to
 * image plane i % imagePlanes. Without one, a table says. For a transposed convolution the geometry
 * is that of the ordinary one from its output to its input. Planes of the geometry are those that
 * the tensors have, of which the first imagePlanes and mapPlanes take part. */
typedef struct THNNPlaneJoins {
  THNNConvolution geometry;
  int nDimension; /* spatial dimensions */
  bool transposed;
  int64_t connections, multiplier;
  int64_t imagePlanes, mapPlanes;
} THNNPlaneJoins;

/* `firstPosition` is that of the first of kW, kH, dW, dH, padW, padH. */
THNN_API THNNPlaneJoins THNN_SpatialDepthWiseConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH);

/* `firstPosition` is that of the first of kW, dW, padW. */
THNN_API THNNPlaneJoins THNN_TemporalRowConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int dW, int padW, bool featFirst);

/* The tensors of a convolution with a connection table. */
typedef struct THNNMapTensors {
  THNNShape input, gradOutput, weight, bias, connTable;
} THNNMapTensors;

/* What both such modules check: weight, bias and connTable. Leaves planes and most of the geometry.
 */
THNN_API THNNPlaneJoins THNN_connectionCheck(const char *function, const THNNMapTensors *tensors,
                                             int64_t nOutputPlane);

/* `firstPosition` is that of the first of nInputPlane, nOutputPlane, dW, dH. gradOutput may be
 * smaller than the output where `mayBeSmaller` says so. */
THNN_API THNNPlaneJoins THNN_SpatialConvolutionMap_shapeCheck(const char *function,
                                                              const THNNMapTensors *tensors,
                                                              bool mayBeSmaller, int firstPosition,
                                                              int nInputPlane, int nOutputPlane,
                                                              int dW, int dH);

THNN_API THNNPlaneJoins THNN_SpatialFullConvolutionMap_shapeCheck(const char *function,
                                                                  const THNNMapTensors *tensors,
                                                                  int firstPosition,
                                                                  int nInputPlane, int nOutputPlane,
                                                                  int dW, int dH);

/* `firstPosition` is that of the first of kW, kH, dW, dH, padW, padH, inputWidth, inputHeight,
 * outputWidth, outputHeight. */
THNN_API THNNConvolution THNN_SpatialConvolutionLocal_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth,
    int64_t inputHeight, int64_t outputWidth, int64_t outputHeight);

#endif
