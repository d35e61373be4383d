/* The geometry of unfolding one volume into columns, from the arguments of vol2col. */
#ifndef THNN_GEOMETRY_UNFOLDING_H
#define THNN_GEOMETRY_UNFOLDING_H

#include "geometry/convolution.h"

static inline THNNConvolution
THNN_unfolding(int64_t channels, int64_t depth, int64_t height, int64_t width, int64_t outputDepth,
               int64_t outputHeight, int64_t outputWidth, int64_t kT, int64_t kH, int64_t kW,
               int64_t padT, int64_t padH, int64_t padW, int64_t dT, int64_t dH, int64_t dW,
               int64_t dilationT, int64_t dilationH, int64_t dilationW)
{
  const THNNConvolution geometry = {1,
                                    channels,
                                    1,
                                    {depth, height, width},
                                    {outputDepth, outputHeight, outputWidth},
                                    {kT, kH, kW},
                                    {dT, dH, dW},
                                    {dilationT, dilationH, dilationW},
                                    {padT, padH, padW},
                                    false,
                                    0,
                                    0,
                                    false,
                                    false};
  return geometry;
}

#endif
