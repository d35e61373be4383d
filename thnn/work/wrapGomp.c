/* Replaces the start of GCC's parallel regions: the linker redirects this library's calls of
 * GOMP_parallel to __wrap_GOMP_parallel.
 *
 * libgomp makes a system call at the end of each region, even one of a single thread, which takes
 * longer than a small layer. So a region of one thread becomes a plain call of its function; but
 * not inside another region, where the function's loops would be divided among that region's
 * threads.
 *
 * When libgomp cannot create a thread, because of a limit on processes or memory, it ends the
 * process. So before a region gets more threads than the calling thread's team has, that many are
 * created and joined on trial, and the region gets no more than could be created. */
#define _GNU_SOURCE /* syscall */
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#  include <sys/syscall.h>
#  include <sys/sysinfo.h>
#endif

typedef void Run(void *data);

void __real_GOMP_parallel(Run *run, void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(Run *run, void *data, unsigned threads, unsigned flags);

/* ---- The stacks of libgomp's threads --------------------------------------------------------- */

/* Parses "512k", "8 M", or a number of kilobytes; returns false for what libgomp ignores. */
static bool parseStackSize(const char *text, size_t *bytes)
{
  if (!text)
    return false;
  char *end;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  if (errno || end == text)
    return false;
  end += strspn(end, " \t\n");
  static const char units[] = "bBkKmMgG";
  const char *unit = *end ? strchr(units, *end) : "k";
  if (!unit)
    return false;
  const int shift = *end ? (int)(unit - units) / 2 * 10 : 10;
  *bytes = (size_t)number << shift;
  return *bytes >> shift == number;
}

static void initializeAttributes(pthread_attr_t *attributes)
{
  pthread_attr_init(attributes);
  size_t bytes;
  if (parseStackSize(getenv("OMP_STACKSIZE"), &bytes) ||
      parseStackSize(getenv("GOMP_STACKSIZE"), &bytes))
    pthread_attr_setstacksize(attributes, bytes); /* fails, and changes nothing, if too small */
}

/* ---- How many threads can be made ------------------------------------------------------------ */

typedef struct Trial {
  pthread_mutex_t *gate;
  pthread_t thread;
  long number; /* the kernel's id of the thread */
} Trial;

static void *pass(void *data)
{
  Trial *trial = data;
#ifdef __linux__
  trial->number = syscall(SYS_gettid);
#endif
  pthread_mutex_lock(trial->gate);
  pthread_mutex_unlock(trial->gate);
  return NULL;
}

/* Waits until the kernel has let go of a joined thread: until then it counts against the limit on
 * threads. Gives up after PATIENCE turns. */
static void waitUntilGone(const Trial *trial)
{
#ifdef __linux__
  enum { PATIENCE = 10000 };
  for (int i = 0; i < PATIENCE && syscall(SYS_tgkill, getpid(), trial->number, 0) == 0; i++)
    sched_yield();
#else
  (void)trial;
#endif
}

/* Creates threads that all wait, until `wanted` exist or one fails, then lets them end. Returns how
 * many existed. */
static int tryThreads(Trial *trials, int wanted)
{
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_attr_t attributes;
  initializeAttributes(&attributes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* so that signals go to the program's own threads */
  pthread_mutex_lock(&gate);
  int made = 0;
  while (made < wanted) {
    trials[made].gate = &gate;
    if (pthread_create(&trials[made].thread, &attributes, pass, &trials[made]) != 0)
      break;
    made++;
  }
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < made; i++)
    pthread_join(trials[i].thread, NULL);
  for (int i = 0; i < made; i++)
    waitUntilGone(&trials[i]);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return made;
}

/* The largest team of at most `wanted` threads that can be created, the calling one included. The
 * trial holds FOR_LIBGOMP bytes and 1 kB for each thread, so that as much is left for libgomp's own
 * allocations. */
static int largestTeam(int wanted)
{
  enum { FOR_LIBGOMP = 1 << 18 };
  Trial *trials = malloc((size_t)wanted * sizeof *trials);
  void *volatile room = malloc(FOR_LIBGOMP + (size_t)wanted * 1024);
  const int made = trials && room ? tryThreads(trials, wanted - 1) : 0;
  free(room);
  free(trials);
  return made + 1;
}

/* ---- Teams ----------------------------------------------------------------------------------- */

typedef struct Limits {
  struct rlimit processes, memory;
} Limits;

/* Held while a thread finds out how many threads can be created, and creates them. */
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;
static unsigned long growths; /* of the teams of all calling threads */

/* What the calling thread knows about its team. libgomp keeps a team's threads from one region to
 * the next, but those that the next region does not need end. */
static _Thread_local struct {
  int size;              /* threads in the team now */
  int asked, granted;    /* threads that the last trial asked for, and that could be created */
  Limits limits;         /* the limits at the last trial */
  unsigned long growths; /* of all teams, when this one had last grown */
} team = {.size = 1};

static void readLimits(Limits *limits)
{
  memset(limits, 0, sizeof *limits); /* they are compared byte by byte */
  getrlimit(RLIMIT_NPROC, &limits->processes);
  getrlimit(RLIMIT_AS, &limits->memory);
}

/* Whether `size` more threads are within the limit on processes whoever owns the threads that exist.
 * These include threads of the calling thread's team that have been left out and have not ended
 * yet. */
static bool isWithinLimit(int size, const struct rlimit *processes)
{
#ifdef __linux__
  struct sysinfo system;
  if (processes->rlim_cur != RLIM_INFINITY)
    return sysinfo(&system) == 0 && system.procs + (rlim_t)size <= processes->rlim_cur;
#else
  (void)size, (void)processes;
#endif
  return true;
}

/* Whether a team of `size` threads can be created without a trial: the last trial created all that
 * it asked for, no other team has taken threads since, and neither memory nor processes are scarce.
 * Otherwise what is left may change at any time. */
static bool isPlenty(int size, const Limits *limits)
{
  return size <= team.granted && team.granted == team.asked && team.growths == growths &&
         limits->memory.rlim_cur == RLIM_INFINITY && isWithinLimit(size, &limits->processes);
}

static void nothing(void *data)
{
  (void)data;
}

/* Creates the threads of a team of `size`, which stay until the next region. */
static void createTeam(int size)
{
  if (size > 1)
    __real_GOMP_parallel(nothing, NULL, (unsigned)size, 0);
  team.growths = ++growths;
}

/* The number of threads for a region that wants more than the team has. */
static int growTeam(int wanted)
{
  Limits limits;
  readLimits(&limits);
  int size = 0; /* 0: to be tried */
  pthread_mutex_lock(&growing);
  if (wanted <= team.asked && memcmp(&limits, &team.limits, sizeof limits) == 0) {
    const int known = wanted < team.granted ? wanted : team.granted;
    if (known <= team.size || isPlenty(known, &limits))
      size = known;
  }
  if (size == 0) {
    team.limits = limits;
    team.asked = wanted;
    team.granted = size = largestTeam(wanted);
  }
  if (size > team.size)
    createTeam(size);
  pthread_mutex_unlock(&growing);
  return size;
}

/* The number of threads for a region inside another one, for which libgomp creates a new team. */
static int nestedTeam(int wanted)
{
  if (wanted == 1 || omp_get_active_level() >= omp_get_max_active_levels())
    return wanted;
  pthread_mutex_lock(&growing);
  const int size = largestTeam(wanted);
  pthread_mutex_unlock(&growing);
  return size;
}

void __wrap_GOMP_parallel(Run *run, void *data, unsigned threads, unsigned flags)
{
  int size = threads > 0 ? (int)threads : omp_get_max_threads();
  if (omp_get_level() > 0) {
    __real_GOMP_parallel(run, data, (unsigned)nestedTeam(size), flags);
    return;
  }
  if (size > team.size)
    size = growTeam(size);
  if (size == 1) {
    run(data);
    return;
  }
  team.size = size;
  __real_GOMP_parallel(run, data, (unsigned)size, flags);
}
