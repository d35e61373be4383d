/* Template of THTensor.h, included once per type: copies.
 *
 * Source and destination have the same number of elements, in any sizes and strides, and do not
 * overlap unless they are the same. A value that the destination's type cannot hold becomes an
 * unspecified one. */

TH_API void THTensor_(copy)(THTensor *self, THTensor *source);
TH_API void THTensor_(copyFloat)(THTensor *self, THFloatTensor *source);
TH_API void THTensor_(copyDouble)(THTensor *self, THDoubleTensor *source);
TH_API void THTensor_(copyLong)(THTensor *self, THLongTensor *source);
TH_API void THTensor_(copyInt)(THTensor *self, THIntTensor *source);
