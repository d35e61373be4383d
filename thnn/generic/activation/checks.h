/* The shape checks of activations: untemplated, each in its module's own file, called by both real
 * types and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each raises,
 * or returns what the function needs to know. */
#ifndef THNN_ACTIVATION_CHECKS_H
#define THNN_ACTIVATION_CHECKS_H

#include "call/check.h"
#include "geometry/planes.h"

/* Element-by-element modules, backward: as many elements in gradOutput as in `saved`, the input or
 * the output of the forward call. */
THNN_API void THNN_pointwise_shapeCheck(const char *function, THNNShape saved,
                                        THNNShape gradOutput);

/* The same, and gradOutput has the sizes of `saved`. */
THNN_API void THNN_pointwise_sizeCheck(const char *function, THNNShape saved, THNNShape gradOutput);

/* A forward call's input that only serves to be compared: NULL, or as many elements. */
THNN_API void THNN_pointwise_inputCheck(const char *function, THNNShape input,
                                        THNNShape gradOutput);

/* Where there is one weight for all, one plane. `weight` may also be gradWeight. */
THNN_API THNNPlanes THNN_PReLU_shapeCheck(const char *function, THNNShape input,
                                          THNNShape gradOutput, THNNShape weight,
                                          THNNScalar nOutputPlane);

/* Also of LogSoftMax. */
THNN_API THNNPlanes THNN_SoftMax_shapeCheck(const char *function, THNNShape input,
                                            THNNShape gradOutput, THNNShape output);

/* A tensor cut in two along one dimension: `runs` times `length` elements of the first half and
 * then as many of the second. */
typedef struct THNNHalves {
  int64_t runs, length;
} THNNHalves;

THNN_API THNNHalves THNN_GatedLinear_shapeCheck(const char *function, THNNShape input,
                                                THNNShape gradOutput, THNNScalar dim);

#endif
