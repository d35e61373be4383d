#include "guard.h"

#include <stdio.h>
#include <string.h>
#include <call/check.h>

static TH_THREAD_LOCAL pythnn_Guard *innermost;
static TH_THREAD_LOCAL pythnn_Error lastError;
static TH_THREAD_LOCAL int failed;

pythnn_Error *pythnn_lastError(void)
{
  return &lastError;
}

static void copyText(char *to, size_t room, const char *from)
{
  snprintf(to, room, "%s", from ? from : "");
}

/* An error that TH has raised: its message ends in its place. */
static void record(int code, int position, const char *message)
{
  static const char before[] = " at ";
  const THErrorFacts facts = THGetErrorFacts();
  const THNNRejection rejection = THNN_takeRejection();
  lastError.code = facts.isMemory ? PYTHNN_MEMORY_ERROR : code;
  lastError.position = position;
  copyText(lastError.function, sizeof lastError.function, rejection.function);
  copyText(lastError.argument, sizeof lastError.argument, rejection.name);
  copyText(lastError.location, sizeof lastError.location, message + facts.length + strlen(before));
  snprintf(lastError.message, sizeof lastError.message, "%.*s", (int)facts.length, message);
}

static void jump(int code, int position, const char *message)
{
  record(code, position, message);
  innermost->code = lastError.code;
  longjmp(innermost->target, 1);
}

static void onError(const char *message, void *data)
{
  (void)data;
  jump(PYTHNN_ERROR, 0, message);
}

static void onArgumentError(int position, const char *message, void *data)
{
  (void)data;
  jump(PYTHNN_ARGUMENT_ERROR, position, message);
}

void pythnn_enter(pythnn_Guard *guard)
{
  guard->code = PYTHNN_OK;
  guard->outer = innermost;
  innermost = guard;
  THGetErrorHandler(&guard->errorHandler, &guard->errorData);
  THGetArgErrorHandler(&guard->argumentHandler, &guard->argumentData);
  THSetErrorHandler(onError, NULL);
  THSetArgErrorHandler(onArgumentError, NULL);
}

int pythnn_leave(pythnn_Guard *guard)
{
  THSetErrorHandler(guard->errorHandler, guard->errorData);
  THSetArgErrorHandler(guard->argumentHandler, guard->argumentData);
  innermost = guard->outer;
  failed = guard->code;
  return guard->code;
}

int pythnn_rejectNull(const char *function, int position, const char *name)
{
  lastError = (pythnn_Error){.code = PYTHNN_ARGUMENT_ERROR, .position = position};
  copyText(lastError.function, sizeof lastError.function, function);
  copyText(lastError.argument, sizeof lastError.argument, name);
  snprintf(lastError.message, sizeof lastError.message,
           "%s: argument #%d '%s': expected an object, found NULL", function, position, name);
  failed = PYTHNN_ARGUMENT_ERROR;
  return PYTHNN_ARGUMENT_ERROR;
}

int pythnn_failed(void)
{
  const int answer = failed;
  failed = 0;
  return answer;
}
