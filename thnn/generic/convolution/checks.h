/* The shape checks of convolutions: untemplated, each in its module's own file, called by both real
 * types and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each raises,
 * or returns what the function needs to know. */
#ifndef THNN_CONVOLUTION_CHECKS_H
#define THNN_CONVOLUTION_CHECKS_H

#include "call/check.h"
#include "geometry/convolution.h"

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
