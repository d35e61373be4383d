/* Storages: THFloatStorage, THDoubleStorage, THLongStorage, THIntStorage.
 * A storage is a one-dimensional block of elements that tensors share. */

#ifndef TH_STORAGE_H
#define TH_STORAGE_H

#include "THAllocator.h"
#include "THGeneral.h"

#define THStorage TH_CONCAT_3(TH, Real, Storage)
#define THStorage_(NAME) TH_CONCAT_4(TH, Real, Storage_, NAME)

/* Bits of a storage's flag. */
#define TH_STORAGE_REFCOUNTED 1 /* retain and free count references */
#define TH_STORAGE_RESIZABLE 2  /* resize may be called */
#define TH_STORAGE_FREEMEM 4    /* the data is freed with the storage */
#define TH_STORAGE_VIEW 8       /* the data belongs to the storage in `view` */

#include "types/Float.h"
#include "generic/THStorage.h"
#include "types/End.h"

#include "types/Double.h"
#include "generic/THStorage.h"
#include "types/End.h"

#include "types/Long.h"
#include "generic/THStorage.h"
#include "types/End.h"

#include "types/Int.h"
#include "generic/THStorage.h"
#include "types/End.h"

#endif
