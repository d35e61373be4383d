/* Forks and BLAS's own threads, which the kernels' threads must respect.
 * An extension: Torch7 has nothing like it. */

#ifndef TH_THREADS_H
#define TH_THREADS_H

#include "THGeneral.h"

/* True in a process that was forked after its parent first asked for, or set, a number of threads,
 * here or in THGeneral.h. OpenMP's threads do not survive a fork and a parallel region may hang, so
 * THGetNumThreads is 1 there. */
TH_API bool THInForkedChild(void);

/* Between Begin and End the BLAS library uses one thread: the kernels call it from several
 * threads of their own. Sections may overlap and nest; the last End restores the library's
 * setting. Nothing happens with a library whose setting is unknown. */
TH_API void THBlasSingleThreadBegin(void);
TH_API void THBlasSingleThreadEnd(void);

/* The BLAS library's name ("OpenBLAS", …; "BLAS" when unknown) and the processor type that its
 * kernels were chosen for ("" when unknown). */
TH_API const char *THBlasName(void);
TH_API const char *THBlasCoreName(void);

#endif
