/* The template macros for 64-bit integers; types/End.h clears them. */
#ifdef real
#  error "the template macros are already set"
#endif
#define real int64_t
#define accreal int64_t
#define Real Long
#define TH_REAL_IS_LONG
