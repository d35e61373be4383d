/* Linear layer.
 *   input    [batch x] inputs      output   [batch x] outputs
 *   weight   outputs x inputs      bias     outputs
 * output = bias + weight * input;  gradInput = weight^T * gradOutput;  gradWeight += scale *
 * gradOutput * input^T;  gradBias += scale * gradOutput; both summed over the batch.
 *
 * An input with another number of dimensions is ignored, as in the original: output and gradients
 * stay as they are, and gradInput becomes 0. */
#include "call/state.h"
#include "generic/linear/checks.h"
#include "generic/shared/matrix.h"
#include "work/scratch.h"

#ifdef THNN_ONCE
THNNLinear THNN_Linear_shapeCheck(const char *function, THNNShape input, THNNShape gradOutput,
                                  THNNShape weight, THNNShape bias)
{
  THNN_checkGiven(function, input);
  THNN_checkDimensions(function, weight, 2, 2, "outputs x inputs");
  THNN_checkBlasSizes(function, weight);
  THNN_elements(function, weight);
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkGiven(function, gradOutput);
  if (input.nDimension != 1 && input.nDimension != 2)
    return (THNNLinear){0, 0, 0};

  const bool batched = input.nDimension == 2;
  const THNNLinear sizes = {batched ? input.size[0] : 1, weight.size[1], weight.size[0]};
  const int64_t inputSize[] = {sizes.batch, sizes.inputs};
  const int64_t outputSize[] = {sizes.batch, sizes.outputs};
  THNN_checkDimensions(function, input, 1, 2, "[batch x] inputs");
  THNN_checkSizes(function, input, input.nDimension, inputSize + !batched, "[batch x] inputs");
  THNN_checkBlasSizes(function, input);
  THNN_elements(function, input);
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkSizes(function, gradOutput, input.nDimension, outputSize + !batched,
                    "[batch x] outputs");
  if (THNN_given(bias))
    THNN_checkVector(function, bias, sizes.outputs, "outputs");
  return sizes;
}
#endif

/* What a state keeps of a weight that stays as it is. Its transpose follows this struct. */
typedef struct KeptWeight {
  THNNKept head;
  THNNLinear sizes;
  const real *weight; /* its address stands for its contents */
} KeptWeight;

static real *layOutKept(const THNNLinear *sizes, KeptWeight **kept, Scratch *scratch)
{
  *kept = THNN_take(scratch, 1, sizeof(KeptWeight));
  return THNN_take(scratch, sizes->inputs * sizes->outputs, sizeof(real));
}

static size_t keptBytes(const THNNLinear *sizes)
{
  KeptWeight *kept;
  Scratch needed = {0};
  layOutKept(sizes, &kept, &needed);
  return needed.used;
}

/* Where a block has the transposed weight. */
static real *transposedIn(const void *block, const THNNLinear *sizes)
{
  KeptWeight *kept;
  Scratch whole = {.base = (void *)block};
  return layOutKept(sizes, &kept, &whole);
}

/* The transpose that a state keeps of this weight; NULL if it keeps none, or that of another
 * weight. */
static const real *findKept(const THNNState *state, const THNNLinear *sizes, const real *weight)
{
  const KeptWeight *kept = (const KeptWeight *)THNN_keptBy(state, THNN_KEPT_LINEAR, sizeof(real));
  const bool found = kept && kept->weight == weight && kept->sizes.inputs == sizes->inputs &&
                     kept->sizes.outputs == sizes->outputs;
  return found ? transposedIn(kept, sizes) : NULL;
}

/* Transposes a weight into a block. */
static const real *fillKept(void *block, const THNNLinear *sizes, const real *weight)
{
  real *transposed = transposedIn(block, sizes);
  *(KeptWeight *)block = (KeptWeight){{THNN_KEPT_LINEAR, sizeof(real)}, *sizes, weight};
  THNN_(simd).products.transpose(sizes->outputs, sizes->inputs, weight, sizes->inputs, transposed,
                                 sizes->outputs);
  return transposed;
}

void THNN_(Linear_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                THTensor *weight, THTensor *bias, THTensor *addBuffer)
{
  const char *function = "Linear_updateOutput";
  const THNNLinear sizes = THNN_Linear_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                                                  THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5));
  THNN_checkGiven(function, THNN_SHAPE(output, 3));
  (void)addBuffer;
  if (sizes.batch == 0)
    return;
  const int64_t outputSize[] = {sizes.batch, sizes.outputs};
  THNNState settings = THNN_stateFor(state, THNN_OUTPUT);
  const bool keeps =
      settings.kept && THTensor_(isContiguous)(weight) &&
      THNN_(matrix_prefersTransposed)(&settings, sizes.batch, sizes.outputs, sizes.inputs);
  const real *kept = keeps ? findKept(&settings, &sizes, THTensor_(data)(weight)) : NULL;
  const bool leaves = keeps && !kept && !TH_ATOMIC_LOAD(settings.kept);
  /* With a transpose, products take half the time: another thread is worth waking only for twice
   * the work. */
  if (kept || leaves)
    settings.minimumWork *= 2;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out =
      THNN_planOut(&plan, output, 3, input->nDimension, outputSize + (input->nDimension == 1));
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 4);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 5) : NULL;
  const THNNRoom room = THNN_(matrix_room)(&settings, sizes.outputs, sizes.batch, sizes.inputs,
                                           !kept && !leaves, false);
  THNNBuffer *scratch = THNN_planRoom(&plan, room);
  THNNBuffer *left = leaves ? THNN_planKept(&plan, keptBytes(&sizes)) : NULL;
  THNN_planAcquire(&plan);

  const real *added = start ? start->data : NULL;
  if (left)
    kept = fillKept(left->data, &sizes, matrix->data);
  if (kept)
    THNN_(matrix_affineTransposed)(&settings, sizes.batch, sizes.outputs, sizes.inputs, in->data,
                                   kept, added, out->data, THNN_roomIn(room, scratch));
  else
    THNN_(matrix_affine)(state, sizes.batch, sizes.outputs, sizes.inputs, in->data, sizes.inputs,
                         matrix->data, added, out->data, sizes.outputs, THNN_roomIn(room, scratch));
  THNN_planRelease(&plan);
  if (left)
    THNN_leaveKept(&settings, left->data);
}

void THNN_(Linear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                   THTensor *gradInput, THTensor *weight)
{
  const char *function = "Linear_updateGradInput";
  const THNNLinear sizes =
      THNN_Linear_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                             THNN_SHAPE(weight, 5), THNN_NO_SHAPE);
  if (!gradInput)
    return;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 5);
  const THNNRoom room =
      THNN_(matrix_room)(state, sizes.inputs, sizes.batch, sizes.outputs, false, false);
  THNNBuffer *scratch = THNN_planRoom(&plan, room);
  THNN_planAcquire(&plan);

  if (sizes.batch == 0) {
    THNN_(simd).pointwise.fill(THTensor_(nElement)(input), 0, to->data);
  } else {
    const Matrix w = {matrix->data, sizes.inputs, false};
    const Matrix g = {from->data, sizes.outputs, false};
    THNN_(matrix_multiply)(state, sizes.inputs, sizes.batch, sizes.outputs, 1, w, g, 0, to->data,
                           THNN_roomIn(room, scratch));
  }
  THNN_planRelease(&plan);
}

void THNN_(Linear_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                     THTensor *gradInput, THTensor *weight, THTensor *bias,
                                     THTensor *gradWeight, THTensor *gradBias, THTensor *addBuffer,
                                     accreal scale)
{
  const char *function = "Linear_accGradParameters";
  const THNNLinear sizes = THNN_Linear_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 7),
      bias ? THNN_SHAPE(gradBias, 8) : THNN_NO_SHAPE);
  (void)gradInput, (void)weight, (void)addBuffer;
  if (bias)
    THNN_checkGiven(function, THNN_SHAPE(gradBias, 8));
  if (sizes.batch == 0)
    return;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *matrix = THNN_planInOut(&plan, gradWeight, 7);
  THNNBuffer *vector = bias ? THNN_planInOut(&plan, gradBias, 8) : NULL;
  const THNNRoom room =
      THNN_(matrix_room)(state, sizes.inputs, sizes.outputs, sizes.batch, false, true);
  THNNBuffer *scratch = THNN_planRoom(&plan, room);
  THNN_planAcquire(&plan);

  const Matrix x = {in->data, sizes.inputs, false}, g = {from->data, sizes.outputs, true};
  THNN_(matrix_multiply)(state, sizes.inputs, sizes.outputs, sizes.batch, (real)scale, x, g, 1,
                         matrix->data, THNN_roomIn(room, scratch));
  if (vector)
    THNN_(matrix_addRowSum)(state, sizes.batch, sizes.outputs, (real)scale, from->data,
                            sizes.outputs, vector->data);
  THNN_planRelease(&plan);
}
