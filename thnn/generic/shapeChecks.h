/* The shape check of each module: untemplated, in the module's own file, called by both real types
 * and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each raises, or
 * returns what the function needs to know. */
#ifndef THNN_SHAPE_CHECKS_H
#define THNN_SHAPE_CHECKS_H

#include "../THNNCheck.h"
#include "../THNNConvolutionCheck.h"

/* Element-by-element modules, backward: as many elements in gradOutput as in `saved`, the input or
 * the output of the forward call. */
THNN_API void THNN_pointwise_shapeCheck(const char *function, THNNShape saved,
                                        THNNShape gradOutput);

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

/* `firstPosition` is that of the first of kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH. */
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

/* `firstPosition` is that of the first of kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH. */
THNN_API THNNConvolution THNN_VolumetricDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH,
    int dilationT, int dilationW, int dilationH);

/* `firstPosition` is that of the first of dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH. */
THNN_API THNNConvolution THNN_VolumetricFullDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW,
    int dilationH, int aT, int aW, int aH);

/* What bilinear resampling of planes needs to know. */
typedef struct THNNResampling {
  int64_t batch, planes, inputHeight, inputWidth, outputHeight, outputWidth;
} THNNResampling;

THNN_API THNNResampling THNN_SpatialUpSamplingBilinear_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNScalar batch,
    THNNScalar planes, THNNScalar inputHeight, THNNScalar inputWidth, THNNScalar outputHeight,
    THNNScalar outputWidth);

#endif
