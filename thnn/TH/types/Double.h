/* The template macros for double; types/End.h clears them. */
#ifdef real
#  error "the template macros are already set"
#endif
#define real double
#define accreal double
#define Real Double
#define TH_REAL_IS_DOUBLE
