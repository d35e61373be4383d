/* Padded tiles for whole lines of the map: copies of image lines with their padding, in which
 * neighbouring positions of a map line see neighbouring elements through any tap. A slice is one
 * map position in depth of one sample; its padded tile holds a block of image planes:
 *
 *   [image plane][tap in depth][copy][image line][column]
 *
 * There is one copy for each residue class of columns modulo the stride, or one for each tap in
 * width, so that no vector of positions crosses a cache line. */
#ifndef THNN_CONVOLUTION_PADDED_LINES_H
#define THNN_CONVOLUTION_PADDED_LINES_H

#include "generic/convolution/engine/algorithm.h"

/* The map, cut into bands: some lines of a slice, or some whole slices. A slice is one sample at
 * one depth of the map. */
typedef struct Bands {
  int64_t slices, lines; /* size of the largest band */
  int64_t planes;        /* image planes whose lines are copied at a time */
  int64_t perSlice;      /* bands in a slice */
  int64_t count;         /* bands in all */
  bool copyPerTap;       /* an image line is copied once for each tap in width */
  bool flat;             /* nothing is copied; a slice is a whole sample, a line one position */
} Bands;

/* Map lines [first, end) of slices [firstSlice, endSlice) of the batch; if bands are flat,
 * positions [first, end) of sample `firstSlice`. */
typedef struct Band {
  int64_t firstSlice, endSlice, first, end;
} Band;

/* Number of pairs of an image plane and a tap. */
static inline int64_t tapRows(const THNNConvolution *geometry)
{
  return geometry->inputPlanes * THNN_convolutionTaps(geometry);
}

/* Cuts the map into bands of about `most` positions, or fewer where there would be too few bands,
 * and the image planes into blocks of at least `leastPlanes`. The padded tiles of a band for one
 * block take no more than `bytes` where that is possible. */
Bands THNN_(paddedLines_bands)(const THNNConvolution *geometry, bool copyPerTap, int64_t most,
                               int64_t leastPlanes, int64_t bytes);

/* Whether nothing needs copying: with one tap, map positions can be image positions. */
bool THNN_(paddedLines_areFlat)(const THNNConvolution *geometry);
/* Cuts the map of such a convolution into flat bands of `positions` to twice as many neighbouring
 * positions of one sample, and the image planes into blocks of `planes`. */
Bands THNN_(paddedLines_flatBands)(const THNNConvolution *geometry, int64_t positions,
                                   int64_t planes);
Band THNN_(paddedLines_band)(const THNNConvolution *geometry, const Bands *bands, int64_t index);

/* The number of elements of a band's padded tiles for one block, and the most vectors of a band. */
int64_t THNN_(paddedLines_elements)(const THNNConvolution *geometry, const Bands *bands);
int64_t THNN_(paddedLines_vectors)(const THNNConvolution *geometry, const Bands *bands);

/* What filling the padded tiles of all bands takes. */
typedef struct LineCounts {
  double fetched; /* vectors of image lines */
  double copies;  /* copies of lines */
  double copied;  /* vectors of these copies; */
  double mixed;   /* or of copies whose lanes are shuffled, with a stride */
} LineCounts;

LineCounts THNN_(paddedLines_counts)(const THNNConvolution *geometry, const Bands *bands);
/* Fills the padded tiles of the block of image planes that begins with `firstPlane`. Flat bands
 * have no padded tiles: their vectors are listed in the image. */
void THNN_(paddedLines_fill)(const THNNConvolution *geometry, const Bands *bands, const Band *band,
                             int64_t firstPlane, const real *image, real *padded);

/* Fills a copy of `lines` lines and `width` columns with every stride-th image column, and with
 * zeros outside the image. Its first element is (line, column) of the plane's slice, which can be
 * outside. */
void THNN_(paddedLines_copy)(const THNNConvolution *geometry, int64_t stride, int64_t width,
                             const real *slice, int64_t line, int64_t column, int64_t lines,
                             real *copy);

/* Lists the offsets at which the first position of a padded tile sees each plane of a block through
 * each tap. With flat bands they are offsets in the image. */
void THNN_(paddedLines_offsets)(const THNNConvolution *geometry, const Bands *bands,
                                int64_t *offset);

/* Lists the vectors of a band, as positions in the padded tiles and in the map's first plane: the
 * whole vectors, then the partial ones at the ends of lines. */
Vectors THNN_(paddedLines_list)(const THNNConvolution *geometry, const Bands *bands,
                                const Band *band, THNNPosition *at);

#endif
