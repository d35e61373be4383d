/* Template of THTensor.h, included once per type: random elements, drawn in the order of their
 * indices (see THRandom.h for the distributions). */

TH_API void THTensor_(bernoulli)(THTensor *self, THGenerator *generator, double p);
TH_API void THTensor_(geometric)(THTensor *self, THGenerator *generator, double p);

/* A random permutation of 0 … n - 1. */
TH_API void THTensor_(randperm)(THTensor *result, THGenerator *generator, int64_t n);

#if defined(TH_REAL_IS_FLOAT) || defined(TH_REAL_IS_DOUBLE)
TH_API void THTensor_(uniform)(THTensor *self, THGenerator *generator, double a, double b);
TH_API void THTensor_(normal)(THTensor *self, THGenerator *generator, double mean, double stdv);
TH_API void THTensor_(exponential)(THTensor *self, THGenerator *generator, double lambda);
TH_API void THTensor_(cauchy)(THTensor *self, THGenerator *generator, double median, double sigma);
TH_API void THTensor_(logNormal)(THTensor *self, THGenerator *generator, double mean, double stdv);
#endif
