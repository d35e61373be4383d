/* The steps of a recurrent layer: each is a product with the same weight, and the cells of its samples.
 * Where products pack the weight, it is packed once for all steps. */
#ifndef THNN_STEP_PRODUCTS_H
#define THNN_STEP_PRODUCTS_H

#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/shared/keptPanels.h"
#include "generic/shared/matrix.h"
#include "work/sizes.h"

/* y = start + w x for each of `batch` samples: w has `rows` rows and `columns` columns. The weight
 * is stored row by row, or if it is `along`, column by column. */
typedef struct StepProducts {
  THNNState *state;
  int64_t batch, rows, columns;
  bool along;
  const real *weight;
  int threads; /* that may share the samples of all steps, with a packed weight */
  THNNRoom room;
  THNNBuffer *packed, *scratch; /* NULL: not needed */
  const PanelKeeping *keeping;  /* the weight as the state keeps it, or NULL */
} StepProducts;

/* With fewer steps, packing by itself takes longer than it saves. */
enum { LEAST_PACKED_STEPS = 3 };

/* The most weights that each thread reads again for every step, however many samples it has. With 1 MB
 * and less, that was measured to take 2 to 20 % less time than sharing each product. */
enum { MOST_NEAR_WEIGHTS = (1 << 20) / sizeof(real) };

/* Threads that have so many samples each, and all the same number, read more weights as fast as they
 * multiply. Two threads with 32 samples each take 0.94 to 0.96 of the time for the gradients of an LSTM
 * of 512 units, whose rows their panels do not divide evenly, and as long forward; with 16 MB, of 1024
 * units, both take as long. */
enum { LEAST_SAMPLES_OF_FAR = 32, MOST_FAR_WEIGHTS = (1 << 22) / sizeof(real) };

/* The elements of a packed weight and of the samples packed after it; 0: the weight is multiplied as
 * it lies. */
static inline int64_t packedElements(const StepProducts *of)
{
  const THNNState *state = of->state;
  const int64_t rows = of->rows, batch = of->batch, columns = of->columns;
  const int64_t elements = THNN_(panelProducts_keptPanels)(state, rows, batch, columns, !of->along);
  /* Reproducible products have one way of adding up, also for single steps. */
  if (elements > 0 || THNN_State_reproducible(state) ||
      !THNN_(panelProducts_prefersPanels)(state, rows, batch, columns))
    return elements;
  return THNN_(panelProducts_panelElements)(state, rows, columns) +
         THNN_(panelProducts_keptElements)(batch, columns);
}

/* Declares the products of all steps. */
static inline StepProducts stepProducts(THNNPlan *plan, THNNState *state, const THNNSteps *sizes,
                                        int64_t rows, int64_t columns, bool along)
{
  StepProducts products = {
      .state = state, .batch = sizes->batch, .rows = rows, .columns = columns, .along = along};
  const int64_t elements = sizes->steps < LEAST_PACKED_STEPS ? 0 : packedElements(&products);
  if (elements > 0) {
    products.threads =
        THNN_(panelProducts_packedThreads)(state, rows, sizes->steps * sizes->batch, columns);
    products.packed = THNN_planScratch(plan, (size_t)elements * sizeof(real));
  } else {
    products.room = THNN_(matrix_room)(state, rows, sizes->batch, columns, !along, false);
    products.scratch = THNN_planRoom(plan, products.room);
  }
  return products;
}

/* Takes the weight, once the plan has memory. */
static inline void takeWeight(StepProducts *products, const real *weight)
{
  products->weight = weight;
  if (!products->packed)
    return;
  const bool along = products->along;
  const Matrix w = {weight, along ? products->rows : products->columns, !along};
  THNN_(panelProducts_keepPanels)
  (products->state, products->rows, products->columns, w, products->packed->data);
}

/* Samples that one thread computes for all steps. */
typedef struct Samples {
  int64_t begin, end;
} Samples;

/* Whether each of the parts may read all weights again for every step. */
static inline bool rereadsWeights(const StepProducts *of, int64_t parts, int64_t step)
{
  const int64_t weights = of->rows * of->columns, least = maximum(step, LEAST_SAMPLES_OF_FAR);
  if (weights <= MOST_NEAR_WEIGHTS)
    return true;
  const bool even = of->batch % (parts * step) == 0 && of->batch >= parts * least;
  return even && weights <= MOST_FAR_WEIGHTS;
}

/* The number of parts that the samples are divided into, so that each thread computes one for all
 * steps: it waits for no other one, and what it reads of the samples stays in its own caches. That
 * needs packed weights; otherwise threads share each product, and there is one part. */
static inline int64_t sampleParts(const StepProducts *of)
{
  if (!of->packed)
    return 1;
  const int64_t step = THNN_(panelProducts_keptStep)(of->state);
  const int64_t parts = minimum(of->threads, divideUp(of->batch, step));
  return rereadsWeights(of, parts, step) ? parts : 1;
}

static inline Samples samplesOf(const StepProducts *of, int64_t part, int64_t parts)
{
  const int64_t step = THNN_(panelProducts_keptStep)(of->state), steps = divideUp(of->batch, step);
  return (Samples){steps * part / parts * step,
                   minimum(steps * (part + 1) / parts * step, of->batch)};
}

/* The product of a step: y = start + w x, or y += w x, for samples that follow each other; `start`
 * may be NULL. */
typedef struct StepProduct {
  const real *x, *start;
  bool adds;
  real *y;
} StepProduct;

/* Computes the product for the samples of one part. */
static inline void multiplySamples(const StepProducts *of, Samples samples, const StepProduct *step)
{
  const int64_t rows = of->rows, columns = of->columns;
  if (step->start)
    for (int64_t sample = samples.begin; sample < samples.end; sample++)
      THNN_(simd).pointwise.copy(rows, step->start, step->y + sample * rows);
  const Matrix x = {step->x, columns, false};
  THNN_(panelProducts_multiplyKeptPart)
  (of->state, rows, samples.begin, samples.end, columns, of->packed->data, x,
   step->adds || step->start, step->y, rows);
}

/* Computes the product for all samples. */
static inline void multiplyStep(const StepProducts *of, THNNStep at, const StepProduct *step)
{
  if (of->keeping) {
    multiplyKeptStep(of->keeping, at.step, step->x, step->y);
    return;
  }
  const int64_t rows = of->rows, columns = of->columns;
  const real *start = step->start;
  const Matrix x = {step->x, columns, false};
  const THNNRoom room = THNN_roomIn(of->room, of->scratch);
  if (!of->packed && !of->along && !step->adds) {
    THNN_(matrix_affine)(of->state, of->batch, rows, columns, step->x, columns, of->weight, start,
                         step->y, rows, room);
    return;
  }
  if (start)
    THNN_(matrix_repeatRow)(of->state, of->batch, rows, start, step->y, rows);
  if (of->packed) {
    THNN_(panelProducts_multiplyKept)
    (of->state, rows, of->batch, columns, of->packed->data, x, step->adds || start, step->y, rows);
    return;
  }
  const Matrix w = {of->weight, rows, false};
  THNN_(matrix_multiply)(of->state, rows, of->batch, columns, 1, w, x, step->adds || start, step->y,
                         room);
}

/* What a layer computes in a step: its product, and the cell of each sample. Forward the product is of
 * the states before the step, and the cells follow it; backward it is of the gradients of the step's
 * sums, which the cells compute. */
typedef struct StepLayer {
  bool backward;     /* from the last step to the first */
  const real *x;     /* the states around all steps, or the gradients of each step */
  const real *start; /* or NULL */
  bool adds;
  real *y;      /* of one step, or with `isState` the states around all steps */
  bool isState; /* the product of a step becomes the states after it */
  void (*cell)(const void *of, THNNStep at, int64_t sample);
  const void *of;
  double cost; /* of the cell of a sample, in copied elements */
} StepLayer;

static inline StepProduct productAt(const StepProducts *of, const StepLayer *layer, THNNStep at)
{
  const int64_t x = (layer->backward ? at.step : at.before) * of->batch * of->columns;
  const int64_t y = layer->isState ? at.after * of->batch * of->rows : 0;
  return (StepProduct){layer->x + x, layer->start, layer->adds, layer->y + y};
}

/* Computes a step for all samples. */
static inline void computeStep(const StepProducts *products, const StepLayer *layer, THNNStep at)
{
  const int64_t batch = products->batch;
  const int threads = THNN_threads(products->state, batch, (double)batch * layer->cost);
  const StepProduct product = productAt(products, layer, at);
  if (!layer->backward)
    multiplyStep(products, at, &product);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t sample = 0; sample < batch; sample++)
    layer->cell(layer->of, at, sample);
  if (layer->backward)
    multiplyStep(products, at, &product);
}

/* The same for the samples of one part, in the calling thread. */
static inline void computeSamples(const StepProducts *products, const StepLayer *layer, THNNStep at,
                                  Samples samples)
{
  const StepProduct product = productAt(products, layer, at);
  if (!layer->backward)
    multiplySamples(products, samples, &product);
  for (int64_t sample = samples.begin; sample < samples.end; sample++)
    layer->cell(layer->of, at, sample);
  if (layer->backward)
    multiplySamples(products, samples, &product);
}

/* The steps in the order that they are computed in. */
static inline THNNStep stepOf(const StepLayer *layer, const THNNSteps *sizes, int64_t number,
                              bool reverse)
{
  return THNN_stepAt(sizes, layer->backward ? sizes->steps - 1 - number : number, reverse);
}

static inline void computeSteps(const StepProducts *products, const StepLayer *layer,
                                const THNNSteps *sizes, bool reverse)
{
  const int64_t steps = sizes->steps, parts = sampleParts(products);
  if (parts == 1) {
    for (int64_t number = 0; number < steps; number++)
      computeStep(products, layer, stepOf(layer, sizes, number, reverse));
    return;
  }
#pragma omp parallel for num_threads((int)parts) schedule(static)
  for (int64_t part = 0; part < parts; part++) {
    const Samples samples = samplesOf(products, part, parts);
    for (int64_t number = 0; number < steps; number++)
      computeSamples(products, layer, stepOf(layer, sizes, number, reverse), samples);
  }
}

#endif
