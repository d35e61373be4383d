/* What a caller that installs an error handler for a moment has to put back.
 * An extension: Torch7 has nothing like it. */

#ifndef TH_HANDLERS_H
#define TH_HANDLERS_H

#include "THGeneral.h"

/* The calling thread's handlers and their data; NULL where the default ones hold. */
TH_API void THGetErrorHandler(THErrorHandlerFunction *handler, void **data);
TH_API void THGetArgErrorHandler(THArgErrorHandlerFunction *handler, void **data);

#endif
