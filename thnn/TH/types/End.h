/* Clears what types/Float.h and its siblings set. */
#undef real
#undef accreal
#undef Real
#undef TH_REAL_IS_FLOAT
#undef TH_REAL_IS_DOUBLE
#undef TH_REAL_IS_LONG
#undef TH_REAL_IS_INT
