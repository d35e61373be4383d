/* Simple loops over arrays: THFloatVector_fill, … */

#ifndef TH_VECTOR_H
#define TH_VECTOR_H

#include "THGeneral.h"

#define THVector_(NAME) TH_CONCAT_4(TH, Real, Vector_, NAME)

#include "types/Float.h"
#include "generic/THVector.h"
#include "types/End.h"

#include "types/Double.h"
#include "generic/THVector.h"
#include "types/End.h"

#include "types/Long.h"
#include "generic/THVector.h"
#include "types/End.h"

#include "types/Int.h"
#include "generic/THVector.h"
#include "types/End.h"

#endif
