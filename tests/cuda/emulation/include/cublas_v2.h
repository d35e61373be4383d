/* Stands in for cuBLAS's header: the functions that the library uses, computed by TH's BLAS on
 * emulated device memory. */
#ifndef CUEMU_CUBLAS_H
#define CUEMU_CUBLAS_H

#include <cuda_runtime.h>

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_EXECUTION_FAILED = 13
} cublasStatus_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef struct cublasContext *cublasHandle_t;

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasSetStream cublasSetStream_v2
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasSgemv cublasSgemv_v2
#define cublasDgemv cublasDgemv_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasSger cublasSger_v2
#define cublasDger cublasDger_v2

extern "C" {

const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);

#define CUEMU_CUBLAS(T, X)                                                                         \
  cublasStatus_t cublas##X##gemm(cublasHandle_t handle, cublasOperation_t transa,                  \
                                 cublasOperation_t transb, int m, int n, int k, const T *alpha,    \
                                 const T *a, int lda, const T *b, int ldb, const T *beta, T *c,    \
                                 int ldc);                                                         \
  cublasStatus_t cublas##X##gemmStridedBatched(                                                    \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,     \
      int k, const T *alpha, const T *a, int lda, long long strideA, const T *b, int ldb,          \
      long long strideB, const T *beta, T *c, int ldc, long long strideC, int batch);              \
  cublasStatus_t cublas##X##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,     \
                                 const T *alpha, const T *a, int lda, const T *x, int incx,        \
                                 const T *beta, T *y, int incy);                                   \
  cublasStatus_t cublas##X##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x,         \
                                 int incx, T *y, int incy);                                        \
  cublasStatus_t cublas##X##ger(cublasHandle_t handle, int m, int n, const T *alpha, const T *x,   \
                                int incx, const T *y, int incy, T *a, int lda);

CUEMU_CUBLAS(float, S)
CUEMU_CUBLAS(double, D)
#undef CUEMU_CUBLAS
}

#endif
