/* Template of THTensor.h, included once per type: arithmetic.
 *
 * `result` is resized to the size of the first operand and may be one of the operands. All
 * operands have the same number of elements. An error about an argument leaves all tensors as they
 * were; one about memory may leave the result resized. */

TH_API void THTensor_(fill)(THTensor *result, real value);
TH_API void THTensor_(zero)(THTensor *result);

/* Element by element: tensor + value, tensor - value, tensor * value */
TH_API void THTensor_(add)(THTensor *result, THTensor *tensor, real value);
TH_API void THTensor_(sub)(THTensor *result, THTensor *tensor, real value);
TH_API void THTensor_(mul)(THTensor *result, THTensor *tensor, real value);

/* Element by element: tensor + value * source, tensor - value * source, tensor * source,
 * tensor + value * source1 * source2, |tensor| */
TH_API void THTensor_(cadd)(THTensor *result, THTensor *tensor, real value, THTensor *source);
TH_API void THTensor_(csub)(THTensor *result, THTensor *tensor, real value, THTensor *source);
TH_API void THTensor_(cmul)(THTensor *result, THTensor *tensor, THTensor *source);
TH_API void THTensor_(addcmul)(THTensor *result, THTensor *tensor, real value, THTensor *source1,
                               THTensor *source2);
TH_API void THTensor_(abs)(THTensor *result, THTensor *tensor);

/* Over all elements; minall and maxall need at least one, and give NaN if there is a NaN. */
TH_API accreal THTensor_(sumall)(THTensor *tensor);
TH_API real THTensor_(minall)(THTensor *tensor);
TH_API real THTensor_(maxall)(THTensor *tensor);
TH_API accreal THTensor_(dot)(THTensor *tensor, THTensor *source);
TH_API int THTensor_(equal)(THTensor *tensor, THTensor *other); /* same sizes, same values */

/* Sums along one dimension, which stays with size 1 if keepDimension is set or if it is the only
 * one. */
TH_API void THTensor_(sum)(THTensor *result, THTensor *tensor, int dimension, int keepDimension);

/* Running sums along one dimension. */
TH_API void THTensor_(cumsum)(THTensor *result, THTensor *tensor, int dimension);

/* Sorts along one dimension; equal elements keep their order, NaN counts as the largest value.
 * `indices` receives the old positions, from TH_INDEX_BASE. */
TH_API void THTensor_(sort)(THTensor *result, THLongTensor *indices, THTensor *tensor,
                            int dimension, int descending);

#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)

/* tensor / value, tensor / source, tensor + value * source1 / source2 */
TH_API void THTensor_(div)(THTensor *result, THTensor *tensor, real value);
TH_API void THTensor_(cdiv)(THTensor *result, THTensor *tensor, THTensor *source);
TH_API void THTensor_(addcdiv)(THTensor *result, THTensor *tensor, real value, THTensor *source1,
                               THTensor *source2);

TH_API void THTensor_(sqrt)(THTensor *result, THTensor *tensor);
TH_API void THTensor_(sigmoid)(THTensor *result, THTensor *tensor);
TH_API void THTensor_(tanh)(THTensor *result, THTensor *tensor);

/* Products by BLAS, for tensors of any strides. With beta 0 `tensor` is not read. The result must
 * not overlap the factors.
 *   addmv     beta * tensor[m]       + alpha * matrix[m x n] * vector[n]
 *   addmm     beta * tensor[m x n]   + alpha * matrix1[m x k] * matrix2[k x n]
 *   addr      beta * tensor[m x n]   + alpha * vector1[m] * vector2[n]'
 *   baddbmm   addmm for each index of a first dimension */
TH_API void THTensor_(addmv)(THTensor *result, real beta, THTensor *tensor, real alpha,
                             THTensor *matrix, THTensor *vector);
TH_API void THTensor_(addmm)(THTensor *result, real beta, THTensor *tensor, real alpha,
                             THTensor *matrix1, THTensor *matrix2);
TH_API void THTensor_(addr)(THTensor *result, real beta, THTensor *tensor, real alpha,
                            THTensor *vector1, THTensor *vector2);
TH_API void THTensor_(baddbmm)(THTensor *result, real beta, THTensor *tensor, real alpha,
                               THTensor *batch1, THTensor *batch2);

#endif
