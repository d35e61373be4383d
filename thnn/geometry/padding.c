#include "geometry/padding.h"

#include "work/sizes.h"

static const char *const layouts[2] = {"[batch x] planes x height x width",
                                       "[batch x] planes x depth x height x width"};

/* Checks that reflection and the other end reach no farther than there are elements. */
static void checkReach(const THNNPaddingArguments *a, THNNScalar scalar, const THNNPadding *p,
                       int dimension)
{
  if (a->mode == THNN_PADDING_REFLECTION)
    THNN_checkAtMost(a->function, scalar, p->input[dimension] - 1);
  if (a->mode == THNN_PADDING_CIRCULAR)
    THNN_checkAtMost(a->function, scalar, maximum(THNN_paddedKept(p, dimension), 0));
}

static void checkSizes(const THNNPaddingArguments *a, const THNNPadding *p)
{
  const int first = 3 - a->nDimension;
  const THNNText text = THNN_shapeText(THNN_makeShape("", 0, a->nDimension, p->output + first));
  for (int d = first; d < 3; d++)
    if (p->output[d] < 1)
      THNN_rejectShape(a->function, a->input,
                       "an input from which the padding leaves something (the output would be %s)",
                       text.characters);
}

THNNPadding THNN_paddingCheck(const THNNPaddingArguments *a)
{
  const char *layout = layouts[a->nDimension - 2];
  THNN_checkDimensions(a->function, a->input, a->nDimension + 1, a->nDimension + 2, layout);
  THNN_elements(a->function, a->input);
  const int leading = a->input.nDimension - a->nDimension;
  THNNPadding p = {.mode = a->mode,
                   .planes = THNN_product(leading, a->input.size),
                   .input = {1, 1, 1},
                   .output = {1, 1, 1}};
  for (int i = 0; i < a->nDimension; i++) {
    const int d = i + 3 - a->nDimension;
    p.input[d] = a->input.size[leading + i];
    p.before[d] = a->before[i].value;
    p.output[d] = p.input[d] + a->before[i].value + a->after[i].value;
    checkReach(a, a->before[i], &p, d);
    checkReach(a, a->after[i], &p, d);
  }
  checkSizes(a, &p);
  const int64_t size[] = {p.planes, p.output[0], p.output[1], p.output[2]};
  THNN_elements(a->function, THNN_makeShape("output", 3, 4, size));
  if (a->gradOutput.nDimension != THNN_NOT_PRESENT) {
    int64_t wanted[5];
    const int nDimension = THNN_paddedSize(&p, a->nDimension, a->input, wanted);
    THNN_checkPlanes(a->function, a->gradOutput, nDimension, wanted, a->nDimension, layout);
  }
  return p;
}

THNNPadding THNN_spatialPaddingCheck(const char *function, THNNPaddingMode mode, THNNShape input,
                                     THNNShape gradOutput, int firstPosition, int pad_l, int pad_r,
                                     int pad_t, int pad_b)
{
  const int at = firstPosition;
  const THNNPaddingArguments arguments = {
      .function = function,
      .nDimension = 2,
      .mode = mode,
      .input = input,
      .gradOutput = gradOutput,
      .before = {THNN_SCALAR(pad_t, at + 2), THNN_SCALAR(pad_l, at)},
      .after = {THNN_SCALAR(pad_b, at + 3), THNN_SCALAR(pad_r, at + 1)}};
  return THNN_paddingCheck(&arguments);
}

int THNN_paddedRuns(const THNNPadding *p, int dimension, int64_t index,
                    THNNRange run[THNN_PADDED_RUNS])
{
  const int64_t before = p->before[dimension], output = p->output[dimension];
  const int64_t last = p->input[dimension] - 1;
  int64_t begin[THNN_PADDED_RUNS], end[THNN_PADDED_RUNS];
  begin[1] = before + index;
  end[1] = begin[1] + 1;
  if (p->mode == THNN_PADDING_REPLICATION) {
    begin[0] = 0;
    end[0] = index == 0 ? before : 0;
    begin[2] = before + last + 1;
    end[2] = index == last ? output : begin[2];
  } else if (p->mode == THNN_PADDING_CIRCULAR) {
    const int64_t kept = THNN_paddedKept(p, dimension), inside = before + last + 1;
    begin[0] = before + index - kept;
    end[0] = minimum(begin[0] + 1, before);
    begin[2] = before + index + kept;
    end[2] = begin[2] + (begin[2] >= inside);
  } else if (p->mode == THNN_PADDING_CONSTANT) {
    begin[0] = end[0] = begin[2] = end[2] = 0;
  } else {
    begin[0] = before - index;
    end[0] = begin[0] + (index > 0);
    begin[2] = before + 2 * last - index;
    end[2] = begin[2] + (index < last);
  }
  for (int i = 0; i < THNN_PADDED_RUNS; i++) {
    run[i].begin = begin[i] > 0 ? begin[i] : 0;
    run[i].end = end[i] < output ? end[i] : output;
  }
  return THNN_PADDED_RUNS;
}

int THNN_paddedSize(const THNNPadding *p, int nDimension, THNNShape input, int64_t *size)
{
  const int leading = input.nDimension - nDimension;
  for (int i = 0; i < leading; i++)
    size[i] = input.size[i];
  for (int i = 0; i < nDimension; i++)
    size[leading + i] = p->output[3 - nDimension + i];
  return input.nDimension;
}
