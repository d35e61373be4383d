/* All that the C tests need of a test framework.
 *
 *     CHECK(condition);                     goes on after a failure
 *     CHECK_RAISES(statement, "text");      the statement must raise an error with this text
 *     int main(void) { catchErrors(); … return checkResult(); } */

#ifndef CHECK_H
#define CHECK_H

#include <TH/TH.h>

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

__attribute__((weak)) int checkFailures; /* one count for all files of a program */
static jmp_buf checkJump;
static char checkMessage[TH_MESSAGE_LENGTH]; /* of the last error raised */
static int checkArgument;                    /* its argument, 0 if it was about none */

static inline void checkThat(int condition, const char *text, const char *file, int line)
{
  if (condition)
    return;
  checkFailures++;
  printf("%s:%d: failed: %s\n", file, line, text);
}

#define CHECK(condition) checkThat((condition) != 0, #condition, __FILE__, __LINE__)

#define CHECK_RAISES(statement, text)                                                              \
  do {                                                                                             \
    if (setjmp(checkJump) == 0) {                                                                  \
      statement;                                                                                   \
      checkThat(0, "no error: " #statement, __FILE__, __LINE__);                                   \
    } else if (!strstr(checkMessage, text)) {                                                      \
      checkThat(0, checkMessage, __FILE__, __LINE__);                                              \
    }                                                                                              \
  } while (0)

static inline void checkCatch(const char *message, void *data)
{
  (void)data;
  checkArgument = 0;
  snprintf(checkMessage, sizeof checkMessage, "%s", message);
  longjmp(checkJump, 1);
}

static inline void checkCatchArgument(int argNumber, const char *message, void *data)
{
  (void)data;
  checkArgument = argNumber;
  snprintf(checkMessage, sizeof checkMessage, "%s", message);
  longjmp(checkJump, 1);
}

/* Sends the calling thread's errors to CHECK_RAISES. */
static inline void catchErrors(void)
{
  THSetErrorHandler(checkCatch, NULL);
  THSetArgErrorHandler(checkCatchArgument, NULL);
}

/* The exit status of the test program. */
static inline int checkResult(void)
{
  return checkFailures > 0;
}

#endif
