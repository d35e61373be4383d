/* Errors: handlers per thread and per process, messages, what happens without a handler. */

#define _POSIX_C_SOURCE 200809L

#include "../check.h"

#include <TH/THHandlers.h>

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void testMessages(void)
{
  if (setjmp(checkJump) == 0)
    _THError("thnn/some.c", 12, "found %d", 3);
  CHECK(strcmp(checkMessage, "found 3 at thnn/some.c:12") == 0 && checkArgument == 0);
  if (setjmp(checkJump) == 0)
    _THArgCheck("thnn/some.c", 12, 0, 5, "%s tensor", "2D");
  CHECK(strcmp(checkMessage, "2D tensor at thnn/some.c:12") == 0 && checkArgument == 5);
  if (setjmp(checkJump) == 0)
    _THAssertionFailed("thnn/some.c", 12, "a == b", "%s", "");
  CHECK(strcmp(checkMessage, "Assertion `a == b' failed.  at thnn/some.c:12") == 0);
  CHECK(checkArgument == 0);

  THArgCheck(1, 1, "raised although it holds");
  THAssert(1);
  _THArgCheck("thnn/some.c", 12, 1, 1, "raised although it holds");
  CHECK_RAISES(THArgCheck(checkFailures < 0, 2, "%s", "macro"), "macro at " __FILE__ ":");
  CHECK(checkArgument == 2);
  CHECK_RAISES(THError("macro"), "macro at " __FILE__ ":");
  CHECK_RAISES(THAssertMsg(checkFailures < 0, "because of %d", 7),
               "Assertion `checkFailures < 0' failed. because of 7 at " __FILE__ ":");
}

/* A long message is cut, the place at its end is not. */
static void testLongMessages(void)
{
  static char text[3 * TH_MESSAGE_LENGTH];
  memset(text, 'x', sizeof text - 1);
  if (setjmp(checkJump) == 0)
    _THError("file.c", 1, "%s", text);
  CHECK(strlen(checkMessage) < TH_MESSAGE_LENGTH && strlen(checkMessage) > 1700);
  CHECK(strcmp(checkMessage + strlen(checkMessage) - 11, " at file.c:") > 0);
  CHECK(strstr(checkMessage, "xxx at file.c:1"));
  strcpy(text + sizeof text - 10, "/end.c");
  if (setjmp(checkJump) == 0)
    _THError(text, 1, "short");
  CHECK(strstr(checkMessage, "short at x") && strstr(checkMessage, "/end.c:1"));
}

/* An error names the place of the call that is under way; the next error does not. */
static void testCallers(void)
{
  static char path[2 * TH_MESSAGE_LENGTH], text[2 * TH_MESSAGE_LENGTH];
  THSetCaller("program.c", 7);
  if (setjmp(checkJump) == 0)
    _THError("thnn/some.c", 12, "found %d", 3);
  CHECK(strcmp(checkMessage, "found 3 at thnn/some.c:12, called at program.c:7") == 0);
  CHECK(THGetErrorFacts().length == strlen("found 3"));
  if (setjmp(checkJump) == 0)
    _THError("thnn/some.c", 12, "found %d", 3);
  CHECK(strcmp(checkMessage, "found 3 at thnn/some.c:12") == 0);

  memset(path, 'x', sizeof path - 1);
  strcpy(path + sizeof path - 10, "/end.c");
  memset(text, 'y', sizeof text - 1);
  THSetCaller(path, INT_MAX);
  if (setjmp(checkJump) == 0)
    _THError(path, INT_MAX, "%s", text);
  CHECK(strstr(checkMessage, "yyy at x") && strstr(checkMessage, "/end.c:2147483647, called at x"));
  const char *const called = strstr(checkMessage, "called at ");
  CHECK(called && strstr(called, "/end.c:2147483647"));
}

static void testSizeDescriptions(void)
{
  int64_t sizes[40];
  for (int i = 0; i < 40; i++)
    sizes[i] = 100 + i;
  CHECK(strcmp(_THSizeDesc(sizes, 0).str, "[]") == 0);
  CHECK(strcmp(_THSizeDesc(sizes, 1).str, "[100]") == 0);
  CHECK(strcmp(_THSizeDesc(sizes, 3).str, "[100 x 101 x 102]") == 0);
  for (int n = 8; n < 40; n++) {
    THDescBuff text = _THSizeDesc(sizes, n);
    CHECK(strlen(text.str) < TH_DESC_BUFF_LEN && text.str[strlen(text.str) - 1] == ']');
    CHECK(n <= 10 || strstr(text.str, "...]"));
  }
}

/* ---- Handlers */

static void countError(const char *message, void *data)
{
  (void)message;
  ++*(int *)data;
  longjmp(checkJump, 1);
}

static void countArgError(int argNumber, const char *message, void *data)
{
  (void)message;
  *(int *)data += 100 * argNumber;
  longjmp(checkJump, 1);
}

static void raiseBoth(void)
{
  if (setjmp(checkJump) == 0)
    THError("an error");
  if (setjmp(checkJump) == 0)
    THArgCheck(0, 2, "an error");
}

static int defaults;

static void *raiseInThread(void *data)
{
  raiseBoth();
  CHECK(defaults == 201);
  int own = 0;
  THSetErrorHandler(countError, &own);
  THSetArgErrorHandler(countArgError, &own);
  raiseBoth();
  CHECK(own == 201 && defaults == 201);
  THSetErrorHandler(NULL, NULL);
  THSetArgErrorHandler(NULL, NULL);
  raiseBoth();
  CHECK(own == 201 && defaults == 402);
  return data;
}

static void testHandlers(void)
{
  int own = 0;
  THSetErrorHandler(countError, &own);
  THSetArgErrorHandler(countArgError, &own);
  THSetDefaultErrorHandler(countError, &defaults);
  THSetDefaultArgErrorHandler(countArgError, &defaults);
  raiseBoth();
  CHECK(own == 201 && defaults == 0);

  pthread_t thread;
  pthread_create(&thread, NULL, raiseInThread, NULL);
  pthread_join(thread, NULL);
  raiseBoth();
  CHECK(own == 402 && defaults == 402);

  THErrorHandlerFunction handler;
  THArgErrorHandlerFunction argHandler;
  void *data, *argData;
  THGetErrorHandler(&handler, &data);
  THGetArgErrorHandler(&argHandler, &argData);
  CHECK(handler == countError && data == &own);
  CHECK(argHandler == countArgError && argData == &own);
  THSetErrorHandler(NULL, NULL);
  THGetErrorHandler(&handler, &data);
  CHECK(handler == NULL);

  THSetDefaultErrorHandler(NULL, NULL);
  THSetDefaultArgErrorHandler(NULL, NULL);
  catchErrors();
}

/* ---- Without a handler the process ends: tried in a child */

static void raiseError(void)
{
  THError("the message");
}

static void raiseArgError(void)
{
  THArgCheck(0, 3, "the message");
}

static void ignoreError(const char *message, void *data)
{
  (void)message;
  (void)data;
}

static void raiseIgnored(void)
{
  THSetErrorHandler(ignoreError, NULL);
  THError("the message");
}

/* Runs an action in a child without handlers; returns its status, and what it wrote to standard
 * error. */
static int statusOf(void (*action)(void), char *output, size_t length)
{
  int ends[2];
  if (pipe(ends) != 0)
    return -1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    THSetErrorHandler(NULL, NULL);
    THSetArgErrorHandler(NULL, NULL);
    action();
    _exit(0);
  }
  close(ends[1]);
  ssize_t count = read(ends[0], output, length - 1);
  output[count > 0 ? count : 0] = 0;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

static void testBuiltInHandlers(void)
{
  char output[1000];
  int status = statusOf(raiseError, output, sizeof output);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 255);
  CHECK(strstr(output, "Error: the message at " __FILE__ ":"));
  status = statusOf(raiseArgError, output, sizeof output);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 255);
  CHECK(strstr(output, "Error: invalid argument 3: the message at "));
  status = statusOf(raiseIgnored, output, sizeof output);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(output, "the message") && strstr(output, "must not"));
}

int main(void)
{
  catchErrors();
  testMessages();
  testLongMessages();
  testCallers();
  testSizeDescriptions();
  testHandlers();
  testBuiltInHandlers();
  return checkResult();
}
