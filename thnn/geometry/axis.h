/* One dimension of a convolution between single planes, as a pass from a source to results: from
 * the image to the map, or from the map to the image in one pass per residue class of the
 * stride. */
#ifndef THNN_GEOMETRY_AXIS_H
#define THNN_GEOMETRY_AXIS_H

#include "geometry/convolution.h"
#include "geometry/inside.h"
#include "work/sizes.h"

enum { HEIGHT, WIDTH };

/* Result i is position first + i*step. Its j-th tap is tap firstTap + j*tapStep of the kernel, and
 * sees source index start + i*stride + j*apart. */
typedef struct Axis {
  int64_t results, first, step;
  int64_t source, start, stride;
  int64_t taps, firstTap, tapStep, apart;
} Axis;

/* How many source indices a result spans, from the one that its first tap sees to that of its last
 * tap, both included. It must have a tap. */
static inline int64_t spanOf(const Axis *axis)
{
  return THNN_extent(axis->taps, axis->apart);
}

/* From the image to the map. */
static inline Axis forwardAxis(const THNNConvolution *g, int axis)
{
  const int d = axis + 1;
  return (Axis){g->output[d], 0, 1, g->input[d],   -g->pad[d], g->stride[d],
                g->kernel[d], 0, 1, g->dilation[d]};
}

/* From the map to the image positions of one residue class of the stride: position q*stride +
 * residue sees map index q + shift - j*dilation through tap least + j*stride. The stride or the
 * dilation is 1. */
static inline Axis backwardAxis(const THNNConvolution *g, int axis, int64_t residue)
{
  const int d = axis + 1;
  const int64_t stride = g->stride[d];
  const int64_t least = ((residue + g->pad[d]) % stride + stride) % stride;
  const int64_t shift = (residue + g->pad[d] - least) / stride;
  const int64_t taps = least < g->kernel[d] ? (g->kernel[d] - 1 - least) / stride + 1 : 0;
  const int64_t last = least + (taps - 1) * stride;
  return (Axis){divideUp(g->input[d] - residue, stride),
                residue,
                stride,
                g->output[d],
                shift - (taps - 1) * g->dilation[d],
                1,
                taps,
                last,
                -stride,
                g->dilation[d]};
}

/* The i in [0, n) for which index from + i*stride is inside the source. */
static inline THNNRange insideOf(const Axis *axis, int64_t from, int64_t n)
{
  return THNN_indicesInside(from, axis->stride, n, axis->source);
}

#endif
