/* Products of matrices and vectors of any strides, by BLAS.
 *
 * BLAS takes matrices whose columns, or whose rows, are contiguous. Others are packed into scratch
 * memory, which is allocated before anything is computed. */

#include "internal.h"
#include "../THMemory.h"

#define SCRATCH_ALIGNMENT 64

typedef struct Matrix {
  real *data;
  int64_t rows, columns;
  int64_t rowStride, columnStride;
} Matrix;

/* The matrix that two dimensions of a tensor form. */
static Matrix matrixIn(const THTensor *tensor, int rowDimension, int columnDimension)
{
  return (Matrix){THTensor_(data)(tensor), tensor->size[rowDimension],
                  tensor->size[columnDimension], tensor->stride[rowDimension],
                  tensor->stride[columnDimension]};
}

static Matrix transpose(Matrix m)
{
  return (Matrix){m.data, m.columns, m.rows, m.columnStride, m.rowStride};
}

static bool isColumnMajor(Matrix m)
{
  return (m.rows == 1 || m.rowStride == 1) && (m.columns == 1 || m.columnStride >= m.rows);
}

static bool needsPacking(Matrix m)
{
  return !isColumnMajor(m) && !isColumnMajor(transpose(m));
}

/* The number of elements of scratch memory that packing the matrix needs. */
static int64_t packedSize(Matrix m)
{
  return needsPacking(m) ? m.rows * m.columns : 0;
}

/* Scratch memory, NULL for 0 elements; raises an error when there is no memory. */
static real *allocateScratch(int64_t elements)
{
  if (elements == 0)
    return NULL;
  size_t bytes = (size_t)elements * sizeof(real);
  real *scratch =
      (size_t)elements > SIZE_MAX / sizeof(real) ? NULL : THTryAlloc(bytes, SCRATCH_ALIGNMENT);
  if (!scratch)
    THOutOfMemory(bytes);
  return scratch;
}

static void copyMatrix(Matrix to, Matrix from)
{
  THTensor_(copyStrided)(2, (int64_t[]){to.rows, to.columns}, to.data,
                         (int64_t[]){to.rowStride, to.columnStride}, from.data,
                         (int64_t[]){from.rowStride, from.columnStride});
}

/* The matrix itself, or a column-major copy in scratch memory if BLAS cannot take it as it is. */
static Matrix packIfNeeded(Matrix m, real *scratch)
{
  if (!needsPacking(m))
    return m;
  Matrix packed = {scratch, m.rows, m.columns, 1, m.rows};
  copyMatrix(packed, m);
  return packed;
}

static char transposition(Matrix m)
{
  return isColumnMajor(m) ? 'n' : 't';
}

static int64_t leadingDimension(Matrix m)
{
  return isColumnMajor(m) ? m.columnStride : m.rowStride;
}

/* r = beta * r + alpha * a * b, where r is column-major and nothing needs packing */
static void multiplyPacked(real beta, Matrix r, real alpha, Matrix a, Matrix b)
{
  THBlas_(gemm)(transposition(a), transposition(b), r.rows, r.columns, a.columns, alpha, a.data,
                leadingDimension(a), b.data, leadingDimension(b), beta, r.data, r.columnStride);
}

/* r = beta * r + alpha * a * b; `scratch` has scratchFor(r, a, b) elements. */
static void multiply(real beta, Matrix r, real alpha, Matrix a, Matrix b, real *scratch)
{
  Matrix target = packIfNeeded(r, scratch);
  scratch += packedSize(r);
  Matrix left = packIfNeeded(a, scratch);
  scratch += packedSize(a);
  Matrix right = packIfNeeded(b, scratch);
  if (isColumnMajor(target))
    multiplyPacked(beta, target, alpha, left, right);
  else
    multiplyPacked(beta, transpose(target), alpha, transpose(right), transpose(left));
  if (needsPacking(r))
    copyMatrix(r, target);
}

static int64_t scratchFor(Matrix r, Matrix a, Matrix b)
{
  return packedSize(r) + packedSize(a) + packedSize(b);
}

/* ---- Checks */

/* Raises an error about argument `position` unless the tensor has these sizes. */
static void checkSizes(const THTensor *tensor, int position, int nDimension, const int64_t *size)
{
  bool same = tensor->nDimension == nDimension;
  for (int d = 0; d < nDimension && same; d++)
    same = tensor->size[d] == size[d];
  THArgCheck(same, position, "a tensor of size %s is needed, this one has size %s",
             _THSizeDesc(size, nDimension).str, THTensor_(sizeDesc)(tensor).str);
}

static void checkDimensions(const THTensor *tensor, int position, int nDimension)
{
  THArgCheck(tensor->nDimension == nDimension, position,
             "a tensor of %d dimensions is needed, this one has size %s", nDimension,
             THTensor_(sizeDesc)(tensor).str);
}

/* Gives result the size of the tensor that the product is added to and, unless beta is 0, its
 * content. */
static void startResult(THTensor *result, real beta, THTensor *tensor)
{
  if (result == tensor)
    return;
  THTensor_(resizeAs)(result, tensor);
  if (beta != 0)
    THTensor_(copy)(result, tensor);
}

/* ---- Products */

void THTensor_(addmv)(THTensor *result, real beta, THTensor *tensor, real alpha, THTensor *matrix,
                      THTensor *vector)
{
  THArgCheck(result != vector, 1, "the result cannot be a factor");
  checkDimensions(matrix, 5, 2);
  checkSizes(vector, 6, 1, &matrix->size[1]);
  checkSizes(tensor, 3, 1, &matrix->size[0]);
  startResult(result, beta, tensor);

  Matrix a = matrixIn(matrix, 0, 1);
  /* BLAS does not take an increment of 0 (an expanded vector): the vector is copied to scratch. */
  bool packVector = vector->stride[0] == 0;
  int64_t packedMatrix = packedSize(a);
  real *scratch = allocateScratch(packedMatrix + (packVector ? a.columns : 0));
  a = packIfNeeded(a, scratch);
  real *x = THTensor_(data)(vector);
  int64_t increment = vector->stride[0];
  if (packVector) {
    THVector_(fill)(scratch + packedMatrix, *x, a.columns);
    x = scratch + packedMatrix;
    increment = 1;
  }
  bool columnMajor = isColumnMajor(a);
  THBlas_(gemv)(transposition(a), columnMajor ? a.rows : a.columns,
                columnMajor ? a.columns : a.rows, alpha, a.data, leadingDimension(a), x, increment,
                beta, THTensor_(data)(result), result->stride[0]);
  THTryFree(scratch);
}

void THTensor_(addmm)(THTensor *result, real beta, THTensor *tensor, real alpha, THTensor *matrix1,
                      THTensor *matrix2)
{
  THArgCheck(result != matrix1 && result != matrix2, 1, "the result cannot be a factor");
  checkDimensions(matrix1, 5, 2);
  checkDimensions(matrix2, 6, 2);
  checkSizes(matrix2, 6, 2, (int64_t[]){matrix1->size[1], matrix2->size[1]});
  checkSizes(tensor, 3, 2, (int64_t[]){matrix1->size[0], matrix2->size[1]});
  startResult(result, beta, tensor);

  Matrix r = matrixIn(result, 0, 1), a = matrixIn(matrix1, 0, 1), b = matrixIn(matrix2, 0, 1);
  real *scratch = allocateScratch(scratchFor(r, a, b));
  multiply(beta, r, alpha, a, b, scratch);
  THTryFree(scratch);
}

void THTensor_(baddbmm)(THTensor *result, real beta, THTensor *tensor, real alpha, THTensor *batch1,
                        THTensor *batch2)
{
  THArgCheck(result != batch1 && result != batch2, 1, "the result cannot be a factor");
  checkDimensions(batch1, 5, 3);
  checkDimensions(batch2, 6, 3);
  checkSizes(batch2, 6, 3, (int64_t[]){batch1->size[0], batch1->size[2], batch2->size[2]});
  checkSizes(tensor, 3, 3, (int64_t[]){batch1->size[0], batch1->size[1], batch2->size[2]});
  startResult(result, beta, tensor);

  Matrix r = matrixIn(result, 1, 2), a = matrixIn(batch1, 1, 2), b = matrixIn(batch2, 1, 2);
  real *scratch = allocateScratch(scratchFor(r, a, b));
  for (int64_t i = 0; i < batch1->size[0]; i++) {
    multiply(beta, r, alpha, a, b, scratch);
    r.data += result->stride[0];
    a.data += batch1->stride[0];
    b.data += batch2->stride[0];
  }
  THTryFree(scratch);
}

void THTensor_(addr)(THTensor *result, real beta, THTensor *tensor, real alpha, THTensor *vector1,
                     THTensor *vector2)
{
  checkDimensions(vector1, 5, 1);
  checkDimensions(vector2, 6, 1);
  checkSizes(tensor, 3, 2, (int64_t[]){vector1->size[0], vector2->size[0]});
  startResult(result, beta, tensor);

  Matrix r = matrixIn(result, 0, 1);
  const real *x = THTensor_(data)(vector1), *y = THTensor_(data)(vector2);
  for (int64_t i = 0; i < r.rows; i++) {
    real factor = alpha * x[i * vector1->stride[0]];
    for (int64_t j = 0; j < r.columns; j++) {
      real *element = r.data + i * r.rowStride + j * r.columnStride;
      real old = beta == 0 ? 0 : beta * *element;
      *element = old + factor * y[j * vector2->stride[0]];
    }
  }
}
