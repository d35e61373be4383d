/* Functions of this library that the original THNN does not have. */
#ifndef THNN_EXTRA_H
#define THNN_EXTRA_H

#include "THNN.h"
#include "THNNSimd.h"

/* What functions whose names end in Joined do to each element of their result: what the module of
 * this name does. Its parameters are named in their order. */
typedef enum THNNActivation {
  THNN_ACTIVATION_NONE,
  THNN_ACTIVATION_THRESHOLD,  /* threshold, value */
  THNN_ACTIVATION_LEAKY_RELU, /* slope below 0 */
  THNN_ACTIVATION_HARD_TANH,  /* least, greatest */
  THNN_ACTIVATION_ELU,        /* alpha */
  THNN_ACTIVATION_TANH,
  THNN_ACTIVATION_SIGMOID
} THNNActivation;

#define accreal double

#define real float
#define Real Float
#include "generic/THNNExtra.h"
#include "generic/THNNExtraModules.h"
#undef real
#undef Real

#define real double
#define Real Double
#include "generic/THNNExtra.h"
#include "generic/THNNExtraModules.h"
#undef real
#undef Real

#undef accreal

#endif
