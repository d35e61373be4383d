/* The template macros for tensors of float on the device; types/End.h clears them. */
#ifdef real
#  error "the template macros are already set"
#endif
#define real float
#define accreal float
#define CReal Cuda
#define Real Float
#define THC_REAL_IS_FLOAT
