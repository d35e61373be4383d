#define _POSIX_C_SOURCE 200809L

#include "timings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "generic/template.h"

#include "generic/convolution/engine/algorithm.h"

static const double MOST_BYTES = 64e6;

static uint64_t randomState = 1;

static int64_t drawn(int64_t count, const int *of)
{
  randomState = randomState * 6364136223846793005u + 1442695040888963407u;
  return of[(int64_t)(randomState >> 33) % count];
}

#define DRAWN(...) drawn(sizeof((int[]){__VA_ARGS__}) / sizeof(int), (const int[]){__VA_ARGS__})

static THNNConvolution drawGeometry(void)
{
  THNNConvolution g = {.batch = DRAWN(1, 1, 2, 4, 8, 16),
                       .inputPlanes = DRAWN(1, 2, 3, 6, 8, 16, 24, 32, 64, 96, 128, 192, 256, 512),
                       .outputPlanes =
                           DRAWN(1, 2, 3, 6, 8, 16, 24, 32, 64, 96, 128, 192, 256, 512)};
  const int64_t dimensions = DRAWN(1, 2, 2, 2, 2, 3), kernel = DRAWN(1, 1, 2, 3, 3, 3, 3, 4, 5, 7);
  const int64_t stride = DRAWN(1, 1, 1, 2, 2, 3), dilation = DRAWN(1, 1, 1, 1, 2, 3);
  const int64_t size = DRAWN(4, 6, 7, 8, 10, 13, 14, 20, 28, 32, 40, 56, 80, 112),
                full = DRAWN(0, 1);
  for (int i = 0; i < 3; i++) {
    const bool used = i >= 3 - dimensions;
    g.kernel[i] = used ? kernel : 1;
    g.stride[i] = used ? stride : 1;
    g.dilation[i] = used && kernel > 1 ? dilation : 1;
    const int64_t span = (g.kernel[i] - 1) * g.dilation[i] + 1;
    g.pad[i] = full ? span / 2 : 0;
    g.input[i] = !used ? 1 : size > span ? size : span;
    g.output[i] = (g.input[i] + 2 * g.pad[i] - span) / g.stride[i] + 1;
  }
  return g;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Cycles in a second, by a chain of additions that take a cycle each. With one of them in a round, a
 * round took a cycle or two, as the code was placed. */
static double cyclesPerSecond(void)
{
  enum { ADDITIONS = 1 << 20 };
  double best = 0;
  for (int round = 0; round < 20; round++) {
    uint64_t sum = (uint64_t)round;
    const double start = now();
#pragma GCC unroll 32
    for (int i = 0; i < ADDITIONS; i++) {
      sum += 1;
      __asm__ volatile("" : "+r"(sum));
    }
    const double rate = ADDITIONS / (now() - start);
    best = rate > best ? rate : best;
  }
  return best;
}

typedef struct Arrays {
  real *image, *map, *weight, *bias, *scratch;
  size_t weightBytes;
} Arrays;

/* Puts what lies there out of all caches, on processors that have an instruction for it. */
static void putOutOfCaches(const void *x, size_t bytes)
{
#ifdef __x86_64__
  enum { LINE = 64 };
  for (size_t i = 0; x && i < bytes; i += LINE)
    __builtin_ia32_clflush((const char *)x + i);
  __builtin_ia32_mfence();
#else
  (void)x, (void)bytes;
#endif
}

/* With `cold`, weights come from memory, as in a network of many layers. */
static double seconds(const THNNConvolutionPlan *plan, const Arrays *of, bool cold)
{
  enum { CALLS = 5 };
  double best = 1e9, spent = 0;
  for (int i = 0; i < CALLS || (spent < 2e-3 && i < 200); i++) {
    if (cold) {
      putOutOfCaches(of->weight, of->weightBytes);
      putOutOfCaches(plan->kept, plan->chosen.keptBytes);
    }
    const double start = now();
    switch (plan->chosen.part) {
    case THNN_CONVOLUTION_FORWARD:
      THNN_(engine_run)(plan, of->image, of->weight, of->bias, of->map, of->scratch);
      break;
    case THNN_CONVOLUTION_BACKWARD_DATA:
      THNN_(engine_run)(plan, of->map, of->weight, NULL, of->image, of->scratch);
      break;
    default:
      THNN_(engine_backwardWeight)(plan, of->image, of->map, 1e-4, of->weight, of->bias,
                                   of->scratch);
    }
    const double took = now() - start;
    best = took < best ? took : best;
    spent += took;
  }
  return best;
}

/* Room for elements at a multiple of 64 bytes, with small values. */
static real *newElements(double elements)
{
  const size_t bytes = ((size_t)elements * sizeof(real) / 64 + 2) * 64;
  real *x = aligned_alloc(64, bytes);
  for (size_t i = 0; i < bytes / sizeof(real); i++)
    x[i] = (real)((int)(i % 17) - 8) / 64;
  return x;
}

static void printTiming(const THNNConvolution *g, const THNNConvolutionPlan *plan, bool kept,
                        double cycles)
{
  const AlgorithmPlan *chosen = &plan->chosen;
  const char *split = costsInUse() >= &THNN_(costs)[COSTS_SPLIT] ? "split" : "";
  printf("%s%s,%s,%s,%d%s,", THNN_simdLevelName(), split,
         sizeof(real) == sizeof(float) ? "float" : "double", chosen->algorithm->name,
         (int)chosen->part, kept ? " kept" : "");
  printf("%d %d %d", (int)g->batch, (int)g->inputPlanes, (int)g->outputPlanes);
  for (int i = 0; i < 3; i++)
    printf(" %d:%d:%d:%d:%d", (int)g->input[i], (int)g->kernel[i], (int)g->stride[i],
           (int)g->dilation[i], (int)g->pad[i]);
  printf(",%.4g,", cycles);
  const char *space = "";
  for (int i = 0; i < chosen->things; i++)
    if (chosen->counts[i] != 0) {
      printf("%s%d:%.5g", space, i, chosen->counts[i]);
      space = " ";
    }
  printf("\n");
}

/* Times a row of the engine's table, if it applies; with `keeps`, with weights that are kept. */
static void timeRow(const THNNConvolution *g, const Arrays *of, int row, THNNConvolutionPart part,
                    bool keeps, THNNState *state, double rate)
{
  THNNConvolutionPlan plan;
  if (!THNN_(engine_prepareRow)(&plan, state, g, part, row, keeps))
    return;
  Arrays arrays = *of;
  arrays.scratch = newElements((double)plan.scratchBytes / sizeof(real));
  real *kept = newElements((double)plan.chosen.keptBytes / sizeof(real));
  if (plan.chosen.keptBytes > 0) {
    THNN_(engine_keep)(&plan, of->weight, kept, arrays.scratch);
    plan.kept = kept;
  }
  printTiming(g, &plan, keeps, seconds(&plan, &arrays, keeps) * rate);
  free(arrays.scratch);
  free(kept);
}

static void timeLayer(const THNNConvolution *g, const Arrays *of, const char *rows, bool keeps,
                      THNNState *state, double rate)
{
  const char *name;
  const int last = keeps ? THNN_CONVOLUTION_BACKWARD_DATA : THNN_CONVOLUTION_BACKWARD_WEIGHT;
  for (int part = 0; part <= last; part++)
    for (int row = 0; (name = THNN_(engine_rowName)(row)); row++)
      if (strncmp(name, rows, strlen(rows)) == 0)
        timeRow(g, of, row, (THNNConvolutionPart)part, keeps, state, rate);
}

int printTimings(double limit, double least, double most, const char *rows, bool keeps)
{
  THNNState *state = THNN_State_new();
  THNN_State_setThreads(state, 1);
  const double rate = cyclesPerSecond();
  printf("level,real,algorithm,part,layer,cycles,counts\n");
  for (const double start = now(); now() - start < limit;) {
    const THNNConvolution g = drawGeometry();
    const double operations = THNN_convolutionOperations(&g);
    const double image = (double)g.batch * g.inputPlanes * THNN_convolutionImagePositions(&g);
    const double map = (double)g.batch * g.outputPlanes * THNN_convolutionMapPositions(&g);
    const double weights = THNN_convolutionWeights(&g);
    if (operations < least || operations > most ||
        (image + map + weights) * sizeof(real) > MOST_BYTES)
      continue;
    const Arrays of = {.image = newElements(image),
                       .map = newElements(map),
                       .weight = newElements(weights),
                       .bias = newElements((double)g.outputPlanes),
                       .weightBytes = (size_t)weights * sizeof(real)};
    timeLayer(&g, &of, rows, keeps, state, rate);
    free(of.image);
    free(of.map);
    free(of.weight);
    free(of.bias);
  }
  THNN_State_free(state);
  return 0;
}
