#include "geometry/resampling.h"

static const char *const layouts[2] = {"batch x planes x height x width",
                                       "batch x planes x depth x height x width"};

static void checkForward(const THNNResamplingArguments *a, THNNResampling *r)
{
  THNN_checkDimensions(a->function, a->input, a->nDimension + 2, a->nDimension + 2,
                       layouts[a->nDimension - 2]);
  THNN_elements(a->function, a->input);
  r->batch = a->input.size[0];
  r->planes = a->input.size[1];
  for (int i = 0; i < a->nDimension; i++) {
    r->input[i + 3 - a->nDimension] = a->input.size[2 + i];
    if (a->input.size[2 + i] > INT32_MAX)
      THNN_rejectShape(a->function, a->input, "sizes of at most %d", INT32_MAX);
  }
}

static void checkBackward(const THNNResamplingArguments *a, THNNResampling *r)
{
  THNN_checkPositive(a->function, a->batch);
  THNN_checkPositive(a->function, a->planes);
  r->batch = a->batch.value;
  r->planes = a->planes.value;
  int64_t input[5] = {r->batch, r->planes}, output[5] = {r->batch, r->planes};
  for (int i = 0; i < a->nDimension; i++) {
    THNN_checkPositive(a->function, a->inputSize[i]);
    input[2 + i] = r->input[i + 3 - a->nDimension] = a->inputSize[i].value;
    output[2 + i] = a->outputSize[i].value;
  }
  THNN_checkSizes(a->function, a->gradOutput, a->nDimension + 2, output,
                  layouts[a->nDimension - 2]);
  THNN_elements(a->function, THNN_makeShape("gradInput", 3, a->nDimension + 2, input));
}

THNNResampling THNN_resamplingCheck(const THNNResamplingArguments *a)
{
  THNNResampling r = {.input = {1, 1, 1}, .output = {1, 1, 1}};
  for (int i = 0; i < a->nDimension; i++) {
    THNN_checkPositive(a->function, a->outputSize[i]);
    r.output[i + 3 - a->nDimension] = a->outputSize[i].value;
  }
  if (a->gradOutput.nDimension == THNN_NOT_PRESENT)
    checkForward(a, &r);
  else
    checkBackward(a, &r);
  const int64_t size[] = {r.batch, r.planes, r.output[0], r.output[1], r.output[2]};
  THNN_elements(a->function, THNN_makeShape("output", 3, 5, size));
  return r;
}
