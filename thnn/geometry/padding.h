/* Padding in two or three dimensions. Along each dimension, every output index shows one input
 * index, or none where a constant value stands. */
#ifndef THNN_PADDING_H
#define THNN_PADDING_H

#include "call/check.h"
#include "simd/range.h"

typedef enum THNNPaddingMode {
  THNN_PADDING_CONSTANT,    /* a value */
  THNN_PADDING_REFLECTION,  /* mirrored at the first and the last element, which are not repeated */
  THNN_PADDING_REPLICATION, /* the first and the last element, over and over */
  THNN_PADDING_CIRCULAR     /* what is at the other end, of the elements that are not cropped */
} THNNPaddingMode;

/* The arguments of a padding module. The arrays hold nDimension values, outermost dimension first;
 * a negative padding crops. */
typedef struct THNNPaddingArguments {
  const char *function;
  int nDimension; /* 2 or 3 */
  THNNPaddingMode mode;
  THNNShape input, gradOutput;
  THNNScalar before[3], after[3];
} THNNPaddingArguments;

typedef struct THNNPadding {
  THNNPaddingMode mode;
  int64_t planes;                         /* planes of the whole batch */
  int64_t input[3], output[3], before[3]; /* at 0: 1, 1 and 0 where there are two dimensions */
} THNNPadding;

THNNPadding THNN_paddingCheck(const THNNPaddingArguments *arguments);

/* The elements that are not cropped along one dimension. */
static inline int64_t THNN_paddedKept(const THNNPadding *padding, int dimension)
{
  const int64_t before = padding->before[dimension];
  const int64_t after = padding->output[dimension] - padding->input[dimension] - before;
  return padding->input[dimension] + (before < 0 ? before : 0) + (after < 0 ? after : 0);
}

/* Checks the arguments of a module in two dimensions; `firstPosition` is the position of pad_l. */
THNNPadding THNN_spatialPaddingCheck(const char *function, THNNPaddingMode mode, THNNShape input,
                                     THNNShape gradOutput, int firstPosition, int pad_l, int pad_r,
                                     int pad_t, int pad_b);

/* The output indices that show the input itself along one dimension: index i + before shows i.
 * Empty when negative padding on one side crops the whole input. */
static inline THNNRange THNN_paddedInside(const THNNPadding *padding, int dimension)
{
  const int64_t before = padding->before[dimension], output = padding->output[dimension];
  int64_t begin = before > 0 ? before : 0, end = before + padding->input[dimension];
  begin = begin < output ? begin : output;
  end = end < output ? end : output;
  return (THNNRange){begin, end > begin ? end : begin};
}

/* The input index that an output index shows along one dimension; -1 where it shows the
 * constant. */
static inline int64_t THNN_paddedIndex(const THNNPadding *padding, int dimension, int64_t index)
{
  const int64_t at = index - padding->before[dimension], last = padding->input[dimension] - 1;
  if (padding->mode == THNN_PADDING_REPLICATION)
    return at < 0 ? 0 : at > last ? last : at;
  if (padding->mode == THNN_PADDING_CONSTANT)
    return at > last ? -1 : at < 0 ? -1 : at;
  if (padding->mode == THNN_PADDING_CIRCULAR) {
    const int64_t kept = THNN_paddedKept(padding, dimension);
    return at < 0 ? at + kept : at > last ? at - kept : at;
  }
  return at < 0 ? -at : at > last ? 2 * last - at : at;
}

/* Writes the runs of output indices that show one input index along one dimension, in ascending
 * order; some may be empty. Returns how many there are. */
enum { THNN_PADDED_RUNS = 3 };
int THNN_paddedRuns(const THNNPadding *padding, int dimension, int64_t index,
                    THNNRange run[THNN_PADDED_RUNS]);

/* Writes the output's sizes: the input's, except the last nDimension. Returns how many there
 * are. */
int THNN_paddedSize(const THNNPadding *padding, int nDimension, THNNShape input, int64_t *size);

#endif
