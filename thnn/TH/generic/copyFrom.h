/* Template of THTensorCopy.c, included once per source type, which `source` and `Source` name. */

void TH_CONCAT_4(TH, Real, Tensor_copy, Source)(THTensor *self,
                                                TH_CONCAT_3(TH, Source, Tensor) * tensor)
{
  int64_t left = THTensor_(nElement)(self);
  int64_t available = TH_CONCAT_3(TH, Source, Tensor_nElement)(tensor);
  checkCount(left, available);
  if (left == 0)
    return;

  real *y = THTensor_(data)(self);
  const source *x = TH_CONCAT_3(TH, Source, Tensor_data)(tensor);
  THCursor to, from;
  THTensor_(startCursor)(&to, self);
  THCursor_start(&from, tensor->nDimension, tensor->size, tensor->stride);
  while (left > 0) {
    int64_t run = THCursor_common(&to, &from);
    for (int64_t i = 0; i < run; i++)
      y[to.offset + i * to.stride] = (real)x[from.offset + i * from.stride];
    THCursor_advance(&to, run);
    THCursor_advance(&from, run);
    left -= run;
  }
}
