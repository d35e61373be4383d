/* Transposition of matrices of elements of 4 or 8 bytes, in pieces that use each cache line
 * completely while it is near. */
#ifndef TH_TRANSPOSITION_H
#define TH_TRANSPOSITION_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Vectors that every processor has: four elements of 4 bytes, or two of 8. */
typedef int32_t THFour __attribute__((vector_size(16)));
typedef int64_t THTwo __attribute__((vector_size(16)));

/* y[i][j] = x[j][i] for 4 x 4 elements of 4 bytes; rows are xStep and yStep bytes apart. */
static inline void THTransposeFour(const char *x, int64_t xStep, char *y, int64_t yStep)
{
  THFour row[4], half[4];
  for (int j = 0; j < 4; j++)
    memcpy(&row[j], x + j * xStep, sizeof row[j]);
  for (int j = 0; j < 2; j++) {
    half[j] = __builtin_shufflevector(row[j], row[j + 2], 0, 4, 1, 5);
    half[j + 2] = __builtin_shufflevector(row[j], row[j + 2], 2, 6, 3, 7);
  }
  for (int i = 0; i < 2; i++) {
    row[2 * i] = __builtin_shufflevector(half[2 * i], half[2 * i + 1], 0, 4, 1, 5);
    row[2 * i + 1] = __builtin_shufflevector(half[2 * i], half[2 * i + 1], 2, 6, 3, 7);
  }
  for (int i = 0; i < 4; i++)
    memcpy(y + i * yStep, &row[i], sizeof row[i]);
}

/* The same for 2 x 2 elements of 8 bytes. */
static inline void THTransposeTwo(const char *x, int64_t xStep, char *y, int64_t yStep)
{
  THTwo row[2];
  for (int j = 0; j < 2; j++)
    memcpy(&row[j], x + j * xStep, sizeof row[j]);
  const THTwo first = __builtin_shufflevector(row[0], row[1], 0, 2);
  const THTwo second = __builtin_shufflevector(row[0], row[1], 1, 3);
  memcpy(y, &first, sizeof first);
  memcpy(y + yStep, &second, sizeof second);
}

/* Transposes a tile of up to a cache line of elements each way. Squares that share a line of the
 * side whose rows are further apart follow each other, since many of these lines may have the same
 * place in a cache. */
static inline void THTransposeTile(int64_t bytes, int64_t rows, int64_t columns, const char *x,
                                   int64_t xStep, char *y, int64_t yStep)
{
  const int64_t side = 16 / bytes, wholeRows = rows - rows % side;
  const int64_t wholeColumns = columns - columns % side;
  const bool byColumns = xStep > yStep;
  const int64_t outer = byColumns ? wholeColumns : wholeRows;
  const int64_t inner = byColumns ? wholeRows : wholeColumns;
  for (int64_t a = 0; a < outer; a += side)
    for (int64_t b = 0; b < inner; b += side) {
      const int64_t i = byColumns ? b : a, j = byColumns ? a : b;
      if (bytes == 4)
        THTransposeFour(x + j * xStep + i * 4, xStep, y + i * yStep + j * 4, yStep);
      else
        THTransposeTwo(x + j * xStep + i * 8, xStep, y + i * yStep + j * 8, yStep);
    }
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = i < wholeRows ? wholeColumns : 0; j < columns; j++)
      memcpy(y + i * yStep + j * bytes, x + j * xStep + i * bytes, bytes == 4 ? 4 : 8);
}

/* y[i][j] = x[j][i] for `rows` rows of y with `columns` elements of `bytes` bytes each, 4 or 8. Rows
 * of x and of y are xStep and yStep bytes apart. */
static inline void THTranspose(int64_t bytes, int64_t rows, int64_t columns, const char *x,
                               int64_t xStep, char *y, int64_t yStep)
{
  const int64_t tile = 64 / bytes;
  for (int64_t i = 0; i < rows; i += tile)
    for (int64_t j = 0; j < columns; j += tile)
      THTransposeTile(bytes, rows - i < tile ? rows - i : tile,
                      columns - j < tile ? columns - j : tile, x + j * xStep + i * bytes, xStep,
                      y + i * yStep + j * bytes, yStep);
}

#endif
