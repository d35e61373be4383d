/* What pooling indices are for: moving values to and from the elements that they name. */
#ifndef THNN_GENERIC_POOLED_INDICES_H
#define THNN_GENERIC_POOLED_INDICES_H

#include "generic/template.h"
#include "geometry/indices.h"

/* Sets up `pooled` for indices of taps in this geometry; `optional` must have been set. */
void THNN_(indices_describeTaps)(THNNPooledIndices *pooled, const THNNConvolution *geometry);

/* The backward pass of a pooling module: checks the indices, and adds each gradient to the element
 * that its index names. The tensors are arguments 2 to 4, and the indices. */
void THNN_(indices_updateGradInput)(const THNNPooledIndices *pooled, THTensor *input,
                                    THTensor *gradOutput, THTensor *gradInput,
                                    THIndexTensor *indices, int indicesPosition);

/* Unpooling, with `pooled` describing the indices of the input: output = 0, then each value is put
 * where its index says. The tensors are arguments 2 to 4. */
void THNN_(indices_unpoolOutput)(const THNNPooledIndices *pooled, THTensor *input, THTensor *output,
                                 int nDimension, const int64_t *size, THIndexTensor *indices);
/* Unpooling backward: gradInput = the gradient of the element that the index names. The tensors are
 * arguments 2 to 5. */
void THNN_(indices_unpoolGradInput)(const THNNPooledIndices *pooled, THTensor *input,
                                    THTensor *gradOutput, THTensor *gradInput,
                                    THIndexTensor *indices);

#endif
