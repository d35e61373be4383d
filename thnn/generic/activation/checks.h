/* The shape checks of activations: untemplated, each in its module's own file, called by both real
 * types and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each
 * raises, or returns what the function needs to know. */
#ifndef THNN_ACTIVATION_CHECKS_H
#define THNN_ACTIVATION_CHECKS_H

#include "call/check.h"
#include "geometry/planes.h"
#include "simd/dropped.h"

/* Backward pass of element-by-element modules: gradOutput has as many elements as `saved`, which is
 * the input or the output of the forward call. */
THNN_PRIVATE void THNN_pointwise_shapeCheck(const char *function, THNNShape saved,
                                            THNNShape gradOutput);

/* As above, but gradOutput has the sizes of `saved`. */
THNN_PRIVATE void THNN_pointwise_sizeCheck(const char *function, THNNShape saved,
                                           THNNShape gradOutput);

/* The forward call's input, which is not read: NULL, or as many elements as gradOutput. */
THNN_PRIVATE void THNN_pointwise_inputCheck(const char *function, THNNShape input,
                                            THNNShape gradOutput);

/* Returns one plane if one weight is for all elements. `weight` may also be gradWeight. */
THNN_PRIVATE THNNPlanes THNN_PReLU_shapeCheck(const char *function, THNNShape input,
                                              THNNShape gradOutput, THNNShape weight,
                                              THNNScalar nOutputPlane);

/* The check of SoftMax and LogSoftMax. */
THNN_PRIVATE THNNPlanes THNN_SoftMax_shapeCheck(const char *function, THNNShape input,
                                                THNNShape gradOutput, THNNShape output);

/* A tensor cut in two along one dimension: `runs` times, `length` elements of the first half
 * followed by `length` elements of the second. */
typedef struct THNNHalves {
  int64_t runs, length;
} THNNHalves;

THNN_PRIVATE THNNHalves THNN_GatedLinear_shapeCheck(const char *function, THNNShape input,
                                                    THNNShape gradOutput, THNNScalar dim);

/* `p` is argument #5. */
THNN_PRIVATE THNNDropped THNN_Dropout_check(const char *function, double p, int64_t seed);

#endif
