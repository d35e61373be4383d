/* Clears what types/Cuda.h and its siblings set. */
#undef real
#undef accreal
#undef CReal
#undef Real
#undef THC_REAL_IS_FLOAT
#undef THC_REAL_IS_DOUBLE
#undef THC_REAL_IS_LONG
#undef THC_REAL_IS_INT
