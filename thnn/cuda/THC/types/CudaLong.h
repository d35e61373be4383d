/* The template macros for tensors of int64_t on the device; types/End.h clears them. */
#ifdef real
#  error "the template macros are already set"
#endif
#define real int64_t
#define accreal int64_t
#define CReal CudaLong
#define Real Long
#define THC_REAL_IS_LONG
