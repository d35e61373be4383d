/* Functions of this library that the original THNN does not have. */
#ifndef THNN_EXTRA_H
#define THNN_EXTRA_H

#include "THNN.h"
#include "THNNSimd.h"

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
