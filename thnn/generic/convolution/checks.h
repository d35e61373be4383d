/* The shape checks of convolutions: untemplated, each in its module's own file, called by both real
 * types and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each check
 * raises, or returns what the function needs to know. */
#ifndef THNN_CONVOLUTION_CHECKS_H
#define THNN_CONVOLUTION_CHECKS_H

#include "call/check.h"
#include "geometry/convolution.h"
#include "geometry/convolutionCheck.h"

/* `kWPosition` is the position of kW, the first of kW, kH, dW, dH, padW, padH. */
THNN_PRIVATE THNNConvolution THNN_SpatialConvolutionMM_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int kWPosition, int kW, int kH, int dW, int dH, int padW, int padH);

/* `kWPosition` is the position of kW, the first of kW, kH, dW, dH, padW, padH, adjW, adjH. The
 * convolution returned goes from the output to the input. */
THNN_PRIVATE THNNConvolution THNN_SpatialFullConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int kWPosition, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH);

/* `firstPosition` is the position of the first of kW, kH, dW, dH, padW, padH, dilationW,
 * dilationH. */
THNN_PRIVATE THNNConvolution THNN_SpatialDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW,
    int dilationH);

/* `firstPosition` is the position of the first of kW, kH, dW, dH, padW, padH, dilationW, dilationH,
 * adjW, adjH. */
THNN_PRIVATE THNNConvolution THNN_SpatialFullDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW,
    int dilationH, int adjW, int adjH);

/* `firstPosition` is the position of the first of dT, dW, dH, pT, pW, pH. */
THNN_PRIVATE THNNConvolution THNN_VolumetricConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int dT, int dW, int dH, int pT, int pW, int pH);

/* `firstPosition` is the position of the first of kT, kW, kH, dT, dW, dH, pT, pW, pH. */
THNN_PRIVATE THNNConvolution THNN_VolumetricConvolutionMM_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH);

/* `firstPosition` is the position of the first of dT, dW, dH, pT, pW, pH, aT, aW, aH. */
THNN_PRIVATE THNNConvolution THNN_VolumetricFullConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH);

/* `firstPosition` is the position of the first of kT, kW, kH, dT, dW, dH, padT, padW, padH,
 * dilationT, dilationW, dilationH. */
THNN_PRIVATE THNNConvolution THNN_VolumetricDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH,
    int dilationT, int dilationW, int dilationH);

/* `firstPosition` is the position of the first of dT, dW, dH, pT, pW, pH, dilationT, dilationW,
 * dilationH, aT, aW, aH. */
THNN_PRIVATE THNNConvolution THNN_VolumetricFullDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW,
    int dilationH, int aT, int aW, int aH);

/* What a convolution over frames needs to know. */
typedef struct THNNFrames {
  int64_t batch;
  int64_t inputFrames, inputSize, outputFrames, outputSize;
  int64_t gradientFrames; /* frames of gradOutput: outputFrames, and more that are ignored */
} THNNFrames;

THNN_PRIVATE THNNFrames THNN_TemporalConvolution_shapeCheck(const char *function, THNNShape input,
                                                            THNNShape gradOutput, THNNShape weight,
                                                            THNNShape bias, THNNScalar kW,
                                                            THNNScalar dW);

/* The connections between planes of an image and planes of a map, each with a kernel. With a
 * multiplier, each image plane has that many consecutive map planes of its own, and connection i
 * belongs to image plane i % imagePlanes; with multiplier 0, a table lists the planes that are
 * connected. For a transposed convolution the geometry is that of the ordinary one from its output
 * to its input. The geometry counts the planes of the tensors; only the first imagePlanes and
 * mapPlanes of them take part. */
typedef struct THNNPlaneJoins {
  THNNConvolution geometry;
  int nDimension; /* spatial dimensions */
  bool transposed;
  int64_t connections, multiplier;
  int64_t imagePlanes, mapPlanes;
  bool adds; /* results are added to what is there */
} THNNPlaneJoins;

/* Whether each group of a convolution joins single planes, as these connections can. */
THNN_PRIVATE bool THNN_groupsJoinPlanes(const THNNGroups *groups);

/* The connections of such groups, for a part of the batch: those of all groups, for each of the map
 * planes that a group has. */
THNN_PRIVATE THNNPlaneJoins THNN_joinsOfGroups(const THNNGroups *groups, int64_t samples);

/* `firstPosition` is the position of the first of kW, kH, dW, dH, padW, padH. */
THNN_PRIVATE THNNPlaneJoins THNN_SpatialDepthWiseConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH);

/* `firstPosition` is the position of the first of kW, dW, padW. */
THNN_PRIVATE THNNPlaneJoins THNN_TemporalRowConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int dW, int padW, bool featFirst);

/* The tensors of a convolution with a connection table. */
typedef struct THNNMapTensors {
  THNNShape input, gradOutput, weight, bias, connTable;
} THNNMapTensors;

/* Checks weight, bias and connTable for both modules that have a table. The caller sets the numbers
 * of planes and most of the geometry. */
THNNPlaneJoins THNN_connectionCheck(const char *function, const THNNMapTensors *tensors,
                                    int64_t nOutputPlane);

/* `firstPosition` is the position of the first of nInputPlane, nOutputPlane, dW, dH. With
 * `mayBeSmaller`, gradOutput can be smaller than the output. */
THNN_PRIVATE THNNPlaneJoins THNN_SpatialConvolutionMap_shapeCheck(
    const char *function, const THNNMapTensors *tensors, bool mayBeSmaller, int firstPosition,
    int nInputPlane, int nOutputPlane, int dW, int dH);

THNN_PRIVATE THNNPlaneJoins THNN_SpatialFullConvolutionMap_shapeCheck(
    const char *function, const THNNMapTensors *tensors, int firstPosition, int nInputPlane,
    int nOutputPlane, int dW, int dH);

/* `firstPosition` is the position of the first of kW, kH, dW, dH, padW, padH, inputWidth,
 * inputHeight, outputWidth, outputHeight. */
THNN_PRIVATE THNNConvolution THNN_SpatialConvolutionLocal_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth,
    int64_t inputHeight, int64_t outputWidth, int64_t outputHeight);

#endif
