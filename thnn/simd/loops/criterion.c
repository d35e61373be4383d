/* Losses and their gradients. A loss is summed in a fixed order: element i goes to running sum
 * i % SUMS, and the running sums are added from first to last. */
#include "simd/vector/template.h"

#include "simd/vector/elementary.h"
#include "simd/vector/vector.h"

/* Enough independent sums to hide the latency of an addition in 512-bit vectors. */
enum { SUMS = 32 };

/* The loss of one element, rounded to real. */
typedef real (*Loss)(real x, real target, const real *parameters);

/* Adds up the running sums. */
static double total(const double *sums)
{
  double sum = 0;
  for (int s = 0; s < SUMS; s++)
    sum += sums[s];
  return sum;
}

/* Adds a loss to the running sums. `loss` and `weighted`, whether the operands have weights, are
 * constants where this is called, so that the loss becomes part of the loop. */
INLINE void addLosses(const Loss loss, const bool weighted, int64_t n, const LossOperands *of,
                      const real *parameters, double *sums)
{
  int64_t i = 0;
  for (; i + SUMS <= n; i += SUMS)
#pragma omp simd
    for (int s = 0; s < SUMS; s++)
      sums[s] += loss(of->input[i + s], of->target[i + s], parameters) *
                 (weighted ? of->weights[i + s] : 1);
  for (int s = 0; i + s < n; s++)
    sums[s] +=
        loss(of->input[i + s], of->target[i + s], parameters) * (weighted ? of->weights[i + s] : 1);
}

INLINE double sumLoss(const Loss loss, int64_t n, const LossOperands *of, const real *parameters)
{
  double sums[SUMS] = {0};
  addLosses(loss, false, n, of, parameters, sums);
  return total(sums);
}

/* Computes the losses of at most STAGED elements. */
typedef void (*Losses)(int64_t n, const LossOperands *of, real *loss);

_Static_assert((int)STAGED % (int)SUMS == 0, "element i goes to running sum i % SUMS");

INLINE real itself(real x, real target, const real *parameters)
{
  (void)target, (void)parameters;
  return x;
}

/* Sums a loss that is computed in stages; `losses` and `weighted` are constants where this is
 * called. */
INLINE double sumStagedLoss(const Losses losses, const bool weighted, int64_t n,
                            const LossOperands *of)
{
  double sums[SUMS] = {0};
  real loss[STAGED];
  for (int64_t first = 0; first < n; first += STAGED) {
    const int64_t count = n - first < STAGED ? n - first : STAGED;
    const LossOperands some = {.input = of->input + first, .target = of->target + first};
    const LossOperands found = {.input = loss,
                                .target = loss, /* there is no target */
                                .weights = weighted ? of->weights + first : NULL};
    losses(count, &some, loss);
    addLosses(itself, weighted, count, &found, NULL, sums);
  }
  return total(sums);
}

INLINE real absoluteError(real x, real target, const real *parameters)
{
  (void)parameters;
  return absolute(x - target);
}

static double absLoss(int64_t n, const LossOperands *of, const real *parameters)
{
  return sumLoss(absoluteError, n, of, parameters);
}

static void absGradient(int64_t n, const LossOperands *of, const real *parameters, real *gradInput)
{
  const real norm = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = of->input[i] - of->target[i] >= 0 ? norm : -norm;
}

INLINE real absoluteValue(real x, real target, const real *parameters)
{
  (void)target, (void)parameters;
  return absolute(x);
}

static double l1Loss(int64_t n, const LossOperands *of, const real *parameters)
{
  const LossOperands inputTwice = {.input = of->input,
                                   .target = of->input}; /* there is no target */
  return sumLoss(absoluteValue, n, &inputTwice, parameters);
}

static void l1Gradient(int64_t n, const LossOperands *of, const real *parameters, real *gradInput)
{
  (void)parameters;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = (real)(of->input[i] > 0) - (real)(of->input[i] < 0);
}

INLINE real squaredError(real x, real target, const real *parameters)
{
  (void)parameters;
  return (x - target) * (x - target);
}

static double mseLoss(int64_t n, const LossOperands *of, const real *parameters)
{
  return sumLoss(squaredError, n, of, parameters);
}

static void mseGradient(int64_t n, const LossOperands *of, const real *parameters, real *gradInput)
{
  const real norm = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = norm * (of->input[i] - of->target[i]);
}

INLINE real smoothError(real x, real target, const real *parameters)
{
  (void)parameters;
  const real error = absolute(x - target);
  return error < 1 ? (real)0.5 * error * error : error - (real)0.5;
}

static double smoothL1Loss(int64_t n, const LossOperands *of, const real *parameters)
{
  return sumLoss(smoothError, n, of, parameters);
}

static void smoothL1Gradient(int64_t n, const LossOperands *of, const real *parameters,
                             real *gradInput)
{
  const real norm = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real error = of->input[i] - of->target[i];
    const real slope = error > 1 ? 1 : error;
    gradInput[i] = norm * (slope < -1 ? -1 : slope);
  }
}

INLINE real shortfall(real x, real target, const real *parameters)
{
  const real missing = parameters[0] - x * target;
  return missing > 0 ? missing : 0;
}

static double marginLoss(int64_t n, const LossOperands *of, const real *parameters)
{
  return sumLoss(shortfall, n, of, parameters);
}

static void marginGradient(int64_t n, const LossOperands *of, const real *parameters,
                           real *gradInput)
{
  const real norm = parameters[0], margin = parameters[1];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = of->input[i] * of->target[i] < margin ? -norm * of->target[i] : 0;
}

/* Keeps logarithms and quotients finite where a probability is 0 or 1. */
static const real TINY_PROBABILITY = (real)1e-12;

static bool areProbabilities(int64_t n, const real *x)
{
  int outside = 0;
#pragma omp simd reduction(| : outside)
  for (int64_t i = 0; i < n; i++)
    outside |= !(x[i] >= 0 && x[i] <= 1);
  return !outside;
}

INLINE void crossEntropies(int64_t n, const LossOperands *of, real *loss)
{
  const real *x = of->input, *target = of->target;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    loss[i] = target[i] * realLog(x[i] + TINY_PROBABILITY);
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    loss[i] = -(loss[i] + (1 - target[i]) * realLog(1 - x[i] + TINY_PROBABILITY));
}

static double bceLoss(int64_t n, const LossOperands *of, const real *parameters)
{
  (void)parameters;
  return of->weights ? sumStagedLoss(crossEntropies, true, n, of)
                     : sumStagedLoss(crossEntropies, false, n, of);
}

INLINE real crossEntropySlope(real x, real target)
{
  return (x - target) / ((1 - x + TINY_PROBABILITY) * (x + TINY_PROBABILITY));
}

static void bceGradient(int64_t n, const LossOperands *of, const real *parameters, real *gradInput)
{
  const real norm = parameters[0];
  if (of->weights) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
      gradInput[i] = norm * crossEntropySlope(of->input[i], of->target[i]) * of->weights[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
      gradInput[i] = norm * crossEntropySlope(of->input[i], of->target[i]);
  }
}

INLINE void divergences(int64_t n, const LossOperands *of, real *loss)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real target = of->target[i];
    loss[i] = target > 0 ? target * (realLog(target) - of->input[i]) : 0;
  }
}

static double distKLDivLoss(int64_t n, const LossOperands *of, const real *parameters)
{
  (void)parameters;
  return sumStagedLoss(divergences, false, n, of);
}

static void distKLDivGradient(int64_t n, const LossOperands *of, const real *parameters,
                              real *gradInput)
{
  const real norm = parameters[0];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = of->target[i] > 0 ? -norm * of->target[i] : 0;
}

INLINE void softMargins(int64_t n, const LossOperands *of, real *loss)
{
  const real *x = of->input, *target = of->target;
  real power[STAGED];
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    power[i] = powerOfDistance(x[i] * target[i]);
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    loss[i] = softplusOf(-x[i] * target[i], power[i]);
}

static double softMarginLoss(int64_t n, const LossOperands *of, const real *parameters)
{
  (void)parameters;
  return sumStagedLoss(softMargins, false, n, of);
}

static void softMarginGradient(int64_t n, const LossOperands *of, const real *parameters,
                               real *gradInput)
{
  const real norm = parameters[0];
  const Bounds bounds = sigmoidBounds();
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    gradInput[i] = -norm * of->target[i] * realSigmoidWithin(bounds, -of->input[i] * of->target[i]);
}

/* Makes the compiler round a number before it is added, so that reproducible calls have the same
 * bits at AVX2 and at NEON. At AVX2, GCC chooses between products by masks, which round them; at
 * NEON it would make branches in short loops, and fuse the chosen product with the addition. At
 * other levels this macro would only keep loops from being vectorised. */
#if defined(__aarch64__) && defined(THNN_WIDE_VECTORS)
#  define KEEP_ROUNDED(number) __asm__("" : "+w"(number))
#else
#  define KEEP_ROUNDED(number) (void)(number)
#endif

/* A term of a multi-class margin loss; `squared` is a constant where this is called. */
INLINE real hingeTerm(const bool squared, real x, real offset)
{
  const real missing = x + offset > 0 ? x + offset : 0;
  return squared ? missing * missing : missing;
}

INLINE double sumHinges(const bool squared, int64_t n, const real *x, real offset)
{
  if (n < SUMS) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
      real term = hingeTerm(squared, x[i], offset);
      KEEP_LOADED(term); /* the compiler would otherwise widen it first, and then choose by a
                          * branch */
      sum += term;
    }
    return sum;
  }
  double sums[SUMS] = {0};
  int64_t i = 0;
  for (; i + SUMS <= n; i += SUMS)
#pragma omp simd
    for (int s = 0; s < SUMS; s++)
      sums[s] += hingeTerm(squared, x[i + s], offset);
  for (int s = 0; i + s < n; s++)
    sums[s] += hingeTerm(squared, x[i + s], offset);
  return total(sums);
}

static double hinge(int64_t n, const real *x, real offset)
{
  return sumHinges(false, n, x, offset);
}

static double squaredHinge(int64_t n, const real *x, real offset)
{
  return sumHinges(true, n, x, offset);
}

/* The slopes that are not 0 are equal, and so their sum is a product. Choosing by masks, or multiplying
 * by 0 or 1, takes no branch, which would be taken at random. */
static double addHingeGradient(int64_t n, const real *x, real offset, real factor, real *gradInput)
{
  int64_t i = 0, slopes = 0;
  if (n >= LANES) {
    Comparison counts = {0};
    for (; i + LANES <= n; i += LANES) {
      const Comparison misses = load(x + i) + broadcast(offset) > broadcast(0);
      store(gradInput + i, load(gradInput + i) + keepWhere(misses, broadcast(factor)));
      counts -= misses; /* whose lanes are -1 */
    }
    for (int l = 0; l < LANES; l++)
      slopes += counts[l];
  }
  for (; i < n; i++) {
    const bool misses = x[i] + offset > 0;
    gradInput[i] += (real)misses * factor;
    slopes += misses;
  }
  return (double)factor * (double)slopes;
}

INLINE real squaredHingeSlope(real x, real offset, real factor)
{
  const real slope = 2 * factor * (x + offset);
  return x + offset > 0 ? slope : 0;
}

static double addSquaredHingeGradient(int64_t n, const real *x, real offset, real factor,
                                      real *gradInput)
{
  if (n < SUMS) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
      real slope = squaredHingeSlope(x[i], offset, factor);
      KEEP_ROUNDED(slope);
      gradInput[i] += slope;
      sum += slope;
    }
    return sum;
  }
  double sums[SUMS] = {0};
  int64_t i = 0;
  for (; i + SUMS <= n; i += SUMS)
#pragma omp simd
    for (int s = 0; s < SUMS; s++) {
      const real slope = squaredHingeSlope(x[i + s], offset, factor);
      gradInput[i + s] += slope;
      sums[s] += slope;
    }
  for (int s = 0; i + s < n; s++) {
    real slope = squaredHingeSlope(x[i + s], offset, factor);
    KEEP_ROUNDED(slope);
    gradInput[i + s] += slope;
    sums[s] += slope;
  }
  return total(sums);
}

const SimdCriterion SIMD_TABLE(Criterion, THNN_SIMD_LEVEL) = {
    .absLoss = absLoss,
    .absGradient = absGradient,
    .areProbabilities = areProbabilities,
    .bceLoss = bceLoss,
    .bceGradient = bceGradient,
    .distKLDivLoss = distKLDivLoss,
    .distKLDivGradient = distKLDivGradient,
    .l1Loss = l1Loss,
    .l1Gradient = l1Gradient,
    .marginLoss = marginLoss,
    .marginGradient = marginGradient,
    .mseLoss = mseLoss,
    .mseGradient = mseGradient,
    .smoothL1Loss = smoothL1Loss,
    .smoothL1Gradient = smoothL1Gradient,
    .softMarginLoss = softMarginLoss,
    .softMarginGradient = softMarginGradient,
    .hinge = hinge,
    .squaredHinge = squaredHinge,
    .addHingeGradient = addHingeGradient,
    .addSquaredHingeGradient = addSquaredHingeGradient,
};
