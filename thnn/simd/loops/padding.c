/* Rows with padding around them. The ends of a row show few neighbouring elements, which a vector
 * holds, so that permuting it makes an end at once. */
#include "simd/vector/prefetch.h"
#include "simd/vector/rows.h"

/* A row of planes, which nextRow moves without divisions. */
typedef struct Row {
  int64_t plane, z, y;
} Row;

static Row rowAt(int64_t number, const int64_t size[3])
{
  const int64_t slice = number / size[1];
  return (Row){slice / size[0], slice % size[0], number % size[1]};
}

INLINE void nextRow(Row *row, const int64_t size[3])
{
  if (++row->y < size[1])
    return;
  row->y = 0;
  if (++row->z < size[0])
    return;
  row->z = 0;
  row->plane++;
}

INLINE const real *rowOf(const real *planes, const int64_t size[3], int64_t plane, int64_t z,
                         int64_t y)
{
  return planes + ((plane * size[0] + z) * size[1] + y) * size[2];
}

/* A vector of neighbouring elements of an output row: lane l is element `from` + index[l] of the
 * input row, or the value where `constant` holds. */
typedef struct End {
  int64_t from;
  Comparison index, constant;
} End;

/* How the first and the last vector of a row are made, if they can be. */
typedef struct Ends {
  bool fit;
  End left, right;
} Ends;

/* Whether the elements that a vector shows, from column `at` on, lie within a vector. */
static bool findEnd(const PaddedPlanes *rows, int64_t at, End *end)
{
  const int64_t width = rows->input[2], columns = rows->output[2];
  int64_t low = width - 1, high = 0;
  for (int64_t i = at; i < at + LANES && i < columns; i++) {
    const int64_t shown = rows->shown[2][i];
    low = shown >= 0 && shown < low ? shown : low;
    high = shown > high ? shown : high;
  }
  const int64_t last = width > LANES ? width - LANES : 0; /* whose vector is within the row */
  low = low < last ? low : last;
  end->from = low;
  for (int l = 0; l < LANES; l++) {
    const int64_t shown = at + l < columns ? rows->shown[2][at + l] : low;
    end->index[l] = shown < 0 ? 0 : (Place)(shown - low);
    end->constant[l] = shown < 0 ? -1 : 0;
  }
  return high - low < LANES;
}

static Ends findEnds(const PaddedPlanes *rows)
{
  const int64_t columns = rows->output[2];
  const THNNRange inside = rows->inside;
  Ends ends;
  ends.fit = findEnd(rows, 0, &ends.left);
  ends.right = ends.left;
  if (columns > LANES)
    ends.fit &= findEnd(rows, columns - LANES, &ends.right);
  if (columns > 2 * LANES) /* what is between the two is copied in vectors */
    ends.fit &= inside.begin <= LANES && inside.end >= columns - LANES &&
                inside.end - inside.begin >= LANES;
  return ends;
}

INLINE void storeEnd(const End *end, const real *x, Vector value, real *y)
{
#ifdef VECTOR_PERMUTES
  const Vector shown = permute(load(x + end->from), end->index);
#else
  Vector shown = {0};
  for (int l = 0; l < LANES; l++)
    shown[l] = x[end->from + end->index[l]];
#endif
  store(y, (Vector)(((Comparison)shown & ~end->constant) | ((Comparison)value & end->constant)));
}

/* y = a row, in vectors. */
INLINE void padInVectors(const PaddedPlanes *rows, const Ends *ends, const real *x, real *y)
{
  const int64_t columns = rows->output[2], end = rows->inside.end;
  storeEnd(&ends->left, x, broadcast(rows->value), y);
  if (columns <= LANES)
    return;
  if (columns > 2 * LANES) {
    const real *from = x + rows->shown[2][end - 1] - (end - 1);
    if (columns > SHORT_ROW) {
      memcpy(y + LANES, from + LANES, (size_t)(columns - 2 * LANES) * sizeof(real));
    } else {
      int64_t i = LANES;
      for (; i <= end - LANES; i += LANES)
        store(y + i, load(from + i));
      store(y + end - LANES, load(from + end - LANES));
    }
  }
  storeEnd(&ends->right, x, broadcast(rows->value), y + columns - LANES);
}

/* y = a row, element by element at its ends. */
static void padInElements(const PaddedPlanes *rows, const real *x, real *y)
{
  const THNNRange inside = rows->inside;
  const int64_t *shown = rows->shown[2];
  if (inside.begin < inside.end)
    copyAnyRow(inside.end - inside.begin, x + shown[inside.begin], y + inside.begin);
  for (int64_t i = 0; i < inside.begin; i++)
    y[i] = shown[i] < 0 ? rows->value : x[shown[i]];
  for (int64_t i = inside.end; i < rows->output[2]; i++)
    y[i] = shown[i] < 0 ? rows->value : x[shown[i]];
}

/* y = an output row. Of an input row shorter than a vector, and behind a shorter output row, so
 * many elements can be read and written. */
INLINE void padRow(const PaddedPlanes *rows, const Ends *ends, const Row *row, const real *input,
                   int64_t room, real *y)
{
  const int64_t z = rows->shown[0][row->z], line = rows->shown[1][row->y];
  if (z < 0 || line < 0) {
    fillRow(rows->output[2], rows->value, y);
    return;
  }
  const real *x = rowOf(input, rows->input, row->plane, z, line);
  const real *end = rowOf(input, rows->input, rows->planes, 0, 0);
  if (ends->fit && (rows->input[2] >= LANES || end - x >= LANES) && room >= LANES)
    padInVectors(rows, ends, x, y);
  else
    padInElements(rows, x, y);
}

static void pad(const PaddedPlanes *rows, int64_t first, int64_t count, const real *x, real *y)
{
  const Ends ends = findEnds(rows);
  const int64_t columns = rows->output[2];
  Row row = rowAt(first, rows->output);
  for (int64_t i = 0; i < count; i++, nextRow(&row, rows->output))
    padRow(rows, &ends, &row, x, (count - i) * columns, y + i * columns);
}

/* y = x with streaming stores where there are such. */
static void streamRow(int64_t n, const real *x, real *y)
{
#ifdef VECTOR_STREAMS
  int64_t i = (int64_t)(-(uintptr_t)y % VECTOR_BYTES / sizeof(real));
  i = i < n ? i : n;
  copyRow(i, x, y);
  for (; i + LANES <= n; i += LANES)
    streamVector(y + i, load(x + i));
  copyRow(n - i, x + i, y + i);
#else
  copyAnyRow(n, x, y);
#endif
}

static void stream(const PaddedPlanes *rows, int64_t first, int64_t count, const real *x,
                   real *tile, real *y)
{
  enum { PIECE = THNN_STREAMED_PIECE / sizeof(real) };
  const Ends ends = findEnds(rows);
  const int64_t columns = rows->output[2];
  Row row = rowAt(first, rows->output);
  int64_t waiting = 0; /* elements in the tile */
  for (int64_t i = 0; i < count; i++, nextRow(&row, rows->output)) {
    const int64_t z = rows->shown[0][row.z], line = rows->shown[1][row.y];
    if (z >= 0 && line >= 0)
      THNN_fetchNextPage(rowOf(x, rows->input, row.plane, z, line),
                         rows->input[2] * (int64_t)sizeof(real));
    padRow(rows, &ends, &row, x, columns, tile + waiting);
    waiting += columns;
    const bool last = i == count - 1;
    if (waiting < PIECE && !last)
      continue;
    const int64_t rest =
        last ? 0 : (int64_t)((uintptr_t)(y + waiting) % THNN_LINE_BYTES / sizeof(real));
    streamRow(waiting - rest, tile, y);
    y += waiting - rest;
    copyAnyRow(rest, tile + waiting - rest, tile);
    waiting = rest;
  }
}

/* z = x + y, in whole vectors where so many elements follow. */
INLINE void addRows(int64_t n, const real *x, const real *y, int64_t room, real *z)
{
  if (room >= (n + LANES - 1) / LANES * LANES)
    for (int64_t i = 0; i < n; i += LANES)
      store(z + i, load(x + i) + load(y + i));
  else
    for (int64_t i = 0; i < n; i++)
      z[i] = x[i] + y[i];
}

/* The sum of the output rows that show an input row: the row itself when there is only one. */
INLINE const real *sumRows(const ShowingRows *rows, const Row *row, const real *output, real *sum)
{
  const PaddedPlanes *p = rows->padded;
  const int64_t columns = p->output[2];
  const real *end = rowOf(output, p->output, p->planes, 0, 0), *found = NULL;
  for (int64_t i = rows->begin[0][row->z]; i < rows->begin[0][row->z + 1]; i++)
    for (int64_t j = rows->begin[1][row->y]; j < rows->begin[1][row->y + 1]; j++) {
      const real *next =
          rowOf(output, p->output, row->plane, rows->showing[0][i], rows->showing[1][j]);
      if (found)
        addRows(columns, found, next, end - next, sum);
      found = found ? sum : next;
    }
  if (found)
    return found;
  fillRow(columns, 0, sum);
  return sum;
}

/* Adds y[begin] to y[end - 1] to the elements of x that they show. Neighbours that show the same
 * element are added to a register. */
INLINE void addShown(const int64_t *shown, int64_t begin, int64_t end, const real *y, real *x)
{
  for (int64_t i = begin; i < end;) {
    const int64_t at = shown[i];
    real sum = x[at] + y[i];
    for (i++; i < end && shown[i] == at; i++)
      sum += y[i];
    x[at] = sum;
  }
}

/* x = the sums of the elements of y that show each. */
INLINE void foldRow(const PaddedPlanes *rows, const real *y, real *x)
{
  const THNNRange inside = rows->inside;
  const int64_t *shown = rows->shown[2], width = rows->input[2], n = inside.end - inside.begin;
  if (n < width)
    fillRow(width, 0, x);
  if (n > 0)
    copyAnyRow(n, y + inside.begin, x + shown[inside.begin]);
  if (inside.begin > 0 && shown[0] >= 0)
    addShown(shown, 0, inside.begin, y, x);
  if (inside.end < rows->output[2] && shown[inside.end] >= 0)
    addShown(shown, inside.end, rows->output[2], y, x);
}

static void fold(const ShowingRows *rows, int64_t first, int64_t count, const real *y, real *sum,
                 real *x)
{
  const PaddedPlanes *p = rows->padded;
  const int64_t width = p->input[2], outputRows = p->output[0] * p->output[1];
  /* output elements per input row */
  const int64_t step = outputRows * p->output[2] / (p->input[0] * p->input[1]);
  Row row = rowAt(first, p->input);
  for (int64_t i = 0; i < count; i++, nextRow(&row, p->input)) {
    if (rows->ahead)
      THNN_fetchNextPage(rowOf(y, p->output, row.plane, 0, 0) +
                             (row.z * p->input[1] + row.y) * step,
                         step * (int64_t)sizeof(real));
    foldRow(p, sumRows(rows, &row, y, sum), x + i * width);
  }
}

const SimdPadding SIMD_TABLE(Padding, THNN_SIMD_LEVEL) = {
    .pad = pad,
    .stream = stream,
    .fold = fold,
};
