/* The part of cuBLAS that the library uses, on TH's BLAS. Matrices are column-major. */
#include "cuemu.h"

#include <cublas_v2.h>
#include <TH/TH.h>

using namespace cuemu;

struct cublasContext {
  cudaStream_t stream;
};

namespace
{

char letter(cublasOperation_t operation)
{
  return operation == CUBLAS_OP_N ? 'n' : 't';
}

void gemm(char transa, char transb, int m, int n, int k, float alpha, const float *a, int lda,
          const float *b, int ldb, float beta, float *c, int ldc)
{
  THFloatBlas_gemm(transa, transb, m, n, k, alpha, (float *)a, lda, (float *)b, ldb, beta, c, ldc);
}

void gemm(char transa, char transb, int m, int n, int k, double alpha, const double *a, int lda,
          const double *b, int ldb, double beta, double *c, int ldc)
{
  THDoubleBlas_gemm(transa, transb, m, n, k, alpha, (double *)a, lda, (double *)b, ldb, beta, c,
                    ldc);
}

void gemv(char trans, int m, int n, float alpha, const float *a, int lda, const float *x, int incx,
          float beta, float *y, int incy)
{
  THFloatBlas_gemv(trans, m, n, alpha, (float *)a, lda, (float *)x, incx, beta, y, incy);
}

void gemv(char trans, int m, int n, double alpha, const double *a, int lda, const double *x,
          int incx, double beta, double *y, int incy)
{
  THDoubleBlas_gemv(trans, m, n, alpha, (double *)a, lda, (double *)x, incx, beta, y, incy);
}

template <typename T> void readMatrix(const char *what, const T *a, int rows, int columns, int lda)
{
  for (int column = 0; column < columns; column++)
    libraryRead(what, a + (int64_t)column * lda, (size_t)rows * sizeof(T));
}

template <typename T>
void writeMatrix(const char *what, T *a, int rows, int columns, int lda, bool read)
{
  if (read)
    readMatrix(what, (const T *)a, rows, columns, lda);
  for (int column = 0; column < columns; column++)
    libraryWrite(what, a + (int64_t)column * lda, (size_t)rows * sizeof(T));
}

template <typename T> void readVector(const char *what, const T *x, int n, int increment)
{
  for (int i = 0; i < n; i++)
    libraryRead(what, x + (int64_t)i * increment, sizeof(T));
}

cublasStatus_t check(cublasHandle_t handle)
{
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  return checkStream(handle->stream) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                    : CUBLAS_STATUS_EXECUTION_FAILED;
}

int atLeastOne(int value)
{
  return value > 1 ? value : 1;
}

template <typename T>
cublasStatus_t anyGemm(const char *what, cublasHandle_t handle, cublasOperation_t transa,
                       cublasOperation_t transb, int m, int n, int k, const T *alpha, const T *a,
                       int lda, long long strideA, const T *b, int ldb, long long strideB,
                       const T *beta, T *c, int ldc, long long strideC, int batch)
{
  const cublasStatus_t status = check(handle);
  if (status != CUBLAS_STATUS_SUCCESS)
    return status;
  const bool at = transa != CUBLAS_OP_N, bt = transb != CUBLAS_OP_N;
  if (m < 0 || n < 0 || k < 0 || batch < 0 || lda < atLeastOne(at ? k : m) ||
      ldb < atLeastOne(bt ? n : k) || ldc < atLeastOne(m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0)
    return CUBLAS_STATUS_SUCCESS;
  openMemory();
  for (int i = 0; i < batch; i++, a += strideA, b += strideB, c += strideC) {
    readMatrix(what, a, at ? k : m, at ? m : k, lda);
    readMatrix(what, b, bt ? n : k, bt ? k : n, ldb);
    writeMatrix(what, c, m, n, ldc, *beta != 0);
    gemm(letter(transa), letter(transb), m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
  }
  closeMemory();
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T>
cublasStatus_t anyGemv(const char *what, cublasHandle_t handle, cublasOperation_t trans, int m,
                       int n, const T *alpha, const T *a, int lda, const T *x, int incx,
                       const T *beta, T *y, int incy)
{
  const cublasStatus_t status = check(handle);
  if (status != CUBLAS_STATUS_SUCCESS)
    return status;
  if (m < 0 || n < 0 || lda < atLeastOne(m) || incx < 1 || incy < 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool transposed = trans != CUBLAS_OP_N;
  const int results = transposed ? n : m;
  openMemory();
  readMatrix(what, a, m, n, lda);
  readVector(what, x, transposed ? m : n, incx);
  if (*beta != 0)
    readVector(what, (const T *)y, results, incy);
  for (int i = 0; i < results; i++)
    libraryWrite(what, y + (int64_t)i * incy, sizeof(T));
  gemv(letter(trans), m, n, *alpha, a, lda, x, incx, *beta, y, incy);
  closeMemory();
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T>
cublasStatus_t anyAxpy(const char *what, cublasHandle_t handle, int n, const T *alpha, const T *x,
                       int incx, T *y, int incy)
{
  const cublasStatus_t status = check(handle);
  if (status != CUBLAS_STATUS_SUCCESS)
    return status;
  openMemory();
  readVector(what, x, n, incx);
  readVector(what, (const T *)y, n, incy);
  for (int i = 0; i < n; i++)
    y[(int64_t)i * incy] += *alpha * x[(int64_t)i * incx];
  closeMemory();
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T>
cublasStatus_t anyGer(const char *what, cublasHandle_t handle, int m, int n, const T *alpha,
                      const T *x, int incx, const T *y, int incy, T *a, int lda)
{
  const cublasStatus_t status = check(handle);
  if (status != CUBLAS_STATUS_SUCCESS)
    return status;
  if (lda < atLeastOne(m))
    return CUBLAS_STATUS_INVALID_VALUE;
  openMemory();
  readVector(what, x, m, incx);
  readVector(what, y, n, incy);
  writeMatrix(what, a, m, n, lda, true);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      a[(int64_t)j * lda + i] += *alpha * x[(int64_t)i * incx] * y[(int64_t)j * incy];
  closeMemory();
  return CUBLAS_STATUS_SUCCESS;
}

} // namespace

const char *cublasGetStatusName(cublasStatus_t status)
{
  switch (status) {
  case CUBLAS_STATUS_SUCCESS:
    return "CUBLAS_STATUS_SUCCESS";
  case CUBLAS_STATUS_NOT_INITIALIZED:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case CUBLAS_STATUS_ALLOC_FAILED:
    return "CUBLAS_STATUS_ALLOC_FAILED";
  case CUBLAS_STATUS_INVALID_VALUE:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case CUBLAS_STATUS_EXECUTION_FAILED:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  }
  return "unknown cuBLAS status";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
  return cublasGetStatusName(status);
}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
  *handle = new cublasContext{nullptr};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

#define CUEMU_CUBLAS(T, X)                                                                         \
  cublasStatus_t cublas##X##gemm(cublasHandle_t handle, cublasOperation_t transa,                  \
                                 cublasOperation_t transb, int m, int n, int k, const T *alpha,    \
                                 const T *a, int lda, const T *b, int ldb, const T *beta, T *c,    \
                                 int ldc)                                                          \
  {                                                                                                \
    return anyGemm("cublas" #X "gemm", handle, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb,  \
                   0, beta, c, ldc, 0, 1);                                                         \
  }                                                                                                \
  cublasStatus_t cublas##X##gemmStridedBatched(                                                    \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,     \
      int k, const T *alpha, const T *a, int lda, long long strideA, const T *b, int ldb,          \
      long long strideB, const T *beta, T *c, int ldc, long long strideC, int batch)               \
  {                                                                                                \
    return anyGemm("cublas" #X "gemmStridedBatched", handle, transa, transb, m, n, k, alpha, a,    \
                   lda, strideA, b, ldb, strideB, beta, c, ldc, strideC, batch);                   \
  }                                                                                                \
  cublasStatus_t cublas##X##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,     \
                                 const T *alpha, const T *a, int lda, const T *x, int incx,        \
                                 const T *beta, T *y, int incy)                                    \
  {                                                                                                \
    return anyGemv("cublas" #X "gemv", handle, trans, m, n, alpha, a, lda, x, incx, beta, y,       \
                   incy);                                                                          \
  }                                                                                                \
  cublasStatus_t cublas##X##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x,         \
                                 int incx, T *y, int incy)                                         \
  {                                                                                                \
    return anyAxpy("cublas" #X "axpy", handle, n, alpha, x, incx, y, incy);                        \
  }                                                                                                \
  cublasStatus_t cublas##X##ger(cublasHandle_t handle, int m, int n, const T *alpha, const T *x,   \
                                int incx, const T *y, int incy, T *a, int lda)                     \
  {                                                                                                \
    return anyGer("cublas" #X "ger", handle, m, n, alpha, x, incx, y, incy, a, lda);               \
  }
CUEMU_CUBLAS(float, S)
CUEMU_CUBLAS(double, D)
