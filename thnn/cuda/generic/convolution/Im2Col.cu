/* Unfolding images and volumes into matrices of columns, and folding them back; see
 * ../../THCUNNExtra.h. */
#include "cuda/THCUNNExtra.h"
#include "cuda/generic/convolution/engine/unfold.cuh"
#include "geometry/unfolding.h"

namespace
{

/* The plan of a call without tensors: its stream, and the errors of its launches. */
template <typename Launch> void run(THCState *state, const char *function, Launch launch)
{
  THCPlan plan;
  THC_planStart(&plan, function, state);
  THC_planAcquire(&plan);
  launch(&plan);
  THC_planRelease(&plan);
}

} // namespace

void THCUNN_(im2col)(THCState *state, const real *image, int64_t channels, int64_t height,
                     int64_t width, int64_t outputHeight, int64_t outputWidth, int64_t kH,
                     int64_t kW, int64_t padH, int64_t padW, int64_t dH, int64_t dW,
                     int64_t dilationH, int64_t dilationW, real *columns)
{
  THCUNN_(vol2col)(state, image, channels, 1, height, width, 1, outputHeight, outputWidth, 1, kH,
                   kW, 0, padH, padW, 1, dH, dW, 1, dilationH, dilationW, columns);
}

void THCUNN_(col2im)(THCState *state, const real *columns, int64_t channels, int64_t height,
                     int64_t width, int64_t outputHeight, int64_t outputWidth, int64_t kH,
                     int64_t kW, int64_t padH, int64_t padW, int64_t dH, int64_t dW,
                     int64_t dilationH, int64_t dilationW, real *image)
{
  THCUNN_(col2vol)(state, columns, channels, 1, height, width, 1, outputHeight, outputWidth, 1, kH,
                   kW, 0, padH, padW, 1, dH, dW, 1, dilationH, dilationW, image);
}

void THCUNN_(vol2col)(THCState *state, const real *volume, int64_t channels, int64_t depth,
                      int64_t height, int64_t width, int64_t outputDepth, int64_t outputHeight,
                      int64_t outputWidth, int64_t kT, int64_t kH, int64_t kW, int64_t padT,
                      int64_t padH, int64_t padW, int64_t dT, int64_t dH, int64_t dW,
                      int64_t dilationT, int64_t dilationH, int64_t dilationW, real *columns)
{
  const THNNConvolution geometry =
      THNN_unfolding(channels, depth, height, width, outputDepth, outputHeight, outputWidth, kT, kH,
                     kW, padT, padH, padW, dT, dH, dW, dilationT, dilationH, dilationW);
  const int64_t positions = volumeOf(geometry.output);
  run(state, "vol2col", [&](THCPlan *plan) {
    THCUNN_(unfold_toColumns)(plan, &geometry, Planes<const real>{volume, 1, channels, 0},
                              Columns<real>{columns, 0, positions});
  });
}

void THCUNN_(col2vol)(THCState *state, const real *columns, int64_t channels, int64_t depth,
                      int64_t height, int64_t width, int64_t outputDepth, int64_t outputHeight,
                      int64_t outputWidth, int64_t kT, int64_t kH, int64_t kW, int64_t padT,
                      int64_t padH, int64_t padW, int64_t dT, int64_t dH, int64_t dW,
                      int64_t dilationT, int64_t dilationH, int64_t dilationW, real *volume)
{
  const THNNConvolution geometry =
      THNN_unfolding(channels, depth, height, width, outputDepth, outputHeight, outputWidth, kT, kH,
                     kW, padT, padH, padW, dT, dH, dW, dilationT, dilationH, dilationW);
  const int64_t positions = volumeOf(geometry.output);
  run(state, "col2vol", [&](THCPlan *plan) {
    THCUNN_(unfold_toImage)(plan, &geometry, Columns<const real>{columns, 0, positions}, nullptr,
                            Planes<real>{volume, 1, channels, 0});
  });
}
