/* BLAS for float and double: THFloatBlas_gemm, THDoubleBlas_gemm, …
 *
 * Matrices are column-major with leading dimensions, vectors have increments. Sizes must fit into
 * an int, since the BLAS library has 32-bit integers. With beta 0 the result's old content is not
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

#endif
