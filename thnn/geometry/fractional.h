/* Fractional pooling: regions of a fixed size whose places follow from one random number per plane
 * and dimension. */
#ifndef THNN_FRACTIONAL_H
#define THNN_FRACTIONAL_H

#include "call/check.h"

/* The arguments of a fractional pooling module. The arrays hold nDimension values in the order of
 * the input's dimensions. */
typedef struct THNNFractionalArguments {
  const char *function;
  int nDimension; /* 2 or 3 */
  const char *layout;
  THNNShape input, gradOutput, indices, randomSamples;
  THNNScalar output[3], pool[3]; /* pool is set forward only */
} THNNFractionalArguments;

typedef struct THNNFractional {
  int64_t planes; /* planes of the whole batch */
  int nDimension;
  int64_t input[3], output[3], pool[3]; /* element 0 is 1 where there are two dimensions */
} THNNFractional;

THNNFractional THNN_fractionalCheck(const THNNFractionalArguments *arguments);

/* Writes the output's sizes: the input's, except the last nDimension. Returns how many there
 * are. */
int THNN_fractionalOutputSize(const THNNFractional *pooling, THNNShape input, int64_t *size);

#endif
