/* The template macros for 32-bit integers; types/End.h clears them. */
#ifdef real
#  error "the template macros are already set"
#endif
#define real int
#define accreal int64_t
#define Real Int
#define TH_REAL_IS_INT
