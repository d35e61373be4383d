#include "THCBlas.h"

#include <cublas_v2.h>
#include <dlfcn.h>
#include <limits.h>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>

/* ---- Loading -------------------------------------------------------------------------------- */

/* The file name of the library, which the build sets with the version of CUDA (see
 * CMakeLists.txt). */
#ifndef THC_CUBLAS_NAME
#  define THC_CUBLAS_NAME "libcublas.so"
#endif

/* cuBLAS's functions, as its header declares them. */
struct Functions {
  decltype(&cublasCreate) create;
  decltype(&cublasDestroy) destroy;
  decltype(&cublasSetStream) setStream;
  decltype(&cublasGetStatusName) statusName;
  decltype(&cublasGetStatusString) statusString;
  decltype(&cublasSgemm) sgemm;
  decltype(&cublasDgemm) dgemm;
  decltype(&cublasSgemmStridedBatched) sgemmBatched;
  decltype(&cublasDgemmStridedBatched) dgemmBatched;
};
static Functions cublas;
static std::mutex loading;
static bool loaded;

/* The name that the library exports: cublas_v2.h renames functions by macros (cublasCreate_v2). */
#define EXPORTED(name) #name
#define EXPORTED_NAME(name) EXPORTED(name)
#define FIND(library, field, name) find(library, EXPORTED_NAME(name), &cublas.field)

template <typename Function> static bool find(void *library, const char *name, Function *function)
{
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

static bool findAll(void *library)
{
  return FIND(library, create, cublasCreate) && FIND(library, destroy, cublasDestroy) &&
         FIND(library, setStream, cublasSetStream) &&
         FIND(library, statusName, cublasGetStatusName) &&
         FIND(library, statusString, cublasGetStatusString) && FIND(library, sgemm, cublasSgemm) &&
         FIND(library, dgemm, cublasDgemm) &&
         FIND(library, sgemmBatched, cublasSgemmStridedBatched) &&
         FIND(library, dgemmBatched, cublasDgemmStridedBatched);
}

/* Loads the library, which is never unloaded. On failure `reason` says why. */
static bool load(char *reason, size_t reasonBytes)
{
  const char *chosen = getenv("THCUNN_CUBLAS");
  const char *names[] = {chosen, chosen ? nullptr : THC_CUBLAS_NAME,
                         chosen ? nullptr : "libcublas.so"};
  reason[0] = 0;
  for (const char *name : names) {
    void *library = name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library && findAll(library))
      return true;
    const char *error = dlerror();
    if (name && !reason[0])
      snprintf(reason, reasonBytes, "%s", error ? error : name);
  }
  return false;
}

static bool loadOnce(char *reason, size_t reasonBytes)
{
  std::lock_guard<std::mutex> lock(loading);
  loaded = loaded || load(reason, reasonBytes);
  return loaded;
}

/* ---- Errors and the handle ------------------------------------------------------------------ */

static void note(THCFailure *failure, const char *what, cublasStatus_t status)
{
  if (status == CUBLAS_STATUS_SUCCESS || failure->what)
    return;
  failure->what = what;
  failure->name = cublas.statusName(status);
  failure->text = cublas.statusString(status);
}

static void createHandle(THCState *state, const char *function)
{
  THCFailure failure = THC_noFailure();
  cublasHandle_t handle = nullptr;
  const int previous = THC_enter(state, &failure);
  if (!failure.what)
    note(&failure, "cublasCreate", cublas.create(&handle));
  THC_leave(previous);
  THC_raise(function, failure);
  state->blas = handle;
}

void THC_planBlas(THCPlan *plan)
{
  char reason[512];
  const char *function = plan->plan.function;
  if (!loadOnce(reason, sizeof reason))
    THError("%s: cuBLAS could not be loaded (%s). Install it, for example with `pip install "
            "nvidia-cublas`, or set THCUNN_CUBLAS to the path of its library",
            function, reason);
  if (!plan->state->blas)
    createHandle(plan->state, function);
}

void THC_destroyBlas(THCState *state)
{
  if (state->blas)
    cublas.destroy(state->blas);
  state->blas = nullptr;
}

/* ---- Products ------------------------------------------------------------------------------- */

static cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t transA,
                           cublasOperation_t transB, int m, int n, int k, const float *alpha,
                           const float *a, int lda, long long strideA, const float *b, int ldb,
                           long long strideB, const float *beta, float *c, int ldc,
                           long long strideC, int batch)
{
  if (batch == 1)
    return cublas.sgemm(handle, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  return cublas.sgemmBatched(handle, transA, transB, m, n, k, alpha, a, lda, strideA, b, ldb,
                             strideB, beta, c, ldc, strideC, batch);
}

static cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t transA,
                           cublasOperation_t transB, int m, int n, int k, const double *alpha,
                           const double *a, int lda, long long strideA, const double *b, int ldb,
                           long long strideB, const double *beta, double *c, int ldc,
                           long long strideC, int batch)
{
  if (batch == 1)
    return cublas.dgemm(handle, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  return cublas.dgemmBatched(handle, transA, transB, m, n, k, alpha, a, lda, strideA, b, ldb,
                             strideB, beta, c, ldc, strideC, batch);
}

static cublasOperation_t operation(bool transposed)
{
  return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/* cuBLAS needs a positive stride even where the matrix has a single row. */
static int leading(int64_t stride)
{
  return stride > 1 ? (int)stride : 1;
}

static bool fitsInt(int64_t value)
{
  return value >= 0 && value <= INT_MAX;
}

/* The batch without its first `first` matrices. */
template <typename T> static THCMatrix<T> from(THCMatrix<T> matrix, int64_t first)
{
  matrix.data += first * matrix.batchStride;
  return matrix;
}

/* cuBLAS's matrices are column-major, so it computes the transpose: result' = b' * a'. */
template <typename T>
static void multiply(THCPlan *plan, int64_t batch, int64_t rows, int64_t columns, int64_t inner,
                     T factor, THCMatrix<const T> a, THCMatrix<const T> b, T keep,
                     THCMatrix<T> result)
{
  const char *what = "a cuBLAS product";
  if (plan->failure.what || batch == 0 || rows == 0 || columns == 0)
    return;
  if (!fitsInt(batch) || !fitsInt(rows) || !fitsInt(columns) || !fitsInt(inner) ||
      !fitsInt(a.stride) || !fitsInt(b.stride) || !fitsInt(result.stride)) {
    note(&plan->failure, what, CUBLAS_STATUS_INVALID_VALUE);
    return;
  }
  if (batch > THC_LARGEST_BATCH) {
    for (int64_t i = 0; i < batch; i += THC_LARGEST_BATCH)
      multiply(plan, batch - i < THC_LARGEST_BATCH ? batch - i : (int64_t)THC_LARGEST_BATCH, rows,
               columns, inner, factor, from(a, i), from(b, i), keep, from(result, i));
    return;
  }
  cublasHandle_t handle = plan->state->blas;
  note(&plan->failure, "cublasSetStream", cublas.setStream(handle, plan->state->stream));
  note(&plan->failure, what,
       gemm(handle, operation(b.transposed), operation(a.transposed), (int)columns, (int)rows,
            (int)inner, &factor, b.data, leading(b.stride), b.batchStride, a.data,
            leading(a.stride), a.batchStride, &keep, result.data, leading(result.stride),
            result.batchStride, (int)batch));
}

void THC_multiply(THCPlan *plan, int64_t batch, int64_t rows, int64_t columns, int64_t inner,
                  float factor, THCMatrix<const float> a, THCMatrix<const float> b, float keep,
                  THCMatrix<float> result)
{
  multiply(plan, batch, rows, columns, inner, factor, a, b, keep, result);
}

void THC_multiply(THCPlan *plan, int64_t batch, int64_t rows, int64_t columns, int64_t inner,
                  double factor, THCMatrix<const double> a, THCMatrix<const double> b, double keep,
                  THCMatrix<double> result)
{
  multiply(plan, batch, rows, columns, inner, factor, a, b, keep, result);
}
