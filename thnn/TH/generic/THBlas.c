/* BLAS: checks arguments, treats the cases that libraries disagree on, then calls the library. */

#include "template.h"
#include "../THBlasLibrary.h"

#include <limits.h>

/* The library's functions for this type. */
#ifdef TH_REAL_IS_FLOAT
#  define library_swap CBLAS_(sswap)
#  define library_scal CBLAS_(sscal)
#  define library_copy CBLAS_(scopy)
#  define library_axpy CBLAS_(saxpy)
#  define library_dot CBLAS_(sdot)
#  define library_gemv CBLAS_(sgemv)
#  define library_ger CBLAS_(sger)
#  define library_gemm CBLAS_(sgemm)
#else
#  define library_swap CBLAS_(dswap)
#  define library_scal CBLAS_(dscal)
#  define library_copy CBLAS_(dcopy)
#  define library_axpy CBLAS_(daxpy)
#  define library_dot CBLAS_(ddot)
#  define library_gemv CBLAS_(dgemv)
#  define library_ger CBLAS_(dger)
#  define library_gemm CBLAS_(dgemm)
#endif

/* A size, leading dimension or increment, argument `position`, as the library's integer. */
static int libraryInt(int64_t value, int position)
{
  THArgCheck(value >= INT_MIN && value <= INT_MAX, position,
             "%lld does not fit into the 32-bit integers of the BLAS library", (long long)value);
  return (int)value;
}

static int checkedSize(int64_t size, int position)
{
  THArgCheck(size >= 0, position, "a size cannot be negative (%lld)", (long long)size);
  return libraryInt(size, position);
}

/* The increment of a vector of n elements; 1 where it does not matter, with at most one element. */
static int checkedIncrement(int64_t increment, int n, int position)
{
  if (n <= 1)
    return 1;
  THArgCheck(increment != 0, position, "an increment cannot be 0");
  return libraryInt(increment, position);
}

/* The leading dimension of a matrix; with at most one column any value will do. */
static int checkedLeading(int64_t leading, int rows, int columns, int position)
{
  if (columns <= 1)
    return rows > 1 ? rows : 1;
  THArgCheck(leading >= rows, position,
             "the leading dimension (%lld) is less than the number of rows (%d)",
             (long long)leading, rows);
  return libraryInt(leading, position);
}

static bool checkedTranspose(char trans, int position)
{
  bool transposed = trans == 't' || trans == 'T';
  THArgCheck(transposed || trans == 'n' || trans == 'N', position, "'n' or 't', not '%c'", trans);
  return transposed;
}

static int libraryTranspose(bool transposed)
{
  return transposed ? CBLAS_TRANS : CBLAS_NO_TRANS;
}

/* x = beta * x, and 0 for beta 0 even where x is NaN; libraries differ in that. */
static void scaleVector(int n, real beta, real *x, int64_t increment)
{
  if (beta == 1)
    return;
  for (int64_t i = 0; i < n; i++) {
    real *element = x + i * (increment < 0 ? -increment : increment);
    *element = beta == 0 ? 0 : beta * *element;
  }
}

void THBlas_(swap)(int64_t n, real *x, int64_t incx, real *y, int64_t incy)
{
  int count = checkedSize(n, 1);
  library_swap(count, x, checkedIncrement(incx, count, 3), y, checkedIncrement(incy, count, 5));
}

void THBlas_(scal)(int64_t n, real a, real *x, int64_t incx)
{
  int count = checkedSize(n, 1);
  library_scal(count, a, x, checkedIncrement(incx, count, 4));
}

void THBlas_(copy)(int64_t n, real *x, int64_t incx, real *y, int64_t incy)
{
  int count = checkedSize(n, 1);
  library_copy(count, x, checkedIncrement(incx, count, 3), y, checkedIncrement(incy, count, 5));
}

void THBlas_(axpy)(int64_t n, real a, real *x, int64_t incx, real *y, int64_t incy)
{
  int count = checkedSize(n, 1);
  library_axpy(count, a, x, checkedIncrement(incx, count, 4), y, checkedIncrement(incy, count, 6));
}

real THBlas_(dot)(int64_t n, real *x, int64_t incx, real *y, int64_t incy)
{
  int count = checkedSize(n, 1);
  return library_dot(count, x, checkedIncrement(incx, count, 3), y,
                     checkedIncrement(incy, count, 5));
}

void THBlas_(gemv)(char trans, int64_t m, int64_t n, real alpha, real *a, int64_t lda, real *x,
                   int64_t incx, real beta, real *y, int64_t incy)
{
  bool transposed = checkedTranspose(trans, 1);
  int rows = checkedSize(m, 2);
  int columns = checkedSize(n, 3);
  int xLength = transposed ? rows : columns;
  int yLength = transposed ? columns : rows;
  int leading = checkedLeading(lda, rows, columns, 6);
  int xIncrement = checkedIncrement(incx, xLength, 8);
  int yIncrement = checkedIncrement(incy, yLength, 11);
  if (xLength == 0 || beta == 0) {
    scaleVector(yLength, beta, y, yIncrement);
    beta = 1;
  }
  if (xLength > 0 && yLength > 0)
    library_gemv(CBLAS_COLUMN_MAJOR, libraryTranspose(transposed), rows, columns, alpha, a, leading,
                 x, xIncrement, beta, y, yIncrement);
}

void THBlas_(ger)(int64_t m, int64_t n, real alpha, real *x, int64_t incx, real *y, int64_t incy,
                  real *a, int64_t lda)
{
  int rows = checkedSize(m, 1);
  int columns = checkedSize(n, 2);
  int xIncrement = checkedIncrement(incx, rows, 5);
  int yIncrement = checkedIncrement(incy, columns, 7);
  int leading = checkedLeading(lda, rows, columns, 9);
  if (rows > 0 && columns > 0)
    library_ger(CBLAS_COLUMN_MAJOR, rows, columns, alpha, x, xIncrement, y, yIncrement, a, leading);
}

void THBlas_(gemm)(char transa, char transb, int64_t m, int64_t n, int64_t k, real alpha, real *a,
                   int64_t lda, real *b, int64_t ldb, real beta, real *c, int64_t ldc)
{
  bool aTransposed = checkedTranspose(transa, 1);
  bool bTransposed = checkedTranspose(transb, 2);
  int rows = checkedSize(m, 3);
  int columns = checkedSize(n, 4);
  int inner = checkedSize(k, 5);
  int aLeading = checkedLeading(lda, aTransposed ? inner : rows, aTransposed ? rows : inner, 8);
  int bLeading =
      checkedLeading(ldb, bTransposed ? columns : inner, bTransposed ? inner : columns, 10);
  int cLeading = checkedLeading(ldc, rows, columns, 13);
  if (inner == 0)
    for (int64_t j = 0; j < columns; j++)
      scaleVector(rows, beta, c + j * cLeading, 1);
  else if (rows > 0 && columns > 0)
    library_gemm(CBLAS_COLUMN_MAJOR, libraryTranspose(aTransposed), libraryTranspose(bTransposed),
                 rows, columns, inner, alpha, a, aLeading, b, bLeading, beta, c, cLeading);
}
