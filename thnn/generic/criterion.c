#include "criterion.h"

#ifdef THNN_ONCE
void THNN_elementwiseCriterion_shapeCheck(const char *function, THNNShape input, THNNShape target,
                                          THNNShape output)
{
  THNN_checkNotEmpty(function, input);
  THNN_checkSameElements(function, target, input);
  if (output.nDimension != THNN_NOT_PRESENT)
    THNN_checkOneElement(function, output);
}
#endif

void THNN_(elementwiseCriterionForward)(const char *function, THNNState *state, THNN_(LossSum) sum,
                                        THTensor *input, THTensor *target, THTensor *output,
                                        bool sizeAverage)
{
  THNN_elementwiseCriterion_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3),
                                       THNN_SHAPE(output, 4));
  const int64_t elements = THTensor_(nElement)(input);
  const THNNBlocks blocks = THNN_blocks(elements);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *wanted = THNN_planIn(&plan, target, 3);
  THNNBuffer *out = THNN_planInOut(&plan, output, 4);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)blocks.count * sizeof(double));
  THNN_planAcquire(&plan);

  const real *x = in->data, *t = wanted->data;
  double *sums = scratch->data;
  const int threads = THNN_threads(state, blocks.count, (double)elements);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++)
    sums[i] = sum(THNN_blockLength(&blocks, i), x + i * blocks.length, t + i * blocks.length);

  double loss = 0;
  for (int64_t i = 0; i < blocks.count; i++)
    loss += sums[i];
  *(real *)out->data = (real)(sizeAverage ? loss / (double)elements : loss);
  THNN_planRelease(&plan);
}

void THNN_(elementwiseCriterionBackward)(const char *function, THNNState *state, THNN_(Map2) map,
                                         const real *parameters, THTensor *input, THTensor *target,
                                         THTensor *gradInput)
{
  THNN_elementwiseCriterion_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3),
                                       THNN_NO_SHAPE);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *wanted = THNN_planIn(&plan, target, 3);
  THNNBuffer *out = THNN_planOutLike(&plan, gradInput, 4, input);
  THNN_planElementwise(out);
  THNN_planAcquire(&plan);

  const real *x = in->data, *t = wanted->data;
  real *y = out->data;
  const THNNBlocks blocks = THNN_blocks(THTensor_(nElement)(input));
  const int threads = THNN_threads(state, blocks.count, (double)blocks.elements);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++) {
    const int64_t at = i * blocks.length;
    map(THNN_blockLength(&blocks, i), x + at, t + at, parameters, y + at);
  }
  THNN_planRelease(&plan);
}
