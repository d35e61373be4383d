/* The template macros for float; types/End.h clears them. */
#ifdef real
#  error "the template macros are already set"
#endif
#define real float
#define accreal double
#define Real Float
#define TH_REAL_IS_FLOAT
