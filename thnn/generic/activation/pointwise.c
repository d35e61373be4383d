#include "generic/activation/pointwise.h"

#include "generic/activation/checks.h"

#ifdef THNN_ONCE
void THNN_pointwise_shapeCheck(const char *function, THNNShape saved, THNNShape gradOutput)
{
  if (!THNN_given(saved))
    THNN_rejectShape(function, saved, "a tensor");
  THNN_checkSameElements(function, gradOutput, saved);
}

void THNN_pointwise_sizeCheck(const char *function, THNNShape saved, THNNShape gradOutput)
{
  THNN_pointwise_shapeCheck(function, saved, gradOutput);
  THNN_checkSizes(function, gradOutput, saved.nDimension, saved.size, saved.name);
}

void THNN_pointwise_inputCheck(const char *function, THNNShape input, THNNShape gradOutput)
{
  if (THNN_given(input) && THNN_given(gradOutput))
    THNN_checkSameElements(function, input, gradOutput);
}
#endif

/* Declares the tensor that is read, and also written if inplace. */
static THNNBuffer *planSource(THNNPlan *plan, bool inplace, THTensor *source, const char *name,
                              int position)
{
  THNNBuffer *buffer = THNN_planTensor(plan, inplace ? THNN_ROLE_INOUT : THNN_ROLE_IN,
                                       THNN_ELEMENT_OF(source), source, name, position);
  THNN_planElementwise(buffer);
  return buffer;
}

void THNN_(pointwise_plan)(THNNPlan *plan, bool inplace, THTensor *input, THTensor *output,
                           THNNBuffer **in, THNNBuffer **out)
{
  *in = *out = planSource(plan, inplace, input, "input", 2);
  if (inplace)
    THNN_planShare(plan, output, 3, input);
  else
    THNN_planElementwise(*out = THNN_planOutLike(plan, output, 3, input));
}

static int threadsFor(const Pointwise *run, const THNNBlocks *blocks)
{
  return THNN_threads(run->state, blocks->count, (double)blocks->elements * run->cost);
}

void THNN_(pointwise_forward)(const Pointwise *run, Map map, THTensor *input, THTensor *output)
{
  THNNPlan plan;
  THNNBuffer *in, *out;
  THNN_planStart(&plan, run->function, run->state);
  THNN_(pointwise_plan)(&plan, run->inplace, input, output, &in, &out);
  THNN_planAcquire(&plan);

  const real *x = in->data;
  real *y = out->data;
  const THNNBlocks blocks = THNN_blocks(THTensor_(nElement)(input));
  const bool stream = !run->inplace && THNN_streamsResult(1, blocks.elements, sizeof(real));
#pragma omp parallel for num_threads(threadsFor(run, &blocks)) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++) {
    const int64_t n = THNN_blockLength(&blocks, i), at = i * blocks.length;
    if (stream)
      THNN_(simd).pointwise.streamMap(map, n, x + at, run->parameters, y + at);
    else
      map(n, x + at, run->parameters, y + at);
  }
  THNN_planRelease(&plan);
}

void THNN_(pointwise_backward)(const Pointwise *run, Map2 map, THTensor *saved,
                               const char *savedName, int savedPosition, THTensor *gradOutput,
                               THTensor *gradInput)
{
  const THNNShape of =
      THNN_makeShape(savedName, savedPosition, saved ? saved->nDimension : THNN_NULL_TENSOR,
                     saved ? saved->size : NULL);
  if (run->sameSizes)
    THNN_pointwise_sizeCheck(run->function, of, THNN_SHAPE(gradOutput, 3));
  else
    THNN_pointwise_shapeCheck(run->function, of, THNN_SHAPE(gradOutput, 3));
  THTensor *input = run->compared;
  THNN_pointwise_inputCheck(run->function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3));
  THTensor *like = run->like ? run->like : saved;

  THNNPlan plan;
  THNN_planStart(&plan, run->function, run->state);
  THNNBuffer *kept =
      THNN_planTensor(&plan, THNN_ROLE_IN, THNN_ELEMENT_OF(saved), saved, savedName, savedPosition);
  THNNBuffer *from = planSource(&plan, run->inplace, gradOutput, "gradOutput", 3);
  THNNBuffer *to = from;
  if (run->inplace)
    THNN_planShare(&plan, gradInput, 4, gradOutput);
  else
    THNN_planElementwise(to = THNN_planOutLike(&plan, gradInput, 4, like));
  THNN_planAcquire(&plan);

  const real *x = kept->data, *g = from->data;
  real *y = to->data;
  const THNNBlocks blocks = THNN_blocks(THTensor_(nElement)(gradOutput));
  const bool stream = !run->inplace && THNN_streamsResult(2, blocks.elements, sizeof(real));
#pragma omp parallel for num_threads(threadsFor(run, &blocks)) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++) {
    const int64_t n = THNN_blockLength(&blocks, i), at = i * blocks.length;
    if (stream)
      THNN_(simd).pointwise.streamMap2(map, n, x + at, g + at, run->parameters,
                                       THNN_tuning.prefetchBytes, y + at);
    else
      map(n, x + at, g + at, run->parameters, y + at);
  }
  THNN_planRelease(&plan);
}
