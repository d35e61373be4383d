#include "geometry/fractional.h"

#include <stdio.h>

#include "geometry/pooling.h"

/* Checks that the regions, which are `pool` wide and begin at least one element apart, fit into the
 * input with an element to spare. */
static void checkRoom(const THNNFractionalArguments *a, int i, int64_t input)
{
  const int64_t most = input - a->pool[i].value;
  if (a->output[i].value <= most)
    return;
  char expected[96], found[32];
  snprintf(expected, sizeof expected, "at most %lld for an input of %lld and %s = %lld",
           (long long)most, (long long)input, a->pool[i].name, (long long)a->pool[i].value);
  snprintf(found, sizeof found, "%lld", (long long)a->output[i].value);
  THNN_reject(a->function, a->output[i].name, a->output[i].position, expected, found);
}

/* Checks that gradOutput has the output's sizes. It may have more planes than the output: its first
 * planes are used, and the others are ignored. */
static void checkBackward(const THNNFractionalArguments *a, const THNNFractional *f,
                          int64_t elements)
{
  int64_t wanted[5];
  const int nDimension = THNN_fractionalOutputSize(f, a->input, wanted);
  THNN_checkPlanes(a->function, a->gradOutput, nDimension, wanted, f->nDimension, a->layout);
  THNN_checkElements(a->function, a->indices, elements, "one for each element of the output");
}

THNNFractional THNN_fractionalCheck(const THNNFractionalArguments *a)
{
  THNN_checkDimensions(a->function, a->input, a->nDimension + 1, a->nDimension + 2, a->layout);
  THNN_elements(a->function, a->input);
  THNN_checkPlaces(a->function, a->input, a->nDimension);
  const bool forward = a->gradOutput.nDimension == THNN_NOT_PRESENT;
  const int leading = a->input.nDimension - a->nDimension;
  THNNFractional f = {.planes = THNN_product(leading, a->input.size),
                      .nDimension = a->nDimension,
                      .input = {1, 1, 1},
                      .output = {1, 1, 1},
                      .pool = {1, 1, 1}};
  for (int i = 0; i < a->nDimension; i++) {
    const int d = i + 3 - a->nDimension;
    f.input[d] = a->input.size[leading + i];
    f.output[d] = a->output[i].value;
    THNN_checkPositive(a->function, a->output[i]);
    if (!forward)
      continue;
    f.pool[d] = a->pool[i].value;
    THNN_checkPositive(a->function, a->pool[i]);
    checkRoom(a, i, f.input[d]);
  }
  const int64_t size[] = {f.planes, f.output[0], f.output[1], f.output[2]};
  const int64_t elements = THNN_elements(a->function, THNN_makeShape("output", 3, 4, size));
  if (forward)
    THNN_checkElements(a->function, a->randomSamples, f.planes * f.nDimension,
                       "one for each plane and dimension");
  else
    checkBackward(a, &f, elements);
  return f;
}

int THNN_fractionalOutputSize(const THNNFractional *f, THNNShape input, int64_t *size)
{
  const int leading = input.nDimension - f->nDimension;
  for (int i = 0; i < leading; i++)
    size[i] = input.size[i];
  for (int i = 0; i < f->nDimension; i++)
    size[leading + i] = f->output[3 - f->nDimension + i];
  return input.nDimension;
}
