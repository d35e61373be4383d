/* The loops of element-by-element modules. */
#ifndef THNN_SIMD_ACTIVATION_H
#define THNN_SIMD_ACTIVATION_H

#include "simd/loops/channelwise.h"
#include "simd/loops/pointwise.h"

/* The comments name `parameters` last, in order. Backward loops take the forward call's input (x)
 * or result (y) as their first pointer, gradOutput as their second. */
typedef struct SimdActivation {
  /* |x| */
  Map abs;
  /* x >= 0 ? gradOutput : -gradOutput */
  Map2 absBackward;
  /* x <= 0 ? alpha * (e^x - 1) : x; alpha */
  Map elu;
  /* y <= 0 ? gradOutput * (y + alpha) : gradOutput; alpha */
  Map2 eluBackward;
  /* x where it is beyond lambda on either side, otherwise 0; lambda */
  Map hardShrink;
  /* hardShrink's result, moved by lambda towards 0; lambda */
  Map softShrink;
  /* for both shrinks: gradOutput where x is beyond lambda on either side, otherwise 0; lambda */
  Map2 shrinkBackward;
  /* x, but at least min and at most max; min, max */
  Map hardTanh;
  /* min < x < max ? gradOutput : 0; min, max */
  Map2 hardTanhBackward;
  /* x > 0 ? x : slope * x; slope */
  Map leakyRelu;
  /* x > 0 ? gradOutput : slope * gradOutput; slope */
  Map2 leakyReluBackward;
  /* leakyRelu with a slope per channel; prelu does not read y */
  ChannelMap prelu, preluBackward;
  /* gradOutput * sigmoid(-x) */
  Map2 logSigmoidBackward;
  /* x * y */
  Map2 product;
  /* gradOutput * (1 - y) * y */
  Map2 sigmoidBackward;
  /* beta * x > threshold ? x : log(1 + e^(beta * x)) / beta; beta, threshold */
  Map softPlus;
  /* beta * y > threshold ? gradOutput : gradOutput * (1 - e^(-beta * y)); beta, threshold */
  Map2 softPlusBackward;
  /* square root of x */
  Map sqrt;
  /* y == 0 ? 0 : gradOutput / (2 * y) */
  Map2 sqrtBackward;
  /* x^2 */
  Map square;
  /* 2 * x * gradOutput */
  Map2 squareBackward;
  /* gradOutput * (1 - y^2) */
  Map2 tanhBackward;
  /* for a p-norm y: y == 0 ? 0 : gradOutput * (x / y)^exponent; exponent */
  void (*normBackward)(int64_t n, const real *x, const real *y, const real *gradOutput,
                       const real *parameters, real *z);
} SimdActivation;

#endif
