/* The functions of the BLAS library, by their exported names (see FindCBLAS.cmake). They are
 * declared here because the headers of BLAS libraries differ. */

#ifndef TH_BLAS_LIBRARY_H
#define TH_BLAS_LIBRARY_H

#include "THGeneral.h"

#ifdef THNN_BLAS_SCIPY_OPENBLAS
#  define CBLAS_(NAME) scipy_cblas_##NAME
#else
#  define CBLAS_(NAME) cblas_##NAME
#endif

/* Values of CBLAS's enumerations, which all compilers pass as int. */
enum { CBLAS_COLUMN_MAJOR = 102, CBLAS_NO_TRANS = 111, CBLAS_TRANS = 112 };

void CBLAS_(sswap)(int n, float *x, int incx, float *y, int incy);
void CBLAS_(sscal)(int n, float a, float *x, int incx);
void CBLAS_(scopy)(int n, const float *x, int incx, float *y, int incy);
void CBLAS_(saxpy)(int n, float a, const float *x, int incx, float *y, int incy);
float CBLAS_(sdot)(int n, const float *x, int incx, const float *y, int incy);
void CBLAS_(sgemv)(int order, int trans, int m, int n, float alpha, const float *a, int lda,
                   const float *x, int incx, float beta, float *y, int incy);
void CBLAS_(sger)(int order, int m, int n, float alpha, const float *x, int incx, const float *y,
                  int incy, float *a, int lda);
void CBLAS_(sgemm)(int order, int transa, int transb, int m, int n, int k, float alpha,
                   const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

void CBLAS_(dswap)(int n, double *x, int incx, double *y, int incy);
void CBLAS_(dscal)(int n, double a, double *x, int incx);
void CBLAS_(dcopy)(int n, const double *x, int incx, double *y, int incy);
void CBLAS_(daxpy)(int n, double a, const double *x, int incx, double *y, int incy);
double CBLAS_(ddot)(int n, const double *x, int incx, const double *y, int incy);
void CBLAS_(dgemv)(int order, int trans, int m, int n, double alpha, const double *a, int lda,
                   const double *x, int incx, double beta, double *y, int incy);
void CBLAS_(dger)(int order, int m, int n, double alpha, const double *x, int incx, const double *y,
                  int incy, double *a, int lda);
void CBLAS_(dgemm)(int order, int transa, int transb, int m, int n, int k, double alpha,
                   const double *a, int lda, const double *b, int ldb, double beta, double *c,
                   int ldc);

#endif
