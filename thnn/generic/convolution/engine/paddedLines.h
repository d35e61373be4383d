/* Image lines as map positions see them: copies with their padding, in which neighbouring positions
 * of a map line see neighbouring elements through any tap. The frame of a slice, which is a map
 * position in depth of a sample, holds a block of image planes:
 *
 *   [image plane][tap in depth][copy][image line][column]
 *
 * Copies are the remainders of the stride, or one for each tap in width: then a vector of positions
 * never lies across cache lines. */
#ifndef THNN_GENERIC_LINE_FRAMES_H
#define THNN_GENERIC_LINE_FRAMES_H

#include "generic/template.h"

#include "generic/convolution/engine/algorithm.h"

/* Map lines [first, end) of slices [firstSlice, endSlice) of the batch. */
/* Of a flat band: positions [first, end) of sample `firstSlice`. */
typedef struct THNNBand {
  int64_t firstSlice, endSlice, first, end;
} THNNBand;

/* Image planes and taps. */
static inline int64_t frameRows(const THNNConvolution *geometry)
{
  return geometry->inputPlanes * THNN_convolutionTaps(geometry);
}

/* Cuts the map into bands of about `most` positions, or fewer so that there are some bands, and the
 * image planes into blocks of at least `leastPlanes`. The frames of a band and a block take no more
 * than `bytes` where that is possible. */
THNNConvolutionBands THNN_(lineFrames_bands)(const THNNConvolution *geometry, bool copyPerTap,
                                             int64_t most, int64_t leastPlanes, int64_t bytes);

/* The same where map positions see the image planes as they lie, with one tap: bands of `positions`
 * neighbours, or up to twice as many, of one sample, and blocks of `planes`. */
bool THNN_(lineFrames_areFlat)(const THNNConvolution *geometry);
THNNConvolutionBands THNN_(lineFrames_flatBands)(const THNNConvolution *geometry, int64_t positions,
                                                 int64_t planes);
THNNBand THNN_(lineFrames_band)(const THNNConvolution *geometry, const THNNConvolutionBands *bands,
                                int64_t index);

/* Of a band: the elements that the frames of a block take, and the vectors that its lines are. */
int64_t THNN_(lineFrames_elements)(const THNNConvolution *geometry,
                                   const THNNConvolutionBands *bands);
int64_t THNN_(lineFrames_vectors)(const THNNConvolution *geometry,
                                  const THNNConvolutionBands *bands);

/* What filling the frames of all bands costs, in cycles: a stride mixes lanes. */
double THNN_(lineFrames_cost)(const THNNConvolution *geometry, const THNNConvolutionBands *bands);
/* The frames of the block of image planes that begins with `firstPlane`. */
/* Flat bands have none: their vectors are listed in the image. */
void THNN_(lineFrames_fill)(const THNNConvolution *geometry, const THNNConvolutionBands *bands,
                            const THNNBand *band, int64_t firstPlane, const real *image,
                            real *frames);

/* Fills a copy of `lines` lines and `width` columns, every stride-th of the image, with zeros
 * outside. Its first element is image element (line, column) of a plane's slice, which may lie
 * outside. */
void THNN_(lineFrames_copy)(const THNNConvolution *geometry, int64_t stride, int64_t width,
                            const real *slice, int64_t line, int64_t column, int64_t lines,
                            real *copy);

/* Where the first position of a frame is seen by each plane of a block and each tap. */
void THNN_(lineFrames_offsets)(const THNNConvolution *geometry, const THNNConvolutionBands *bands,
                               int64_t *offset);

/* Lists the vectors of a band, in the frames and in the map's first plane: the whole ones, then the
 * parts that lines end with. */
THNN_(Vectors)
THNN_(lineFrames_list)(const THNNConvolution *geometry, const THNNConvolutionBands *bands,
                       const THNNBand *band, THNNPosition *at);

#endif
