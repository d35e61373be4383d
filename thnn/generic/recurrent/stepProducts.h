/* The products of the steps of a recurrent layer with one weight. Where products pack it, it is
 * packed once for all steps. */
#ifndef THNN_STEP_PRODUCTS_H
#define THNN_STEP_PRODUCTS_H

#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/shared/matrix.h"
#include "work/sizes.h"

/* y = start + w x for each of `batch` samples: w has `rows` rows and `columns` columns. The weight
 * is stored row by row, or if it is `along`, column by column. */
typedef struct StepProducts {
  THNNState *state;
  int64_t batch, rows, columns;
  bool along;
  const real *weight;
  int threads; /* that share a product with the packed weight */
  THNNRoom room;
  THNNBuffer *packed, *scratch; /* NULL: not needed */
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
    products.threads = THNN_(panelProducts_packedThreads)(state, rows, sizes->batch, columns);
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

/* y = w x for the samples of one part. */
static inline void multiplySamples(const StepProducts *of, Samples samples, const real *x, real *y)
{
  const Matrix all = {x, of->columns, false};
  THNN_(panelProducts_multiplyKeptPart)
  (of->state, of->rows, samples.begin, samples.end, of->columns, of->packed->data, all, y,
   of->rows);
}

/* y = start + w x, or y += w x; `start` may be NULL. */
static inline void multiplyStep(const StepProducts *of, const real *x, const real *start, bool adds,
                                real *y)
{
  const int64_t rows = of->rows, columns = of->columns;
  const Matrix samples = {x, columns, false};
  const THNNRoom room = THNN_roomIn(of->room, of->scratch);
  if (!of->packed && !of->along && !adds) {
    THNN_(matrix_affine)(of->state, of->batch, rows, columns, x, columns, of->weight, start, y,
                         rows, room);
    return;
  }
  if (start)
    THNN_(matrix_repeatRow)(of->state, of->batch, rows, start, y, rows);
  if (of->packed) {
    THNN_(panelProducts_multiplyKept)
    (of->state, rows, of->batch, columns, of->packed->data, samples, adds || start, y, rows);
    return;
  }
  const Matrix w = {of->weight, rows, false};
  THNN_(matrix_multiply)(of->state, rows, of->batch, columns, 1, w, samples, adds || start, y,
                         room);
}

#endif
