/* The template macros for tensors of int on the device; types/End.h clears them. */
#ifdef real
#  error "the template macros are already set"
#endif
#define real int
#define accreal int64_t
#define CReal CudaInt
#define Real Int
#define THC_REAL_IS_INT
