/* THNN: forward and backward kernels of neural-network layers, in float and double.
 *
 * Each function exists as THNN_Float<name> and THNN_Double<name>; generic/THNN.h lists them, with
 * the role and shape of every argument:
 *   in          read only
 *   out         overwritten; resized unless its comment says that it must have its size already
 *   inout       read and modified
 *   accumulate  the scaled gradient is added to the present contents; must have its size already
 *   scratch     never read, never checked; NULL will do
 * "optional" means that NULL is a legal value. Tensors may have any strides. Class targets, lookup
 * and pooling indices count from 1. A call that is rejected goes through TH's error handlers and
 * leaves every tensor as it was. */
#ifndef THNN_H
#define THNN_H

#include <stdbool.h>
#include <TH/TH.h>
#include "THNNState.h"

#define THIndexTensor THLongTensor
#define THIndex_t int64_t
#define THIntegerTensor THIntTensor
#define THInteger_t int

#ifndef TH_INDEX_BASE
#  define TH_INDEX_BASE 1
#endif

#define THNN_(NAME) TH_CONCAT_3(THNN_, Real, NAME)
#ifndef THTensor
#  define THTensor TH_CONCAT_3(TH, Real, Tensor)
#endif

#define accreal double

#define real float
#define Real Float
#include "generic/THNN.h"
#undef real
#undef Real

#define real double
#define Real Double
#include "generic/THNN.h"
#undef real
#undef Real

#undef accreal

#endif
