/* What the ways of computing depth-wise layers share. */
#ifndef THNN_GENERIC_DEPTHWISE_H
#define THNN_GENERIC_DEPTHWISE_H

#include "generic/convolution/checks.h"

enum {
  ENOUGH_TASKS = 16,     /* for threads to share the work evenly */
  PRODUCTS_PER_SUM = 256 /* terms in a partial sum of reals, which then joins one of doubles */
};

static inline bool THNN_toImage(THNNConvolutionPart part)
{
  return part == THNN_CONVOLUTION_BACKWARD_DATA;
}

/* The plane of the image or of the map that a connection of a depth-wise layer joins. */
static inline int64_t THNN_joinedPlane(const THNNPlaneJoins *joins, int64_t connection, bool image)
{
  const int64_t plane = connection % joins->imagePlanes;
  return image ? plane : plane * joins->multiplier + connection / joins->imagePlanes;
}

/* The cost of all connections together, if each number is computed by itself. */
static inline double THNN_operationsOf(const THNNPlaneJoins *joins)
{
  const THNNConvolution *g = &joins->geometry;
  return (double)g->batch * (double)joins->connections *
         ((double)g->kernel[1] * (double)g->kernel[2] + 8) * (double)g->output[1] *
         (double)g->output[2];
}

#endif
