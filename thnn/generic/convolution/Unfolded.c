/* Unfolding an image into columns, and adding columns to an image, for callers that keep the
 * columns themselves.
 *   input    nInputPlane x inputHeight x inputWidth elements in any shape
 *   finput   (nInputPlane * kH * kW) x (outputHeight * outputWidth) elements in any shape
 * Row (c, i, j) of the columns holds what tap (i, j) of the kernel sees of plane c, output position
 * by output position; outside the image that is 0. Larger tensors than needed are used from their
 * beginning; sizes of 0 or less leave nothing to do. */
#include "generic/template.h"

/* The int arguments of the functions, widened to 64 bits. */
typedef struct Unfolding {
  int64_t kW, kH, dW, dH, padW, padH;
  int64_t planes, width, height, outputWidth, outputHeight;
} Unfolding;

static bool hasWork(const Unfolding *u)
{
  return u->planes > 0 && u->kH > 0 && u->kW > 0 && u->outputHeight > 0 && u->outputWidth > 0;
}

/* Checks that both tensors are given and have as many elements as the sizes ask for. */
static void checkElements(const char *function, THNNShape finput, THNNShape input,
                          const Unfolding *u)
{
  const int64_t columns[] = {u->planes, u->kH, u->kW, u->outputHeight, u->outputWidth};
  const int64_t image[] = {u->planes, u->height, u->width};
  if (!THNN_given(finput))
    THNN_rejectShape(function, finput, "a tensor");
  if (!THNN_given(input))
    THNN_rejectShape(function, input, "a tensor");
  if (!hasWork(u))
    return;
  const int64_t needed = THNN_product(5, columns);
  if (needed < 0 || THNN_elements(function, finput) < needed)
    THNN_rejectShape(function, finput,
                     "at least nInputPlane * kH * kW * outputHeight * outputWidth elements");
  if (u->height <= 0 || u->width <= 0)
    return;
  const int64_t pixels = THNN_product(3, image);
  if (pixels < 0 || THNN_elements(function, input) < pixels)
    THNN_rejectShape(function, input, "at least nInputPlane * inputHeight * inputWidth elements");
}

/* One tap of the kernel. Output position (y, x) sees element (y * dH + startH, x * dW + startW) of
 * the plane, which has such a column for x in [begin, end). */
typedef struct Tap {
  int64_t startH, startW, begin, end;
} Tap;

/* The tap with a number. The stride can be 0 or negative. */
static Tap tapAt(const Unfolding *u, int64_t number)
{
  Tap tap = {.startH = number / u->kW - u->padH, .startW = number % u->kW - u->padW};
  int64_t x = 0, at = tap.startW;
  for (; x < u->outputWidth && (at < 0 || at >= u->width); x++)
    at += u->dW;
  tap.begin = x;
  for (; x < u->outputWidth && at >= 0 && at < u->width; x++)
    at += u->dW;
  tap.end = x;
  return tap;
}

/* The index in the plane of the element that the tap sees at output position (y, begin), or -1 if
 * it sees none in row y. */
static int64_t firstElement(const Unfolding *u, const Tap *tap, int64_t y)
{
  const int64_t row = y * u->dH + tap->startH;
  if (row < 0 || row >= u->height || tap->begin == tap->end)
    return -1;
  return row * u->width + tap->begin * u->dW + tap->startW;
}

static void copyPlane(const Unfolding *u, const real *image, real *columns)
{
  for (int64_t number = 0; number < u->kH * u->kW; number++) {
    const Tap tap = tapAt(u, number);
    for (int64_t y = 0; y < u->outputHeight; y++, columns += u->outputWidth) {
      const int64_t first = firstElement(u, &tap, y);
      const int64_t begin = first < 0 ? u->outputWidth : tap.begin;
      THNN_(simd).pointwise.fill(begin, 0, columns);
      if (first < 0)
        continue;
      THNN_(simd).pointwise.copyFromSteps(tap.end - begin, image + first, u->dW, columns + begin);
      THNN_(simd).pointwise.fill(u->outputWidth - tap.end, 0, columns + tap.end);
    }
  }
}

static void addPlane(const Unfolding *u, const real *columns, real *image)
{
  for (int64_t number = 0; number < u->kH * u->kW; number++) {
    const Tap tap = tapAt(u, number);
    for (int64_t y = 0; y < u->outputHeight; y++, columns += u->outputWidth) {
      const int64_t first = firstElement(u, &tap, y);
      if (first >= 0)
        THNN_(simd).pointwise.addToSteps(tap.end - tap.begin, columns + tap.begin, image + first,
                                         u->dW);
    }
  }
}

static int64_t columnsOfPlane(const Unfolding *u)
{
  return u->kH * u->kW * u->outputHeight * u->outputWidth;
}

void THNN_(unfolded_copy)(THTensor *finput, THTensor *input, int kW, int kH, int dW, int dH,
                          int padW, int padH, int nInputPlane, int inputWidth, int inputHeight,
                          int outputWidth, int outputHeight)
{
  const char *function = "unfolded_copy";
  const Unfolding u = {kW,          kH,         dW,          dH,          padW,        padH,
                       nInputPlane, inputWidth, inputHeight, outputWidth, outputHeight};
  checkElements(function, THNN_SHAPE(finput, 1), THNN_SHAPE(input, 2), &u);
  if (!hasWork(&u))
    return;
  const int64_t pixels = u.height > 0 && u.width > 0 ? u.height * u.width : 0;

  THNNPlan plan;
  THNN_planStart(&plan, function, NULL);
  THNNBuffer *out = THNN_planInOut(&plan, finput, 1);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNN_planAcquire(&plan);

  const int64_t size = columnsOfPlane(&u);
  const int threads = THNN_threads(NULL, u.planes, (double)u.planes * (double)size);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t plane = 0; plane < u.planes; plane++)
    copyPlane(&u, (const real *)in->data + plane * pixels, (real *)out->data + plane * size);
  THNN_planRelease(&plan);
}

void THNN_(unfolded_acc)(THTensor *finput, THTensor *input, int kW, int kH, int dW, int dH,
                         int padW, int padH, int nInputPlane, int inputWidth, int inputHeight,
                         int outputWidth, int outputHeight)
{
  const char *function = "unfolded_acc";
  const Unfolding u = {kW,          kH,         dW,          dH,          padW,        padH,
                       nInputPlane, inputWidth, inputHeight, outputWidth, outputHeight};
  checkElements(function, THNN_SHAPE(finput, 1), THNN_SHAPE(input, 2), &u);
  if (!hasWork(&u) || u.height <= 0 || u.width <= 0)
    return;

  THNNPlan plan;
  THNN_planStart(&plan, function, NULL);
  THNNBuffer *in = THNN_planIn(&plan, finput, 1);
  THNNBuffer *out = THNN_planInOut(&plan, input, 2);
  THNN_planAcquire(&plan);

  const int64_t size = columnsOfPlane(&u);
  const int threads = THNN_threads(NULL, u.planes, (double)u.planes * (double)size);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t plane = 0; plane < u.planes; plane++)
    addPlane(&u, (const real *)in->data + plane * size,
             (real *)out->data + plane * u.height * u.width);
  THNN_planRelease(&plan);
}
