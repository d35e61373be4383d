/* The sizes of a tensor that is seen as planes. */
#ifndef THNN_GEOMETRY_PLANES_H
#define THNN_GEOMETRY_PLANES_H

#include <stdint.h>

/* A tensor as planes: batch x planes x positions. */
typedef struct THNNPlanes {
  int64_t batch, planes, positions;
} THNNPlanes;

#endif
