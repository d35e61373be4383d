/* Random calls of every function of THNN.h, THNNExtraModules.h and THNNExtraSequences.h.
 *
 *     test_random_calls --count 10000000 --seed 1 --jobs 2
 *
 * Each session begins with a recorded call with other sizes, mostly a valid one, and goes on with the
 * other functions of its module. A call that does what it should not is printed, with the session that
 * makes it again: --session N. `--functions 1` prints how often each was accepted.
 *
 *     test_random_calls --allocations 1
 *
 * makes every recorded call with each of its allocations failing. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "fuzz.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST_JOBS = 64,
  MOST_FUNCTIONS = 512,
  LONGEST = 10, /* seconds of processor time that a call may take: it should take microseconds */
};

/* What a process tells the one that started it. */
typedef struct Job {
  int64_t calls, session;
  int64_t outcomes[MOST_FUNCTIONS][OUTCOMES];
} Job;

static Job *job;
static uint64_t seed = 1;
static bool prints; /* each call before it is made */

/* ---- Sessions ----------------------------------------------------------------------------------- */

static bool make(Call *call)
{
  if (prints) {
    printCall(call);
    fflush(stdout);
  }
  const Outcome outcome = makeCall(call);
  job->calls++;
  job->outcomes[call->function - functions][outcome]++;
  return outcome == OUTCOME_ACCEPTED;
}

static bool isOfModule(const Function *function, const Function *other)
{
  const size_t length = strcspn(function->name, "_") + 1;
  return strncmp(function->name, other->name, length) == 0;
}

static void runSession(int64_t session)
{
  Random random = {seed * 0x2545f4914f6cdd1du + (uint64_t)session};
  random.state = next(&random);
  const Function *function = &functions[between(&random, 0, functionCount - 1)];
  Call call, following;
  Changes changes;
  forgetElements();
  draftRecorded(&call, function, &random, &changes);
  varyCall(&call, &random);
  if (chance(&random, 35))
    damageCall(&call, &random);
  call.isKept = true;
  if (!make(&call))
    return;
  for (const Function *other = functions; other < functions + functionCount; other++) {
    if (other == function || !isOfModule(function, other) ||
        !draftFollowing(&following, other, &call, &changes, &random))
      continue;
    varyCall(&following, &random);
    if (chance(&random, 35))
      damageCall(&following, &random);
    make(&following);
  }
}

/* ---- Failing allocations ------------------------------------------------------------------------ */

/* Makes a call with its 1st, 2nd, 3rd … allocation failing, until it is accepted: how many there are, or
 * -1 where its arguments are refused, as this library does on purpose with some that were recorded. */
static int64_t failEach(Call *call)
{
  for (call->failing = 1;; call->failing++) {
    const Outcome outcome = makeCall(call);
    job->outcomes[call->function - functions][outcome]++;
    if (outcome != OUTCOME_NO_MEMORY)
      return outcome == OUTCOME_ACCEPTED ? call->failing - 1 : -1;
  }
}

/* Does it for every recorded call of every function, in both real types: as it is, with strided tensors,
 * and in a reproducible state. */
static void failAllocations(void)
{
  enum { REALS = 2, VARIANTS = 3 };
  static const Layout layouts[VARIANTS] = {LAYOUT_DENSE, LAYOUT_SPREAD, LAYOUT_DENSE};
  int64_t failed = 0, calls = 0;
  Call call;
  startMaking();
  for (int f = 0; f < functionCount; f++) {
    for (int number = 0; number < functions[f].recordedCalls; number++)
      for (int i = 0; i < REALS * VARIANTS; i++) {
        const int variant = i / REALS;
        draftExactly(&call, &functions[f], number, i % REALS);
        for (int a = 0; a < functions[f].parameterCount; a++)
          call.values[a].layout = layouts[variant];
        call.settings = (Settings){.isGiven = variant == VARIANTS - 1,
                                   .threads = 2,
                                   .minimumWork = 1,
                                   .workspaceLimit = 1 << 16,
                                   .isReproducible = true};
        const int64_t count = failEach(&call);
        calls += count >= 0;
        failed += count < 0 ? 0 : count;
      }
    if (job->outcomes[f][OUTCOME_ACCEPTED] == 0) {
      printf("failed: no call of %s is accepted\n", functions[f].name);
      exit(1);
    }
  }
  printf("%" PRId64 " calls of %d functions, each of whose %" PRId64 " allocations has failed\n",
         calls, functionCount, failed);
}

/* ---- Processes ---------------------------------------------------------------------------------- */

static void onTick(int signal)
{
  static int64_t last = -1, ticks;
  (void)signal;
  ticks = job->calls == last ? ticks + 1 : 0;
  last = job->calls;
  if (ticks == LONGEST) {
    static const char text[] = "failed: it takes too long\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
      _exit(2);
    abort();
  }
}

static void startClock(void)
{
  const struct itimerval second = {{1, 0}, {1, 0}};
  signal(SIGPROF, onTick);
  setitimer(ITIMER_PROF, &second, NULL);
}

static void runJob(int64_t first, int64_t step, int64_t count)
{
  startMaking();
  startClock();
  for (job->session = first; job->calls < count; job->session += step)
    runSession(job->session);
}

static void runOne(int64_t session)
{
  prints = true;
  startMaking();
  startClock();
  runSession(session);
}

/* Forks; returns true in the child. */
static bool split(pid_t *child)
{
  fflush(stdout);
  *child = fork();
  if (*child < 0) {
    perror("fork");
    exit(2);
  }
  return *child == 0;
}

static bool endedWell(pid_t child)
{
  int status;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT)
    printf("failed: %s\n", strsignal(WTERMSIG(status)));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void report(const Job *jobs, int count, double seconds, bool ofFunctions)
{
  int64_t total[OUTCOMES] = {0}, calls = 0;
  int never = 0;
  for (int f = 0; f < functionCount; f++) {
    int64_t sums[OUTCOMES] = {0};
    for (int j = 0; j < count; j++)
      for (int o = 0; o < OUTCOMES; o++)
        sums[o] += jobs[j].outcomes[f][o];
    for (int o = 0; o < OUTCOMES; o++)
      total[o] += sums[o];
    never += sums[OUTCOME_ACCEPTED] == 0;
    if (ofFunctions)
      printf("%-45s %8" PRId64 " accepted %8" PRId64 " refused %8" PRId64 " without memory\n",
             functions[f].name, sums[OUTCOME_ACCEPTED], sums[OUTCOME_REFUSED],
             sums[OUTCOME_NO_MEMORY]);
  }
  for (int o = 0; o < OUTCOMES; o++)
    calls += total[o];
  printf("%" PRId64 " calls of %d functions in %.0f s: %" PRId64 " accepted, %" PRId64
         " refused, %" PRId64 " without memory; %d functions never accepted\n",
         calls, functionCount, seconds, total[OUTCOME_ACCEPTED], total[OUTCOME_REFUSED],
         total[OUTCOME_NO_MEMORY], never);
}

static int64_t option(int argc, char **argv, const char *name, int64_t otherwise)
{
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], name) == 0)
      return strtoll(argv[i + 1], NULL, 10);
  return otherwise;
}

/* Starts the program anew, in an environment that libraries read when they are loaded: threads sleep
 * when they wait, and BLAS has none of its own. */
static void restart(char **argv)
{
  if (getenv("OMP_WAIT_POLICY") && getenv("OPENBLAS_NUM_THREADS"))
    return;
  setenv("OMP_WAIT_POLICY", "passive", 0);
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
  restart(argv);
  const int64_t count = option(argc, argv, "--count", 20000);
  const int64_t session = option(argc, argv, "--session", -1);
  const int jobCount = (int)option(argc, argv, "--jobs", 1);
  seed = (uint64_t)option(argc, argv, "--seed", 1);
  if (jobCount < 1 || jobCount > MOST_JOBS || functionCount > MOST_FUNCTIONS)
    return 2;
  Job *jobs = mmap(NULL, sizeof(Job) * (size_t)jobCount, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (jobs == MAP_FAILED)
    return 2;
  job = jobs;
  if (session >= 0) {
    runOne(session);
    return 0;
  }
  if (option(argc, argv, "--allocations", 0)) {
    failAllocations();
    return 0;
  }
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  pid_t children[MOST_JOBS];
  for (int j = 0; j < jobCount; j++)
    if (split(&children[j])) {
      job = &jobs[j];
      runJob(j, jobCount, count / jobCount);
      return 0;
    }
  int failures = 0;
  for (int j = 0; j < jobCount; j++) {
    if (endedWell(children[j]))
      continue;
    failures++;
    printf("--seed %" PRIu64 " --session %" PRId64 ":\n", seed, jobs[j].session);
    pid_t again;
    if (split(&again)) {
      runOne(jobs[j].session);
      puts("(not again, alone)");
      return 0;
    }
    endedWell(again);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  report(jobs, jobCount,
         (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec),
         option(argc, argv, "--functions", 0) != 0);
  return failures > 0;
}
