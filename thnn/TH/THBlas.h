/* BLAS for float and double: THFloatBlas_gemm, THDoubleBlas_gemm, …
 *
 * Matrices are column-major with leading dimensions, vectors have increments. Sizes must fit into
 * an int: the library beneath has 32-bit integers. With beta 0 the result's old content is not
 * read. */

#ifndef TH_BLAS_H
#define TH_BLAS_H

#include "THGeneral.h"

#define THBlas_(NAME) TH_CONCAT_4(TH, Real, Blas_, NAME)

#include "types/Float.h"
#include "generic/THBlas.h"
#include "types/End.h"

#include "types/Double.h"
#include "generic/THBlas.h"
#include "types/End.h"

/* Between Begin and End the BLAS library uses one thread: the kernels call it from several
 * threads of their own. Sections may overlap and nest; the last End restores the library's
 * setting. Nothing happens with a library whose setting is unknown.
 * These four are extensions: Torch7 has nothing like them. */
TH_API void THBlasSingleThreadBegin(void);
TH_API void THBlasSingleThreadEnd(void);

/* The library's name ("OpenBLAS", …; "BLAS" when unknown) and the processor type that its kernels
 * were chosen for ("" when unknown). */
TH_API const char *THBlasName(void);
TH_API const char *THBlasCoreName(void);

#endif
