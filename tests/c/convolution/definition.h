/* What a convolution is: the sum of all products of its definition; and random convolutions. */
#ifndef DEFINITION_H
#define DEFINITION_H

#include <float.h>

#include "generic/template.h"

#include "generic/shared/finish.h"
#include "geometry/convolution.h"

/* The distance from 1 to the next real number. */
#if defined(THNN_REAL_FLOAT)
#  define EPSILON FLT_EPSILON
#else
#  define EPSILON DBL_EPSILON
#endif

/* What one part reads and writes. */
typedef struct Computation {
  THNNConvolutionPart part;
  const real *image, *map, *weight;
  const real *bias; /* may be NULL */
  int64_t planes;   /* elements of the bias */
  int64_t results;  /* elements of the result; a weight gradient may be followed by the bias's */
  bool keeps;       /* whether the plan keeps what it makes of the weight */
  Finish finish;
} Computation;

/* Random numbers begin anew: those of a seed are the same on every machine. */
void startRandom(int seed);

/* A number from low to high, both included. */
int64_t randomBetween(int64_t low, int64_t high);

/* newArray returns an array of NaN, newRandom one of numbers from -1 to 1. */
real *newArray(int64_t elements);
real *newRandom(int64_t elements);

int64_t product(const int64_t *size);
int64_t imageSize(const THNNConvolution *g);
int64_t mapSize(const THNNConvolution *g);
int64_t weightSize(const THNNConvolution *g);

/* The index of the image element that a tap sees from a map position; -1 outside the image. Taps
 * and positions are counted over all dimensions. */
int64_t seenIndex(const THNNConvolution *g, int64_t position, int64_t tap);

/* Adds every product of the definition to the result of the part, and its size to `size`. */
void addProducts(const THNNConvolution *g, THNNConvolutionPart part, const real *image,
                 const real *map, const real *weight, double *result, double *size);

/* A convolution of one to three dimensions. */
THNNConvolution randomGeometry(void);

/* A layer of square kernels whose maps are as large as its images; with 3x3 taps. */
THNNConvolution evenLayer(int64_t kernel, int64_t batch, int64_t imagePlanes, int64_t mapPlanes,
                          int64_t height, int64_t width);
THNNConvolution layerOf(int64_t batch, int64_t imagePlanes, int64_t mapPlanes, int64_t height,
                        int64_t width);

/* Whether a sum of a few products is what it should be: nearly so, or infinite or NaN alike. */
bool isSum(real found, double wanted);

/* The number of products of a convolution, those with padding included. */
double operations(const THNNConvolution *g);

void printGeometry(const THNNConvolution *g, const char *problem);

#endif
