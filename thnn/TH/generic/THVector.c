/* Simple loops over arrays; the compiler vectorises them. */

#include "template.h"

#include <string.h>

void THVector_(fill)(real *x, const real c, const ptrdiff_t n)
{
  for (ptrdiff_t i = 0; i < n; i++)
    x[i] = c;
}

void THVector_(copy)(real *y, const real *x, const ptrdiff_t n)
{
  if (n > 0)
    memmove(y, x, (size_t)n * sizeof(real));
}

void THVector_(cadd)(real *z, const real *x, const real *y, const real c, const ptrdiff_t n)
{
  for (ptrdiff_t i = 0; i < n; i++)
    z[i] = x[i] + c * y[i];
}

void THVector_(adds)(real *y, const real *x, const real c, const ptrdiff_t n)
{
  for (ptrdiff_t i = 0; i < n; i++)
    y[i] = x[i] + c;
}

void THVector_(muls)(real *y, const real *x, const real c, const ptrdiff_t n)
{
  for (ptrdiff_t i = 0; i < n; i++)
    y[i] = x[i] * c;
}

void THVector_(cmul)(real *z, const real *x, const real *y, const ptrdiff_t n)
{
  for (ptrdiff_t i = 0; i < n; i++)
    z[i] = x[i] * y[i];
}

#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)

void THVector_(divs)(real *y, const real *x, const real c, const ptrdiff_t n)
{
  for (ptrdiff_t i = 0; i < n; i++)
    y[i] = x[i] / c;
}

void THVector_(cdiv)(real *z, const real *x, const real *y, const ptrdiff_t n)
{
  for (ptrdiff_t i = 0; i < n; i++)
    z[i] = x[i] / y[i];
}

#endif
