/* Dropout: sets elements to 0 by chance, and lets the others make up for them.
 *   input, output, noise   any shape
 * noise = 0 with probability p, else 1 / (1 - p);  output = noise * input.
 * gradInput = noise * gradOutput is RReLU's. */
#include "generic/activation/checks.h"
#include "generic/template.h"

#include <stdio.h>

#ifdef THNN_ONCE
THNNDropped THNN_Dropout_check(const char *function, double p, int64_t seed)
{
  if (!(p >= 0 && p <= 1)) {
    char found[32];
    snprintf(found, sizeof found, "%g", p);
    THNN_reject(function, "p", 5, "a probability from 0 to 1", found);
  }
  THNNDropped dropped = {.seed = (uint64_t)seed, .least = UINT32_MAX};
  if (p < 1) {
    dropped.least = (uint32_t)(p * ((int64_t)1 << 32));
    dropped.factor = 1 / (1 - p);
  }
  return dropped;
}
#endif

void THNN_(Dropout_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                 THTensor *noise, double p, int64_t seed)
{
  const char *function = "Dropout_updateOutput";
  const THNNDropped dropped = THNN_Dropout_check(function, p, seed);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOutLike(&plan, output, 3, input);
  THNNBuffer *drawn = THNN_planOutLike(&plan, noise, 4, input);
  THNN_planAcquire(&plan);

  const real *x = in->data;
  real *y = out->data, *factors = drawn->data;
  const THNNBlocks blocks = THNN_blocks(THTensor_(nElement)(input));
  /* An element takes as long as five or six that are copied (a million on a Zen 4). */
  const int threads = THNN_threads(state, blocks.count, 5 * (double)blocks.elements);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++) {
    const int64_t at = i * blocks.length;
    THNN_(simd).random.dropout(THNN_blockLength(&blocks, i), at, &dropped, x + at, factors + at,
                               y + at);
  }
  THNN_planRelease(&plan);
}
