/* All functions for CUDA: also those that Lua Torch's cunn does not have, whose modules exist only on
 * the CPU in the original. THCUNN.h declares them with the others. */
#ifndef THCUNN_EXTRA_H
#define THCUNN_EXTRA_H

#include "THCUNN.h"

#endif
