/* The guard that turns TH's errors into return codes: nested, beside handlers of the host program,
 * and what it says of an error. */

#include "../check.h"
#include "guard.h"

#include <TH/THMemory.h>
#include <call/check.h>

static void testNestedErrors(void)
{
  pythnn_Guard outer, inner;
  if (PYTHNN_PROTECT(outer)) {
    if (PYTHNN_PROTECT(inner))
      THError("inner");
    CHECK(pythnn_leave(&inner) == PYTHNN_ERROR);
    CHECK(strcmp(pythnn_lastError()->message, "inner") == 0);
    THArgCheck(0, 7, "outer");
  }
  CHECK(pythnn_leave(&outer) == PYTHNN_ARGUMENT_ERROR);
  CHECK(strcmp(pythnn_lastError()->message, "outer") == 0);
  CHECK(pythnn_lastError()->position == 7);
}

static jmp_buf host;

static void onHostError(const char *message, void *data)
{
  (void)message;
  ++*(int *)data;
  longjmp(host, 1);
}

static void testHandlersOfTheHostAreRestored(void)
{
  static int calls;
  pythnn_Guard guard;
  THSetErrorHandler(onHostError, &calls);
  if (PYTHNN_PROTECT(guard))
    THError("in the guard");
  pythnn_leave(&guard);
  CHECK(calls == 0);
  if (setjmp(host) == 0)
    THError("outside");
  CHECK(calls == 1);
  THSetErrorHandler(NULL, NULL);
}

/* What is known of an error that the statement raises. */
#define ERROR_OF(statement)                                                                        \
  do {                                                                                             \
    pythnn_Guard guard;                                                                            \
    if (PYTHNN_PROTECT(guard))                                                                     \
      statement;                                                                                   \
    pythnn_leave(&guard);                                                                          \
  } while (0)

static void testFields(void)
{
  const pythnn_Error *error = pythnn_lastError();
  ERROR_OF(THNN_reject("Linear_updateOutput", "weight", 4, "2 at /x.c:1", "3"));
  CHECK(error->code == PYTHNN_ARGUMENT_ERROR && error->position == 4);
  CHECK(strcmp(error->function, "Linear_updateOutput") == 0);
  CHECK(strcmp(error->argument, "weight") == 0);
  CHECK(strcmp(error->message, "Linear_updateOutput: argument #4 'weight': expected 2 at /x.c:1, "
                               "found 3") == 0);
  CHECK(strstr(error->location, "check.c:") && !strchr(error->location, ' '));

  ERROR_OF(THArgCheck(0, 2, "of TH"));
  CHECK(error->code == PYTHNN_ARGUMENT_ERROR && error->position == 2);
  CHECK(!*error->function && !*error->argument);

  ERROR_OF(THMemoryError("%s", "too much"));
  CHECK(error->code == PYTHNN_MEMORY_ERROR && strcmp(error->message, "too much") == 0);
  ERROR_OF(THError("not enough memory of what was said"));
  CHECK(error->code == PYTHNN_ERROR);

  CHECK(pythnn_rejectNull("f", 1, "self") == PYTHNN_ARGUMENT_ERROR);
  CHECK(strcmp(error->argument, "self") == 0 && !*error->location);
  CHECK(pythnn_failed() == PYTHNN_ARGUMENT_ERROR && pythnn_failed() == 0);
}

int main(void)
{
  testNestedErrors();
  testHandlersOfTheHostAreRestored();
  testFields();
  return checkResult();
}
