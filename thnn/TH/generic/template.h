/* The header of every source in this folder: the public headers, then the template macros of the
 * type that -DTH_REAL_FLOAT, …_DOUBLE, …_LONG or …_INT selects. */

#include "../TH.h"
#include "../THInternal.h"

#if defined(TH_REAL_FLOAT)
#  include "../types/Float.h"
#elif defined(TH_REAL_DOUBLE)
#  include "../types/Double.h"
#elif defined(TH_REAL_LONG)
#  include "../types/Long.h"
#elif defined(TH_REAL_INT)
#  include "../types/Int.h"
#else
#  error "compile with -DTH_REAL_FLOAT, -DTH_REAL_DOUBLE, -DTH_REAL_LONG or -DTH_REAL_INT"
#endif
