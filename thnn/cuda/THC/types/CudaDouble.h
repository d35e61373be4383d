/* The template macros for tensors of double on the device; types/End.h clears them. */
#ifdef real
#  error "the template macros are already set"
#endif
#define real double
#define accreal double
#define CReal CudaDouble
#define Real Double
#define THC_REAL_IS_DOUBLE
