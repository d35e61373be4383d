/* Matrix products, by cuBLAS. The library is loaded when a function first needs it, from the path
 * in the environment variable THCUNN_CUBLAS, or without that variable as libcublas.so of the CUDA
 * version that this library was built with. */
#ifndef THC_BLAS_H
#define THC_BLAS_H

#include "THCPlan.h"

/* A row-major matrix, or a batch of them. */
template <typename T> struct THCMatrix {
  T *data;
  int64_t stride;      /* elements from one row of the stored matrix to the next */
  bool transposed;     /* the product uses the stored matrix's transpose */
  int64_t batchStride; /* elements from one matrix of the batch to the next */
};

template <typename T>
THCMatrix<T> THC_matrix(T *data, int64_t stride, bool transposed = false, int64_t batchStride = 0)
{
  THCMatrix<T> matrix = {data, stride, transposed, batchStride};
  return matrix;
}

/* The most matrices that cuBLAS multiplies in one call: the limit of a grid's last dimension.
 * THC_multiply calls it several times for more. */
enum { THC_LARGEST_BATCH = 65535 };

/* Loads cuBLAS, and raises if that fails. A function that multiplies calls it before
 * THC_planAcquire. */
void THC_planBlas(THCPlan *plan);

/* result = factor * a * b + keep * result, with a[rows x inner] and b[inner x columns], for each
 * matrix of the batch. With keep 0 the old result is not read. */
void THC_multiply(THCPlan *plan, int64_t batch, int64_t rows, int64_t columns, int64_t inner,
                  float factor, THCMatrix<const float> a, THCMatrix<const float> b, float keep,
                  THCMatrix<float> result);
void THC_multiply(THCPlan *plan, int64_t batch, int64_t rows, int64_t columns, int64_t inner,
                  double factor, THCMatrix<const double> a, THCMatrix<const double> b, double keep,
                  THCMatrix<double> result);

/* Frees the state's cuBLAS handle. */
void THC_destroyBlas(THCState *state);

#endif
