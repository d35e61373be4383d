/* Max pooling of small planes: a group of planes is copied to scratch with one plane in each lane
 * of a vector, so that vectors are full although rows are short. */
#ifndef THNN_GENERIC_MAX_OF_SMALL_PLANES_H
#define THNN_GENERIC_MAX_OF_SMALL_PLANES_H

#include "generic/template.h"
#include "work/threads.h"

/* What is pooled, and how the work is divided: into groups of planes, each thread with scratch of
 * its own. The place of an element is the sum over the dimensions of its number times placeStep; a
 * number begins with that of the window's THNNTapSpan and rises by numberStep from tap to tap. */
typedef struct MaxOfSmallPlanes {
  int64_t planes;
  int64_t input[3], output[3]; /* sizes of a plane, depth first; 1 where unused */
  int64_t dilation[3], numberStep[3], placeStep[3];
  int64_t windowRows; /* most input rows under a window */
  bool valuesOnly;    /* whether no places are wanted */
  Place none;         /* the place of a window in which no value exceeds `start` */
  real start;
  /* THNN_(maxOfSmallPlanes_plan) sets what follows. */
  THNNBlocks groups;
  int threads;
  size_t threadBytes;
} MaxOfSmallPlanes;

/* `taps` is the largest number of elements under a window. Returns false where pooling row by row
 * is faster. */
bool THNN_(maxOfSmallPlanes_plan)(MaxOfSmallPlanes *work, const THNNState *state, int64_t taps);

/* The place in scratch for the windows along a dimension, one for each output position. */
THNNTapSpan *THNN_(maxOfSmallPlanes_list)(const MaxOfSmallPlanes *work, int dimension,
                                          char *scratch);

/* output = the greatest values of the windows of a group of planes. Returns the places of these
 * values, of equal ones the first. Input, output and places are contiguous planes. */
const Place *THNN_(maxOfSmallPlanes_run)(const MaxOfSmallPlanes *work, int64_t planes,
                                         const real *input, char *scratch, real *output);

#endif
