/* libTH: the tensors, storages, BLAS and errors that the kernels of libTHNN use. The names,
 * types and struct layouts are those of Torch7's TH, so that the same kernels compile against
 * either. */

#ifndef TH_H
#define TH_H

#include "THAllocator.h"
#include "THBlas.h"
#include "THGeneral.h"
#include "THRandom.h"
#include "THStorage.h"
#include "THTensor.h"
#include "THVector.h"

#endif
