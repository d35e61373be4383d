/* Tensors: THFloatTensor, THDoubleTensor, THLongTensor, THIntTensor.
 * A tensor is a view of a storage: sizes, strides and an offset, all in elements. */

#ifndef TH_TENSOR_H
#define TH_TENSOR_H

#include "THGeneral.h"
#include "THRandom.h"
#include "THStorage.h"

#define THTensor TH_CONCAT_3(TH, Real, Tensor)
#define THTensor_(NAME) TH_CONCAT_4(TH, Real, Tensor_, NAME)

/* Bit of a tensor's flag: retain and free count references. */
#define TH_TENSOR_REFCOUNTED 1

#include "types/Float.h"
#include "generic/THTensor.h"
#include "types/End.h"

#include "types/Double.h"
#include "generic/THTensor.h"
#include "types/End.h"

#include "types/Long.h"
#include "generic/THTensor.h"
#include "types/End.h"

#include "types/Int.h"
#include "generic/THTensor.h"
#include "types/End.h"

/* These headers follow the structs of all types, since copies refer to them. */

#include "types/Float.h"
#include "generic/THTensorCopy.h"
#include "generic/THTensorMath.h"
#include "generic/THTensorRandom.h"
#include "types/End.h"

#include "types/Double.h"
#include "generic/THTensorCopy.h"
#include "generic/THTensorMath.h"
#include "generic/THTensorRandom.h"
#include "types/End.h"

#include "types/Long.h"
#include "generic/THTensorCopy.h"
#include "generic/THTensorMath.h"
#include "generic/THTensorRandom.h"
#include "types/End.h"

#include "types/Int.h"
#include "generic/THTensorCopy.h"
#include "generic/THTensorMath.h"
#include "generic/THTensorRandom.h"
#include "types/End.h"

#endif
