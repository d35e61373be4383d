/* Template of THCTensor.h, included once per type. The functions do what their namesakes in
 * TH/generic/THTensor.h do. */

typedef struct THCTensor {
  int64_t *size;   /* nDimension entries */
  int64_t *stride; /* nDimension entries */
  int nDimension;
  THCStorage *storage; /* may be NULL */
  ptrdiff_t storageOffset;
  int refcount; /* accessed atomically */
  char flag;    /* bits TH_TENSOR_... */
} THCTensor;

THC_API THCTensor *THCTensor_(new)(THCState *state); /* empty */
THC_API THCTensor *THCTensor_(newWithStorage)(THCState *state, THCStorage *storage,
                                              ptrdiff_t storageOffset, int nDimension,
                                              const int64_t *size, const int64_t *stride);
THC_API void THCTensor_(retain)(THCState *state, THCTensor *self);
THC_API void THCTensor_(free)(THCState *state, THCTensor *self); /* NULL is ignored */

THC_API real *THCTensor_(data)(THCState *state, const THCTensor *self);
THC_API ptrdiff_t THCTensor_(nElement)(THCState *state, const THCTensor *self);
THC_API int THCTensor_(isContiguous)(THCState *state, const THCTensor *self);

/* Sizes end at the first one that is not positive; without strides the tensor is contiguous. A
 * tensor that has the sizes asked for keeps its strides; its storage is kept when large enough. An
 * error leaves the tensor as it was. */
THC_API void THCTensor_(resizeNd)(THCState *state, THCTensor *self, int nDimension,
                                  const int64_t *size, const int64_t *stride);
THC_API void THCTensor_(resizeAs)(THCState *state, THCTensor *self, const THCTensor *other);

/* Makes self a view of source's storage with the same sizes and strides. */
THC_API void THCTensor_(set)(THCState *state, THCTensor *self, THCTensor *source);

THC_API void THCTensor_(fill)(THCState *state, THCTensor *self, real value);

/* Copies the elements of source, which has as many, in any shape, in row-major order. */
THC_API void THCTensor_(copy)(THCState *state, THCTensor *self, THCTensor *source);
