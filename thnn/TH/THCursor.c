/* See THCursor.h. */

#include "THCursor.h"

void THCursor_startWithout(THCursor *cursor, int nDimension, const int64_t *size,
                           const int64_t *stride, int fixedDimension)
{
  cursor->offset = 0;
  cursor->stride = 1;
  cursor->run = 1;
  cursor->nOuter = 0;
  bool inRun = true;
  for (int d = nDimension - 1; d >= 0; d--) {
    if (size[d] == 1 || d == fixedDimension)
      continue;
    int last = cursor->nOuter - 1;
    if (inRun && cursor->run == 1) {
      cursor->run = size[d];
      cursor->stride = stride[d];
    } else if (inRun && stride[d] == cursor->run * cursor->stride) {
      cursor->run *= size[d];
    } else if (!inRun && stride[d] == cursor->outerSize[last] * cursor->outerStride[last]) {
      cursor->outerSize[last] *= size[d];
    } else {
      inRun = false;
      cursor->outerSize[cursor->nOuter] = size[d];
      cursor->outerStride[cursor->nOuter] = stride[d];
      cursor->outerIndex[cursor->nOuter] = 0;
      cursor->nOuter++;
    }
  }
  cursor->left = cursor->run;
}

void THCursor_start(THCursor *cursor, int nDimension, const int64_t *size, const int64_t *stride)
{
  THCursor_startWithout(cursor, nDimension, size, stride, -1);
}

void THCursor_advance(THCursor *cursor, int64_t elements)
{
  cursor->offset += elements * cursor->stride;
  cursor->left -= elements;
  if (cursor->left > 0)
    return;
  cursor->offset -= cursor->run * cursor->stride;
  cursor->left = cursor->run;
  for (int d = 0; d < cursor->nOuter; d++) {
    cursor->offset += cursor->outerStride[d];
    if (++cursor->outerIndex[d] < cursor->outerSize[d])
      return;
    cursor->offset -= cursor->outerSize[d] * cursor->outerStride[d];
    cursor->outerIndex[d] = 0;
  }
}
