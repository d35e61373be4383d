/* The convolution engine: forward, gradient of the image and gradient of the weight, for every
 * module that convolves with shared weights. See geometry/convolution.h for the geometry.
 *
 * Pointers are dense: images and maps are batch x planes x depth x height x width, or have the planes
 * last if the geometry says so, weight is outputPlanes x inputPlanes x kernel. Samples may lie apart, as the geometry says. `scratch` is
 * plan->scratchBytes long, aligned to 64 bytes; its contents are neither read nor kept. No function
 * can fail. */
#ifndef THNN_CONVOLUTION_ENGINE_H
#define THNN_CONVOLUTION_ENGINE_H

#include "generic/template.h"

#include "generic/convolution/engine/costs.h"
#include "generic/shared/finish.h"
#include "geometry/convolution.h"

/* How one algorithm computes one part of one convolution. Results never depend on the number of
 * threads, nor does the choice of the algorithm; how work is dealt out to threads can. */
typedef struct AlgorithmPlan {
  THNNConvolution geometry; /* for the gradient of the image the transposed one */
  THNNConvolutionPart part;
  const THNNState *state;
  const struct Algorithm *algorithm;
  bool keeps;    /* what is made from the weights may be kept from call to call */
  bool finishes; /* the run finishes its results; otherwise the engine does that */
  bool adds;     /* the run can add its results to what the map holds */
  bool asked;    /* the state names the algorithm, which then need not be the fastest */
  double cost;   /* expected time, in cycles of one core */
  int threads;
  size_t sharedBytes;        /* scratch that all threads share */
  size_t threadBytes;        /* scratch of each thread */
  size_t keptBytes;          /* bytes that the algorithm keeps of the weights; 0: it keeps
                              * nothing */
  int things;                /* how many the algorithm counts, */
  double counts[MOST_COSTS]; /* and how often it does each (costs.h) */
  int64_t own[24];           /* what the algorithm's file alone knows */
} AlgorithmPlan;

/* How one part of one convolution is computed. */
typedef struct THNNConvolutionPlan {
  AlgorithmPlan chosen;
  AlgorithmPlan otherwise; /* computes everything again if `chosen` gives up; the same if it never
                            * does */
  size_t scratchBytes;     /* scratch in all, which the caller provides */
  const void *kept;        /* what `chosen` keeps of the weights; NULL if it keeps nothing */
} THNNConvolutionPlan;

/* Chooses algorithm, block sizes and threads. Allocates no memory and cannot fail. */
void THNN_(engine_prepare)(THNNConvolutionPlan *plan, const THNNState *state,
                           const THNNConvolution *geometry, THNNConvolutionPart part);

/* Does the same for weights that stay as they are from call to call. Before a pass, engine_keep has
 * to fill an area of plan->chosen.keptBytes bytes, aligned to 64 bytes, with what is kept of the
 * weights, and plan->kept has to point to that area. */
void THNN_(engine_prepareKept)(THNNConvolutionPlan *plan, const THNNState *state,
                               const THNNConvolution *geometry, THNNConvolutionPart part);
void THNN_(engine_keep)(const THNNConvolutionPlan *plan, const real *weight, void *kept,
                        void *scratch);

/* Whether there is an algorithm. Only if image or map have their planes last there may be none, and
 * then the plan is good for nothing else. */
bool THNN_(engine_applies)(const THNNConvolutionPlan *plan);

/* The algorithm that runs first, by its public name, and its expected time in cycles of one
 * core. */
THNNConvolutionAlgorithm THNN_(engine_algorithm)(const THNNConvolutionPlan *plan);
double THNN_(engine_cost)(const THNNConvolutionPlan *plan);
const char *THNN_(engine_row)(const THNNConvolutionPlan *plan); /* its row's name */

/* The name of row number `row` of the table of algorithms; NULL beyond its end. */
const char *THNN_(engine_rowName)(int row);

/* Plans what one row of the table would do, whatever the state names; with `keeps`, as prepareKept
 * does. Returns whether its algorithm applies; if not, the plan is that of another one. */
bool THNN_(engine_prepareRow)(THNNConvolutionPlan *plan, const THNNState *state,
                              const THNNConvolution *geometry, THNNConvolutionPart part, int row,
                              bool keeps);

/* map = bias + convolution(image); bias (one value per map plane) may be NULL. With a plan for the
 * gradient of the image, `image` is the map gradient, and the gradients that flow back through the
 * taps make `map`, the image gradient; with a bias it is the forward pass of a transposed
 * convolution. */
void THNN_(engine_run)(const THNNConvolutionPlan *plan, const real *image, const real *weight,
                       const real *bias, real *map, void *scratch);

/* Whether a run can add its results to what the map holds. */
bool THNN_(engine_adds)(const THNNConvolutionPlan *plan);

/* Does the same as engine_run, and then finishes the map's elements as `finish` says. */
void THNN_(engine_runAndFinish)(const THNNConvolutionPlan *plan, const real *image,
                                const real *weight, const real *bias, Finish finish, real *map,
                                void *scratch);

/* gradWeight += scale * the correlation of image with gradMap; gradBias += scale * the sum of each
 * of gradMap's planes over batch and positions, unless it is NULL. */
void THNN_(engine_backwardWeight)(const THNNConvolutionPlan *plan, const real *image,
                                  const real *gradMap, accreal scale, real *gradWeight,
                                  real *gradBias, void *scratch);

/* Adds the bias gradient of a transposed convolution, whose gradOutput is the geometry's image. */
void THNN_(engine_backwardTransposedBias)(const THNNConvolutionPlan *plan, const real *gradImage,
                                          accreal scale, real *gradBias);

/* A rectangle of the column matrix of one sample: rows are (channel, tap), channel slowest;
 * columns are map positions in row-major order. */
typedef struct Columns {
  int64_t firstRow, rows;
  int64_t firstPosition, positions;
  real *data;
  int64_t stride; /* elements from one row to the next */
} Columns;

/* Fills a rectangle of columns from an image of inputPlanes x input. */
void THNN_(unfold_toColumns)(const THNNConvolution *geometry, const real *image,
                             const Columns *columns);

/* Adds a rectangle of columns to the image elements that unfold would read. */
void THNN_(unfold_toImage)(const THNNConvolution *geometry, const Columns *columns, real *image);

/* The same for columns whose rows follow each other, `stride` elements from one position to the next,
 * and without dilation along the width: whole lines of taps are added. */
void THNN_(unfold_linesToImage)(const THNNConvolution *geometry, const Columns *columns,
                                real *image);

#endif
