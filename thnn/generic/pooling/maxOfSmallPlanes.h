/* Max pooling of small planes: those of a group lie in scratch with one plane in each lane of a vector,
 * so that it takes no longer where rows are short. */
#ifndef THNN_GENERIC_PLANE_MAX_H
#define THNN_GENERIC_PLANE_MAX_H

#include "generic/template.h"
#include "work/threads.h"

/* What is pooled, and how: in groups of planes, each thread with scratch of its own. The place of an
 * element is the sum over the dimensions of its number times placeStep; numbers begin where the window
 * says and rise by numberStep from tap to tap. */
typedef struct THNN_(PlaneMax) {
  int64_t planes;
  int64_t input[3], output[3]; /* sizes of a plane, depth first; 1 where unused */
  int64_t dilation[3], numberStep[3], placeStep[3];
  THNN_(Place) none; /* the place where nothing exceeds the start */
  real start;
  /* The rest is filled in. */
  THNNBlocks groups;
  int threads;
  size_t rowPlaces, windows[3], lanes, best, bestPlaces, places, threadBytes;
} THNN_(PlaneMax);

/* `windowRows` is the largest number of input rows under a window, `taps` that of its elements.
 * Returns false where rows of the planes are better. */
bool THNN_(preparePlaneMax)(THNN_(PlaneMax) * work, const THNNState *state, int64_t windowRows,
                            int64_t taps);

/* The memory of the windows along a dimension, one for each output position. */
THNNTapSpan *THNN_(planeWindows)(const THNN_(PlaneMax) * work, int dimension, char *scratch);

/* output = the greatest values of the windows of a group of planes, of equals the first, and the
 * result their places; both and the input lie plane after plane. */
const THNN_(Place) * THNN_(maxOfPlanes)(const THNN_(PlaneMax) * work, int64_t planes,
                                        const real *input, char *scratch, real *output);

#endif
