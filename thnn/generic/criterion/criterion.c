#include "generic/criterion/criterion.h"

#include "generic/criterion/checks.h"

#ifdef THNN_ONCE
void THNN_elementwiseCriterion_shapeCheck(const char *function, THNNShape input, THNNShape target,
                                          THNNShape weights, THNNShape output)
{
  THNN_checkNotEmpty(function, input);
  if (target.nDimension != THNN_NOT_PRESENT)
    THNN_checkSameElements(function, target, input);
  if (THNN_given(weights))
    THNN_checkSameElements(function, weights, input);
  if (output.nDimension != THNN_NOT_PRESENT)
    THNN_checkOneElement(function, output);
}
#endif

/* The operands as declared to the plan; NULL where the criterion has none. */
typedef struct Buffers {
  const THNNBuffer *input, *target, *weights;
} Buffers;

/* An outputPosition of 0 means that the function has no output. */
static void checkShapes(const Criterion *run, const THTensor *output, int outputPosition)
{
  const THTensor *input = run->input, *target = run->target, *weights = run->weights;
  THNN_elementwiseCriterion_shapeCheck(
      run->function, THNN_SHAPE(input, 2), run->inputOnly ? THNN_NO_SHAPE : THNN_SHAPE(target, 3),
      THNN_SHAPE(weights, 6),
      outputPosition && !run->longOutput ? THNN_SHAPE(output, outputPosition) : THNN_NO_SHAPE);
  if (outputPosition && run->longOutput)
    THNN_checkFirstElement(run->function, THNN_SHAPE(output, outputPosition));
}

static Buffers planOperands(THNNPlan *plan, const Criterion *run)
{
  THTensor *input = run->input, *target = run->target, *weights = run->weights;
  THNN_planStart(plan, run->function, run->state);
  Buffers buffers = {0};
  buffers.input = THNN_planIn(plan, input, 2);
  if (!run->inputOnly)
    buffers.target = THNN_planIn(plan, target, 3);
  if (weights)
    buffers.weights = THNN_planIn(plan, weights, 6);
  return buffers;
}

static LossOperands operandsAt(const Buffers *buffers, int64_t at)
{
  LossOperands of = {0};
  of.input = (const real *)buffers->input->data + at;
  if (buffers->target)
    of.target = (const real *)buffers->target->data + at;
  if (buffers->weights)
    of.weights = (const real *)buffers->weights->data + at;
  return of;
}

static int threadsFor(const Criterion *run, const THNNBlocks *blocks)
{
  return THNN_threads(run->state, blocks->count, (double)blocks->elements * (1 + run->work));
}

/* What one block of elements contributes. */
typedef struct Part {
  double loss;
  bool refused;
} Part;

void THNN_(criterion_forward)(const Criterion *run, LossSum sum, THTensor *output, bool sizeAverage)
{
  const int outputPosition = run->inputOnly ? 3 : 4;
  checkShapes(run, output, outputPosition);
  const THNNBlocks blocks = THNN_blocks(THTensor_(nElement)(run->input));

  THNNPlan plan;
  const Buffers buffers = planOperands(&plan, run);
  THNNBuffer *out = THNN_planInOut(&plan, output, outputPosition);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)blocks.count * sizeof(Part));
  THNN_planAcquire(&plan);

  Part *parts = scratch->data;
#pragma omp parallel for num_threads(threadsFor(run, &blocks)) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++) {
    const LossOperands of = operandsAt(&buffers, i * blocks.length);
    const int64_t length = THNN_blockLength(&blocks, i);
    parts[i].refused = run->accepts && !run->accepts(length, of.input);
    parts[i].loss = sum(length, &of, run->parameters);
  }

  double loss = 0;
  bool refused = false;
  for (int64_t i = 0; i < blocks.count; i++) {
    loss += parts[i].loss;
    refused = refused || parts[i].refused;
  }
  if (!refused)
    *(real *)out->data = (real)(sizeAverage ? loss / (double)blocks.elements : loss);
  THNN_planRelease(&plan);
  if (refused)
    THNN_reject(run->function, "input", 2, run->domain, "others");
}

/* A gradient without weights, which is written with streaming stores. */
typedef struct Streamed {
  const Criterion *run;
  const Buffers *buffers;
  LossGradient gradient;
  int64_t first; /* the index of its first element in the tensors */
} Streamed;

/* Prefetches what the gradient of n elements reads. */
static void fetchOperands(const Criterion *run, const LossOperands *of, int64_t n)
{
  const int64_t bytes = n * (int64_t)sizeof(real);
  if (!run->targetOnly)
    THNN_fetchToSecondLevel(of->input, bytes, THNN_tuning.prefetchBytes);
  if (of->target)
    THNN_fetchToSecondLevel(of->target, bytes, THNN_tuning.prefetchBytes);
}

static void makeGradient(const void *context, int64_t at, int64_t n, real *gradInput)
{
  const Streamed *streamed = context;
  const LossOperands of = operandsAt(streamed->buffers, streamed->first + at);
  fetchOperands(streamed->run, &of, n);
  streamed->gradient(n, &of, streamed->run->parameters, gradInput);
}

void THNN_(criterion_backward)(const Criterion *run, LossGradient gradient, THTensor *gradInput)
{
  checkShapes(run, NULL, 0);
  const THNNBlocks blocks = THNN_blocks(THTensor_(nElement)(run->input));

  THNNPlan plan;
  const Buffers buffers = planOperands(&plan, run);
  THNNBuffer *out = THNN_planOutLike(&plan, gradInput, 4, run->input);
  THNN_planElementwise(out);
  THNN_planAcquire(&plan);

  real *y = out->data;
  const int read = run->targetOnly || run->inputOnly ? 1 : 0;
  const bool leaves = THNN_streamsResult(read, blocks.elements, sizeof(real));
  const bool stream = leaves && !buffers.weights;
#pragma omp parallel for num_threads(threadsFor(run, &blocks)) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++) {
    const int64_t at = i * blocks.length, n = THNN_blockLength(&blocks, i);
    if (stream) {
      const Streamed streamed = {run, &buffers, gradient, at};
      THNN_(simd).pointwise.streamMade(makeGradient, &streamed, n, y + at);
    } else {
      const LossOperands of = operandsAt(&buffers, at);
      gradient(n, &of, run->parameters, y + at);
    }
  }
  THNN_planRelease(&plan);
}
