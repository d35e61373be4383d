/* The convolution engine: forward, gradient of the image and gradient of the weight, for every
 * module that convolves with shared weights. See geometry/convolution.h for the geometry.
 *
 * Pointers are dense: images and maps are batch x planes x depth x height x width, weight is
 * outputPlanes x inputPlanes x kernel. `scratch` is plan->scratchBytes long, aligned to 64 bytes;
 * its contents are neither read nor kept. No function can fail. */
#ifndef THNN_GENERIC_CONVOLUTION_H
#define THNN_GENERIC_CONVOLUTION_H

#include "geometry/convolution.h"

/* Chooses algorithm, block sizes and threads. Allocates no memory and cannot fail. */
void THNN_(Convolution_prepare)(THNNConvolutionPlan *plan, const THNNState *state,
                                const THNNConvolution *geometry, THNNConvolutionPart part);

/* The algorithm that runs first, by its public name, and its expected time in cycles of one core. */
THNNConvolutionAlgorithm THNN_(Convolution_algorithm)(const THNNConvolutionPlan *plan);
double THNN_(Convolution_cost)(const THNNConvolutionPlan *plan);

/* output = bias + convolution(input); bias (one value per output plane) may be NULL. */
void THNN_(Convolution_forward)(const THNNConvolutionPlan *plan, const real *input,
                                const real *weight, const real *bias, real *output, void *scratch);

/* gradInput = bias + the gradients that flow back through forward's taps; bias (one value per input
 * plane) may be NULL. With a bias it is the forward pass of the transposed convolution. */
void THNN_(Convolution_backwardData)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                     const real *weight, const real *bias, real *gradInput,
                                     void *scratch);

/* gradWeight += scale * the correlation of input with gradOutput; gradBias += scale * the sum of
 * each of gradOutput's planes over batch and positions, unless it is NULL. */
void THNN_(Convolution_backwardWeight)(const THNNConvolutionPlan *plan, const real *input,
                                       const real *gradOutput, accreal scale, real *gradWeight,
                                       real *gradBias, void *scratch);

/* Adds the bias gradient of a transposed convolution, whose gradOutput is the geometry's image. */
void THNN_(Convolution_backwardTransposedBias)(const THNNConvolutionPlan *plan,
                                               const real *gradOutput, accreal scale,
                                               real *gradBias);

/* A rectangle of the column matrix of one sample: rows are (channel, tap), channel slowest;
 * columns are map positions in row-major order. */
typedef struct Columns {
  int64_t firstRow, rows;
  int64_t firstPosition, positions;
  real *data;
  int64_t stride; /* elements from one row to the next */
} Columns;

/* Fills a rectangle of columns from an image of inputPlanes x input. */
void THNN_(unfold)(const THNNConvolution *geometry, const real *image, const Columns *columns);

/* Adds a rectangle of columns to the image elements that unfold would read. */
void THNN_(fold)(const THNNConvolution *geometry, const Columns *columns, real *image);

#endif
