/* The shape checks of padding: untemplated, each in its module's own file, called by both real
 * types and by the CUDA twin. Arguments that a function does not have are THNN_NO_SHAPE. Each
 * raises, or returns what the function needs to know.
 *
 * Scalars come in the order of the prototype; `firstPosition` is the position of the first of
 * them. */
#ifndef THNN_PADDING_CHECKS_H
#define THNN_PADDING_CHECKS_H

#include "call/check.h"
#include "geometry/padding.h"

THNN_PRIVATE THNNPadding THNN_SpatialReflectionPadding_shapeCheck(const char *function,
                                                                  THNNShape input,
                                                                  THNNShape gradOutput,
                                                                  int firstPosition, int pad_l,
                                                                  int pad_r, int pad_t, int pad_b);

THNN_PRIVATE THNNPadding THNN_SpatialReplicationPadding_shapeCheck(const char *function,
                                                                   THNNShape input,
                                                                   THNNShape gradOutput,
                                                                   int firstPosition, int pad_l,
                                                                   int pad_r, int pad_t, int pad_b);

THNN_PRIVATE THNNPadding THNN_VolumetricReplicationPadding_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int pleft,
    int pright, int ptop, int pbottom, int pfront, int pback);

/* The paddings of a call, left, right, top, bottom, front and back, and its mode. */
typedef struct THNNSides {
  int pleft, pright, ptop, pbottom, pfront, pback, mode;
} THNNSides;

THNN_PRIVATE THNNPadding THNN_Padding_shapeCheck(const char *function, THNNShape input,
                                                 int firstPosition, THNNSides sides);

/* Checks gradOutput, from which the sizes of the input follow; these are written to `size`. */
THNN_PRIVATE THNNPadding THNN_Padding_gradientCheck(const char *function, THNNShape gradOutput,
                                                    int firstPosition, THNNSides sides,
                                                    int64_t size[4]);

#endif
