/* Convolution in one to three dimensions: the geometry, and the plan of one computation.
 *
 * One description serves every module. It is an ordinary cross-correlation from an image to a map,
 *
 *   map[n][m][o] = sum over c, t of weight[m][c][t] * image[n][c][o*stride - pad + t*dilation]
 *
 * with o, t and the three settings per dimension; where the image is read outside, it is 0. A
 * transposed convolution is the same description used backwards: its output is the image's
 * gradient (and may start from a bias), its gradInput is the map. */
#ifndef THNN_CONVOLUTION_H
#define THNN_CONVOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "THNNState.h"

/* Arrays are depth, height, width; sizes, kernel, stride and dilation are 1 where unused. */
typedef struct THNNConvolution {
  int64_t batch, inputPlanes, outputPlanes;
  int64_t input[3];  /* of the image */
  int64_t output[3]; /* of the map: given, it need not follow from the rest */
  int64_t kernel[3], stride[3], dilation[3];
  int64_t pad[3]; /* may be negative: the image is cropped */
} THNNConvolution;

typedef enum THNNConvolutionPart {
  THNN_CONVOLUTION_FORWARD,        /* map from image and weight */
  THNN_CONVOLUTION_BACKWARD_DATA,  /* image gradient from map gradient and weight */
  THNN_CONVOLUTION_BACKWARD_WEIGHT /* weight gradient from image and map gradient */
} THNNConvolutionPart;

/* The `gemm` algorithm works on tiles of the column matrix of one sample, which has a row per
 * (channel, tap) and a column per map position. */
typedef struct THNNConvolutionTiles {
  int64_t rows, positions;         /* of the whole matrix */
  int64_t blockRows;               /* rows that one thread works on at a time */
  int64_t tileRows, tilePositions; /* of the part that is unfolded at a time */
} THNNConvolutionTiles;

/* How one part of one convolution is computed. Block sizes depend on the geometry and the state's
 * workspace limit, never on the number of threads. */
typedef struct THNNConvolutionPlan {
  THNNConvolution geometry;
  THNNConvolutionPart part;
  THNNConvolutionAlgorithm algorithm; /* gemm or direct */
  int threads;
  size_t threadBytes;  /* scratch of one thread */
  size_t scratchBytes; /* of all: what the caller provides */
  THNNConvolutionTiles tiles;
} THNNConvolutionPlan;

/* One tap along one dimension: which map positions see the image through it. */
typedef struct THNNConvolutionTap {
  int64_t start;      /* image index seen by map position 0; may lie outside */
  int64_t begin, end; /* positions [begin, end) see inside the image */
} THNNConvolutionTap;

THNNConvolutionTap THNN_convolutionTap(const THNNConvolution *geometry, int dimension, int64_t tap);

int64_t THNN_convolutionTaps(const THNNConvolution *geometry);           /* per channel pair */
int64_t THNN_convolutionImagePositions(const THNNConvolution *geometry); /* per channel */
int64_t THNN_convolutionMapPositions(const THNNConvolution *geometry);   /* per channel */

/* 1x1 kernel, stride 1, no padding: map positions are image positions. */
bool THNN_convolutionIsPointwise(const THNNConvolution *geometry);

#endif
