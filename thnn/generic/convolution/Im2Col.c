/* Unfolding images and volumes into matrices of columns, and folding them back; see THNNExtra.h. */
#include "generic/template.h"

#include "simd/simd.h"
#include "generic/convolution/engine/engine.h"
#include "geometry/unfolding.h"

/* The whole column matrix of one image. */
static Columns allColumns(const THNNConvolution *geometry, const real *data)
{
  const int64_t positions = THNN_convolutionMapPositions(geometry);
  return (Columns){.rows = geometry->inputPlanes * THNN_convolutionTaps(geometry),
                   .positions = positions,
                   .data = (real *)data,
                   .stride = positions};
}

void THNN_(im2col)(const real *image, int64_t channels, int64_t height, int64_t width,
                   int64_t outputHeight, int64_t outputWidth, int64_t kH, int64_t kW, int64_t padH,
                   int64_t padW, int64_t dH, int64_t dW, int64_t dilationH, int64_t dilationW,
                   real *columns)
{
  THNN_(vol2col)(image, channels, 1, height, width, 1, outputHeight, outputWidth, 1, kH, kW, 0,
                 padH, padW, 1, dH, dW, 1, dilationH, dilationW, columns);
}

void THNN_(col2im)(const real *columns, int64_t channels, int64_t height, int64_t width,
                   int64_t outputHeight, int64_t outputWidth, int64_t kH, int64_t kW, int64_t padH,
                   int64_t padW, int64_t dH, int64_t dW, int64_t dilationH, int64_t dilationW,
                   real *image)
{
  THNN_(col2vol)(columns, channels, 1, height, width, 1, outputHeight, outputWidth, 1, kH, kW, 0,
                 padH, padW, 1, dH, dW, 1, dilationH, dilationW, image);
}

void THNN_(vol2col)(const real *volume, int64_t channels, int64_t depth, int64_t height,
                    int64_t width, int64_t outputDepth, int64_t outputHeight, int64_t outputWidth,
                    int64_t kT, int64_t kH, int64_t kW, int64_t padT, int64_t padH, int64_t padW,
                    int64_t dT, int64_t dH, int64_t dW, int64_t dilationT, int64_t dilationH,
                    int64_t dilationW, real *columns)
{
  const THNNConvolution geometry =
      THNN_unfolding(channels, depth, height, width, outputDepth, outputHeight, outputWidth, kT, kH,
                     kW, padT, padH, padW, dT, dH, dW, dilationT, dilationH, dilationW);
  const Columns all = allColumns(&geometry, columns);
  THNN_(unfold_toColumns)(&geometry, volume, &all);
}

void THNN_(col2vol)(const real *columns, int64_t channels, int64_t depth, int64_t height,
                    int64_t width, int64_t outputDepth, int64_t outputHeight, int64_t outputWidth,
                    int64_t kT, int64_t kH, int64_t kW, int64_t padT, int64_t padH, int64_t padW,
                    int64_t dT, int64_t dH, int64_t dW, int64_t dilationT, int64_t dilationH,
                    int64_t dilationW, real *volume)
{
  const THNNConvolution geometry =
      THNN_unfolding(channels, depth, height, width, outputDepth, outputHeight, outputWidth, kT, kH,
                     kW, padT, padH, padW, dT, dH, dW, dilationT, dilationH, dilationW);
  const Columns all = allColumns(&geometry, columns);
  const int64_t elements = channels * THNN_convolutionImagePositions(&geometry);
  THNN_(simd).pointwise.fill(elements, 0, volume);
  THNN_(unfold_toImage)(&geometry, &all, volume);
}
