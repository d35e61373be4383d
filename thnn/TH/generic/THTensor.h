/* Template of THTensor.h, included once per type: the struct, views and sizes.
 *
 * A tensor without dimensions is empty; its storage may be NULL. Dimensions and indices count
 * from 0. Where a function takes a storage and an offset, a NULL storage means a new one, if the
 * tensor has elements, and a storage that is too small is resized.
 *
 * Lists of sizes end at the first one that is not positive. A negative stride, or no list of
 * strides, asks for the contiguous stride: the size times the stride of the dimension after it.
 *
 * Every function leaves its tensors as they were when it raises an error. */

typedef struct THTensor {
  int64_t *size;   /* nDimension entries */
  int64_t *stride; /* nDimension entries */
  int nDimension;
  THStorage *storage; /* may be NULL */
  ptrdiff_t storageOffset;
  int refcount; /* accessed atomically */
  char flag;    /* bits TH_TENSOR_... */
} THTensor;

/* ---- Access */

TH_API THStorage *THTensor_(storage)(const THTensor *self);
TH_API ptrdiff_t THTensor_(storageOffset)(const THTensor *self);
TH_API int THTensor_(nDimension)(const THTensor *self);
TH_API int64_t THTensor_(size)(const THTensor *self, int dimension);
TH_API int64_t THTensor_(stride)(const THTensor *self, int dimension);
TH_API real *THTensor_(data)(const THTensor *self); /* the first element; NULL without a storage */
TH_API ptrdiff_t THTensor_(nElement)(const THTensor *self);
TH_API THLongStorage *THTensor_(newSizeOf)(THTensor *self);
TH_API THLongStorage *THTensor_(newStrideOf)(THTensor *self);
TH_API THDescBuff THTensor_(sizeDesc)(const THTensor *self);

TH_API int THTensor_(isContiguous)(const THTensor *self);
TH_API int THTensor_(isSameSizeAs)(const THTensor *self, const THTensor *other);
TH_API int THTensor_(isSetTo)(const THTensor *self, const THTensor *other); /* the same view */
TH_API int THTensor_(isSize)(const THTensor *self, const THLongStorage *sizes);

/* Single elements; the tensor must have as many dimensions as there are indices. */
TH_API real THTensor_(get1d)(const THTensor *self, int64_t x0);
TH_API real THTensor_(get2d)(const THTensor *self, int64_t x0, int64_t x1);
TH_API real THTensor_(get3d)(const THTensor *self, int64_t x0, int64_t x1, int64_t x2);
TH_API real THTensor_(get4d)(const THTensor *self, int64_t x0, int64_t x1, int64_t x2, int64_t x3);
TH_API void THTensor_(set1d)(THTensor *self, int64_t x0, real value);
TH_API void THTensor_(set2d)(THTensor *self, int64_t x0, int64_t x1, real value);
TH_API void THTensor_(set3d)(THTensor *self, int64_t x0, int64_t x1, int64_t x2, real value);
TH_API void THTensor_(set4d)(THTensor *self, int64_t x0, int64_t x1, int64_t x2, int64_t x3,
                             real value);

/* ---- Construction: a new tensor has one reference, which THTensor_(free) gives up. */

TH_API THTensor *THTensor_(new)(void); /* empty */
TH_API void THTensor_(retain)(THTensor *self);
TH_API void THTensor_(free)(THTensor *self); /* NULL is ignored */
TH_API void THTensor_(setFlag)(THTensor *self, const char flag);
TH_API void THTensor_(clearFlag)(THTensor *self, const char flag);

/* Copies self into destination unless they are the same tensor, then frees self (which stays the
 * caller's if the copy raises an error). */
TH_API void THTensor_(freeCopyTo)(THTensor *self, THTensor *destination);

/* New tensors with storages of their own, contiguous unless strides are given; the elements are
 * undefined. */
TH_API THTensor *THTensor_(newWithSize)(THLongStorage *size, THLongStorage *stride);
TH_API THTensor *THTensor_(newWithSize1d)(int64_t size0);
TH_API THTensor *THTensor_(newWithSize2d)(int64_t size0, int64_t size1);
TH_API THTensor *THTensor_(newWithSize3d)(int64_t size0, int64_t size1, int64_t size2);
TH_API THTensor *THTensor_(newWithSize4d)(int64_t size0, int64_t size1, int64_t size2,
                                          int64_t size3);

/* New views of a storage, which they retain. */
TH_API THTensor *THTensor_(newWithStorage)(THStorage *storage, ptrdiff_t storageOffset,
                                           THLongStorage *size, THLongStorage *stride);
TH_API THTensor *THTensor_(newWithStorage1d)(THStorage *storage, ptrdiff_t storageOffset,
                                             int64_t size0, int64_t stride0);
TH_API THTensor *THTensor_(newWithStorage2d)(THStorage *storage, ptrdiff_t storageOffset,
                                             int64_t size0, int64_t stride0, int64_t size1,
                                             int64_t stride1);
TH_API THTensor *THTensor_(newWithStorage3d)(THStorage *storage, ptrdiff_t storageOffset,
                                             int64_t size0, int64_t stride0, int64_t size1,
                                             int64_t stride1, int64_t size2, int64_t stride2);
TH_API THTensor *THTensor_(newWithStorage4d)(THStorage *storage, ptrdiff_t storageOffset,
                                             int64_t size0, int64_t stride0, int64_t size1,
                                             int64_t stride1, int64_t size2, int64_t stride2,
                                             int64_t size3, int64_t stride3);

/* New tensors that share the argument's storage. */
TH_API THTensor *THTensor_(newWithTensor)(THTensor *tensor);
TH_API THTensor *THTensor_(newSelect)(THTensor *tensor, int dimension, int64_t index);
TH_API THTensor *THTensor_(newNarrow)(THTensor *tensor, int dimension, int64_t first, int64_t size);
TH_API THTensor *THTensor_(newTranspose)(THTensor *tensor, int dimension1, int dimension2);
TH_API THTensor *THTensor_(newUnfold)(THTensor *tensor, int dimension, int64_t size, int64_t step);

/* A contiguous tensor with other sizes; one size may be -1 and is computed from the others. */
TH_API THTensor *THTensor_(newView)(THTensor *tensor, THLongStorage *size);

/* A view with dimensions of size 1 expanded to the sizes given, with stride 0; `size` may have
 * additional dimensions in front. */
TH_API THTensor *THTensor_(newExpand)(THTensor *tensor, THLongStorage *size);

/* A copy in a storage of its own. */
TH_API THTensor *THTensor_(newClone)(THTensor *tensor);

/* The tensor itself, retained, if it is contiguous; else a copy. */
TH_API THTensor *THTensor_(newContiguous)(THTensor *tensor);

/* ---- Sizes
 *
 * A tensor that has the sizes asked for keeps its strides; otherwise it becomes contiguous. The
 * storage is kept when large enough and never shrinks; a storage that must grow needs
 * TH_STORAGE_RESIZABLE. */

TH_API void THTensor_(resize)(THTensor *self, THLongStorage *size, THLongStorage *stride);
TH_API void THTensor_(resizeAs)(THTensor *self, THTensor *other);
TH_API void THTensor_(resizeNd)(THTensor *self, int nDimension, int64_t *size, int64_t *stride);
TH_API void THTensor_(resize1d)(THTensor *self, int64_t size0);
TH_API void THTensor_(resize2d)(THTensor *self, int64_t size0, int64_t size1);
TH_API void THTensor_(resize3d)(THTensor *self, int64_t size0, int64_t size1, int64_t size2);
TH_API void THTensor_(resize4d)(THTensor *self, int64_t size0, int64_t size1, int64_t size2,
                                int64_t size3);
TH_API void THTensor_(resize5d)(THTensor *self, int64_t size0, int64_t size1, int64_t size2,
                                int64_t size3, int64_t size4);

/* ---- Views: self becomes a view of source's storage; a NULL source means self. */

TH_API void THTensor_(set)(THTensor *self, THTensor *source);
TH_API void THTensor_(setStorage)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                                  THLongStorage *size, THLongStorage *stride);
TH_API void THTensor_(setStorageNd)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                                    int nDimension, int64_t *size, int64_t *stride);
TH_API void THTensor_(setStorage1d)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                                    int64_t size0, int64_t stride0);
TH_API void THTensor_(setStorage2d)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                                    int64_t size0, int64_t stride0, int64_t size1, int64_t stride1);
TH_API void THTensor_(setStorage3d)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                                    int64_t size0, int64_t stride0, int64_t size1, int64_t stride1,
                                    int64_t size2, int64_t stride2);
TH_API void THTensor_(setStorage4d)(THTensor *self, THStorage *storage, ptrdiff_t storageOffset,
                                    int64_t size0, int64_t stride0, int64_t size1, int64_t stride1,
                                    int64_t size2, int64_t stride2, int64_t size3, int64_t stride3);

/* The elements whose index in `dimension` is `index`: the view has one dimension less than source,
 * which needs at least two. */
TH_API void THTensor_(select)(THTensor *self, THTensor *source, int dimension, int64_t index);

/* The elements first … first + size - 1 along a dimension. */
TH_API void THTensor_(narrow)(THTensor *self, THTensor *source, int dimension, int64_t first,
                              int64_t size);
TH_API void THTensor_(transpose)(THTensor *self, THTensor *source, int dimension1, int dimension2);

/* All windows of `size` elements, `step` apart: the dimension counts the windows, and a new last
 * dimension the elements of a window. */
TH_API void THTensor_(unfold)(THTensor *self, THTensor *source, int dimension, int64_t size,
                              int64_t step);

/* Removes dimensions of size 1 (all of them, or the one given); at least one dimension stays. */
TH_API void THTensor_(squeeze)(THTensor *self, THTensor *source);
TH_API void THTensor_(squeeze1d)(THTensor *self, THTensor *source, int dimension);

/* Inserts a dimension of size 1 before `dimension`. */
TH_API void THTensor_(unsqueeze1d)(THTensor *self, THTensor *source, int dimension);
