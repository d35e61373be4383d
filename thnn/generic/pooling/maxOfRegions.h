/* The greatest values of regions of arbitrary bounds, row by row of the output: for adaptive max
 * pooling. */
#ifndef THNN_GENERIC_REGION_MAX_H
#define THNN_GENERIC_REGION_MAX_H

#include "generic/template.h"
#include "geometry/pooling.h"
#include "geometry/adaptive.h"

/* How it is computed: in blocks of output rows, each thread with scratch of its own. */
typedef struct THNN_(RegionMax) {
  int64_t planes, inputWidth, outputHeight, outputWidth;
  int64_t columns; /* of every region along x; 0 where they differ */
  real start;      /* what a value must exceed */
  THNNBlocks blocks;
  int threads;
  size_t rowPlaces, best, bestPlaces, slid, slidPlaces, places, regions, threadBytes;
} THNN_(RegionMax);

/* `regionRows` is the largest number of input rows in a region. */
void THNN_(prepareRegionMax)(THNN_(RegionMax) * work, const THNNState *state, int64_t regionRows);

/* The memory of an output row's regions along x, one for each output column. */
THNNRange *THNN_(rowRegions)(const THNN_(RegionMax) * work, char *scratch);

/* output[i] = the greatest value of region y x rowRegions[i], the first of equals, and the result its
 * place: the element's number in the plane less that of the element (y.begin, 0), or -1 where nothing
 * exceeds the start. */
const THNN_(Place) * THNN_(maxOfRegions)(const THNN_(RegionMax) * work, const real *plane,
                                         THNNRange y, char *scratch, real *output);

#endif
