/* The tiles of a convolution between single planes: how they are laid out in scratch, and copies to
 * them and from them. A tile's source has its padding around it, and its rows and columns are
 * sorted by their residue classes modulo the stride, so that every tap is a shift of the whole
 * tile. */
#ifndef THNN_GENERIC_PLANE_TILES_H
#define THNN_GENERIC_PLANE_TILES_H

#include "generic/template.h"
#include "geometry/axis.h"

/* The elements of a longest vector: loops can touch as many past the end of an array. */
enum { SLACK = 64 / sizeof(real) };

/* The layout of tiles in scratch. */
typedef struct Layout {
  int64_t rows, columns; /* results of the largest tile */
  int64_t residues[2];   /* residue classes of source rows and columns */
  int64_t lines, pitch;  /* rows of a class; elements from row to row, also of the sums */
  int64_t sourceElements, sumElements;
} Layout;

/* The part of a pass that begins at result (row, column). */
typedef struct Tile {
  int64_t row, column, rows, columns;
} Tile;

static inline Tile tileAt(const Layout *layout, const Axis *y, const Axis *x, int64_t row,
                          int64_t column)
{
  return (Tile){row, column, minimum(layout->rows, y->results - row),
                minimum(layout->columns, x->results - column)};
}

/* The address of a tile's first result in its plane. */
static inline real *placeOf(const Axis *y, const Axis *x, const Tile *tile, int64_t width,
                            real *plane)
{
  return plane + (y->first + tile->row * y->step) * width + x->first + tile->column * x->step;
}

/* Lays out the tiles of passes with at most `results` results per axis, whose taps span `spans`
 * elements. */
Layout THNN_(planeTiles_layOut)(const int64_t *results, const int64_t *spans,
                                const int64_t *stride);

/* Lists, for each tap of a pass, the offset in a tile's source at which it begins to read. */
void THNN_(planeTiles_listShifts)(const Layout *layout, const Axis *y, const Axis *x,
                                  int64_t *shifts);

/* Lists the kernel's factors in the order of listShifts. */
void THNN_(planeTiles_listFactors)(const Axis *y, const Axis *x, int64_t kernelWidth,
                                   const real *kernel, real *factors);

/* Copies what a tile sees of a plane to `source`, sorted by residue classes, with its padding. */
void THNN_(planeTiles_load)(const Layout *layout, const Axis *y, const Axis *x, const Tile *tile,
                            const real *plane, real *source);

/* Adds a tile's sums to its place in a plane. */
void THNN_(planeTiles_add)(const Layout *layout, const Axis *y, const Axis *x, const Tile *tile,
                           int64_t width, const real *sums, real *plane);

/* Writes a tile's sums to its place in a plane. */
void THNN_(planeTiles_store)(const Layout *layout, const Axis *y, const Axis *x, const Tile *tile,
                             int64_t width, const real *sums, real *plane);

/* Stores the sums of both residue classes of columns of a stride of 2, interleaved. The second
 * class has as many columns as the first, or one less. */
void THNN_(planeTiles_storePair)(const Layout *layout, const Axis *y, const Axis *x,
                                 const Tile *tile, int64_t secondColumns, int64_t width,
                                 const real *first, const real *second, real *plane);

#endif
