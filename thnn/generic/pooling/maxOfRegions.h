/* The greatest values of regions of arbitrary bounds, row by row of the output: for adaptive max
 * pooling. */
#ifndef THNN_GENERIC_MAX_OF_REGIONS_H
#define THNN_GENERIC_MAX_OF_REGIONS_H

#include "generic/template.h"
#include "geometry/pooling.h"
#include "geometry/adaptive.h"

/* How the work is divided: into blocks of output rows, each thread with scratch of its own. */
typedef struct MaxOfRegions {
  int64_t planes, inputWidth, outputHeight, outputWidth;
  int64_t regionRows; /* most input rows of a region */
  int64_t columns;    /* columns of every region; 0 where regions differ */
  real start;         /* what a value must exceed */
  THNNBlocks blocks;
  int threads;
  size_t threadBytes; /* set by THNN_(maxOfRegions_plan), as blocks and threads are */
} MaxOfRegions;

void THNN_(maxOfRegions_plan)(MaxOfRegions *work, const THNNState *state);

/* The place in scratch for an output row's regions along x, one for each output column. */
THNNRange *THNN_(maxOfRegions_listRow)(const MaxOfRegions *work, char *scratch);

/* output[i] = the greatest value of region y x rowRegions[i]. Returns the places of these values,
 * of equal ones the first: the offset in the plane from element (y.begin, 0), or -1 where no value
 * exceeds `start`. */
const Place *THNN_(maxOfRegions_run)(const MaxOfRegions *work, const real *plane, THNNRange y,
                                     char *scratch, real *output);

#endif
