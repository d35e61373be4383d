/* Runs grids: blocks one after the other, the threads of a block as fibers on one system thread.
 * A fiber runs threads back to back until one of them has to wait, so kernels without barriers
 * cost one call per thread. */
#include "cuemu.h"

#include <mutex>
#include <stdlib.h>
#include <vector>

namespace cuemu
{

Builtins builtins;
Running running;

enum { MAXIMUM_THREADS = 512, WARP = 32 };

enum Waiting { NOTHING, AT_BARRIER, AT_WARP };

/* A fiber, and what the thread on it waits for. */
struct Worker {
  Fiber fiber;
  unsigned thread = 0; /* linear index */
  Waiting waiting = NOTHING;
  const char *file = nullptr;
  int line = 0;

  BarrierKind barrierKind = BARRIER_PLAIN;
  int predicate = 0;

  WarpKind warpKind = WARP_SYNC;
  unsigned mask = 0;
  uint64_t value = 0;
  int sourceLane = 0;
  uint32_t warpEpoch = 0;

  uint64_t result = 0;
};

struct Block {
  unsigned threads = 0;
  unsigned started = 0;
  void (*body)(const void *) = nullptr;
  std::vector<bool> finished;
  std::vector<Worker *> waiting; /* in the order in which they stopped */
  Worker *current = nullptr;
};

static Block block;
static Fiber scheduler;
/* Never freed: a program may end inside a kernel. */
static std::vector<Worker *> &idle = *new std::vector<Worker *>;
static std::vector<Worker *> &all = *new std::vector<Worker *>;
static std::mutex launchMutex;
static bool reversed = getenv("CUEMU_REVERSE") && atoi(getenv("CUEMU_REVERSE"));

#ifdef CUEMU_ASAN
static const size_t STACK_BYTES = 512 << 10;
#else
static const size_t STACK_BYTES = 128 << 10;
#endif

static void setThread(Worker *worker, unsigned thread)
{
  const dim3 size = builtins.blockDim;
  builtins.threadIdx.x = thread % size.x;
  builtins.threadIdx.y = thread / size.x % size.y;
  builtins.threadIdx.z = thread / (size.x * size.y);
  worker->thread = thread;
  running.thread = thread;
  running.warpEpoch = worker->warpEpoch;
}

static void workerMain()
{
  fiberEntered();
  for (;;) {
    Worker *worker = block.current;
    while (block.started < block.threads) {
      const unsigned next = block.started++;
      worker->warpEpoch = 0;
      setThread(worker, reversed ? block.threads - 1 - next : next);
      running.insideThread = true;
      block.body(running.arguments);
      running.insideThread = false;
      block.finished[worker->thread] = true;
    }
    worker->waiting = NOTHING;
    fiberSwitch(&worker->fiber, &scheduler);
  }
}

static Worker *idleWorker()
{
  if (idle.empty()) {
    Worker *worker = new Worker;
    fiberCreate(&worker->fiber, STACK_BYTES, workerMain);
    all.push_back(worker);
    idle.push_back(worker);
  }
  Worker *worker = idle.back();
  idle.pop_back();
  return worker;
}

/* Lets a worker go on until it waits or has nothing left to run. */
static void resume(Worker *worker, std::vector<Worker *> *waiting)
{
  block.current = worker;
  fiberSwitch(&scheduler, &worker->fiber);
  (worker->waiting == NOTHING ? idle : *waiting).push_back(worker);
}

/* Called by the thread that runs: back to the scheduler until it may go on. */
static uint64_t wait(Worker *worker, Waiting reason, const char *file, int line)
{
  worker->waiting = reason;
  worker->file = file;
  worker->line = line;
  running.insideThread = false;
  fiberSwitch(&worker->fiber, &scheduler);
  running.insideThread = true;
  setThread(worker, worker->thread);
  return worker->result;
}

static Worker *currentWorker(const char *what)
{
  if (!running.insideThread)
    fail("%s outside a kernel", what);
  return block.current;
}

int barrier(BarrierKind kind, int predicate, const char *file, int line)
{
  Worker *worker = currentWorker("__syncthreads");
  worker->barrierKind = kind;
  worker->predicate = predicate;
  return (int)wait(worker, AT_BARRIER, file, line);
}

uint64_t warp(WarpKind kind, unsigned mask, uint64_t value, int sourceLane, const char *file,
              int line)
{
  Worker *worker = currentWorker("a warp function");
  const unsigned lane = worker->thread % WARP;
  if (!(mask >> lane & 1))
    fail("the calling lane %u is not in the mask %08x at %s:%d", lane, mask, file, line);
  if (kind == WARP_SHUFFLE && !(mask >> sourceLane & 1))
    fail("a shuffle reads lane %d, which is not in the mask %08x, at %s:%d", sourceLane, mask, file,
         line);
  worker->warpKind = kind;
  worker->mask = mask;
  worker->value = value;
  worker->sourceLane = sourceLane;
  return wait(worker, AT_WARP, file, line);
}

int shuffleSource(ShuffleKind kind, int operand, int width)
{
  if (width < 1 || width > WARP || (width & (width - 1)) != 0)
    fail("the width of a shuffle is %d, not a power of two up to 32", width);
  const int lane = (int)(running.thread % WARP), first = lane & ~(width - 1);
  int source = lane;
  switch (kind) {
  case SHUFFLE_INDEX:
    return first + (operand & (width - 1));
  case SHUFFLE_UP:
    source = lane - operand;
    break;
  case SHUFFLE_DOWN:
    source = lane + operand;
    break;
  case SHUFFLE_XOR:
    source = lane ^ operand;
    break;
  }
  return source < first || source >= first + width ? lane : source;
}

unsigned activeMask()
{
  fail("__activemask depends on how the hardware schedules threads; pass a mask that the code "
       "implies");
}

/* ---- who may go on */

static bool sameSite(const Worker *a, const Worker *b)
{
  return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* All threads are at __syncthreads: the value that they get. */
static uint64_t barrierResult()
{
  int count = 0;
  for (const Worker *worker : block.waiting)
    count += worker->predicate;
  switch (block.waiting[0]->barrierKind) {
  case BARRIER_AND:
    return count == (int)block.threads;
  case BARRIER_OR:
    return count > 0;
  default:
    return (uint64_t)count;
  }
}

static bool allAtBarrier()
{
  for (const Worker *worker : block.waiting)
    if (worker->waiting != AT_BARRIER)
      return false;
  const Worker *first = block.waiting[0];
  if (block.waiting.size() != block.threads)
    fail("divergent barrier: %zu of %u threads wait at __syncthreads (%s:%d), the others have "
         "left the kernel",
         block.waiting.size(), block.threads, first->file, first->line);
  for (const Worker *worker : block.waiting)
    if (!sameSite(first, worker))
      fail("divergent barrier: thread %u waits at __syncthreads %s:%d, thread %u at %s:%d",
           first->thread, first->file, first->line, worker->thread, worker->file, worker->line);
  return true;
}

/* The lanes of a warp that wait for warp functions. */
struct Warp {
  Worker *lanes[WARP];
  uint32_t epoch;
};
static Warp warps[MAXIMUM_THREADS / WARP];

/* Completes the warp function that `worker` waits for if all lanes of its mask have arrived. */
static bool completeWarp(Worker *worker)
{
  const unsigned first = worker->thread / WARP * WARP;
  Warp &warp = warps[worker->thread / WARP];
  uint64_t ballot = 0;
  for (unsigned lane = 0; lane < WARP; lane++) {
    if (!(worker->mask >> lane & 1))
      continue;
    if (first + lane >= block.threads || block.finished[first + lane])
      fail("divergent warp: lane %u of the mask %08x, for which thread %u waits at %s:%d, %s", lane,
           worker->mask, worker->thread, worker->file, worker->line,
           first + lane >= block.threads ? "does not exist" : "has left the kernel");
    const Worker *other = warp.lanes[lane];
    if (!other || other->mask != worker->mask || other->warpKind != worker->warpKind ||
        !sameSite(worker, other))
      return false;
    ballot |= (other->value & 1) << lane;
  }
  if (worker->warpKind == WARP_SYNC)
    warp.epoch++;
  for (unsigned lane = 0; lane < WARP; lane++)
    if (worker->mask >> lane & 1) {
      Worker *other = warp.lanes[lane];
      other->result =
          worker->warpKind == WARP_SHUFFLE ? warp.lanes[other->sourceLane]->value : ballot;
      if (worker->warpKind == WARP_SYNC)
        other->warpEpoch = warp.epoch;
      other->waiting = NOTHING;
    }
  return true;
}

/* Marks those who may go on by `waiting == NOTHING`. */
static void release()
{
  if (allAtBarrier()) {
    const uint64_t result = barrierResult();
    for (Worker *worker : block.waiting) {
      worker->result = result;
      worker->waiting = NOTHING;
    }
    running.blockEpoch++;
    return;
  }
  for (Warp &warp : warps)
    for (Worker *&lane : warp.lanes)
      lane = nullptr;
  for (Worker *worker : block.waiting)
    if (worker->waiting == AT_WARP)
      warps[worker->thread / WARP].lanes[worker->thread % WARP] = worker;
  bool progress = false;
  for (Worker *worker : block.waiting)
    if (worker->waiting == AT_WARP)
      progress |= completeWarp(worker);
  if (!progress) {
    const Worker *a = block.waiting[0], *b = a;
    for (const Worker *worker : block.waiting)
      if (worker->waiting != a->waiting || !sameSite(a, worker))
        b = worker;
    fail("divergent barrier: thread %u waits at %s:%d, thread %u at %s:%d, and nobody can go on",
         a->thread, a->file, a->line, b->thread, b->file, b->line);
  }
}

static void runBlock()
{
  block.started = 0;
  block.finished.assign(block.threads, false);
  block.waiting.clear();
  running.blockSerial++;
  running.blockEpoch = 0;
  for (Warp &warp : warps)
    warp.epoch = 0;
  sharedNewBlock();

  while (block.started < block.threads)
    resume(idleWorker(), &block.waiting);
  std::vector<Worker *> still;
  while (!block.waiting.empty()) {
    release();
    still.clear();
    for (Worker *worker : block.waiting) {
      if (worker->waiting == NOTHING)
        resume(worker, &still);
      else
        still.push_back(worker);
    }
    block.waiting.swap(still);
  }
  sharedCheck();
}

static bool validConfiguration(dim3 grid, dim3 threads)
{
  const uint64_t count = (uint64_t)threads.x * threads.y * threads.z;
  return grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x <= 0x7fffffffu && grid.y <= 65535 &&
         grid.z <= 65535 && count > 0 && count <= MAXIMUM_THREADS;
}

cudaError_t runGrid(const char *kernel, dim3 grid, dim3 threads, size_t shared, cudaStream_t stream,
                    void (*body)(const void *), const void *arguments, size_t argumentBytes)
{
  std::lock_guard<std::mutex> lock(launchMutex);
  const cudaError_t status = checkStream(stream);
  if (status != cudaSuccess)
    return setError(status);
  if (launchShouldFail())
    return setError(cudaErrorLaunchOutOfResources);
  if (!validConfiguration(grid, threads) || shared > 48 << 10)
    return setError(cudaErrorInvalidConfiguration);

  builtins.gridDim = grid;
  builtins.blockDim = threads;
  block.threads = threads.x * threads.y * threads.z;
  block.body = body;
  running.kernel = kernel;
  running.lastKernel = kernel;
  running.launch++;
  running.arguments = arguments;
  running.argumentBytes = argumentBytes;
  openMemory();
  sharedBegin(shared);
  const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
  for (uint64_t i = 0; i < blocks; i++) {
    const uint64_t linear = reversed ? blocks - 1 - i : i;
    builtins.blockIdx.x = (unsigned)(linear % grid.x);
    builtins.blockIdx.y = (unsigned)(linear / grid.x % grid.y);
    builtins.blockIdx.z = (unsigned)(linear / grid.x / grid.y);
    running.block = (uint32_t)linear;
    runBlock();
  }
  checkGuards();
  closeMemory();
  running.kernel = nullptr;
  return cudaSuccess;
}

bool onCurrentStack(uintptr_t address)
{
  const Fiber &fiber = block.current->fiber;
  return address >= (uintptr_t)fiber.stack && address < (uintptr_t)fiber.stack + fiber.stackBytes;
}

bool onAnyFiberStack(uintptr_t address)
{
  for (const Worker *worker : all)
    if (address >= (uintptr_t)worker->fiber.stack &&
        address < (uintptr_t)worker->fiber.stack + worker->fiber.stackBytes)
      return true;
  return false;
}

} // namespace cuemu

void cuemu_setReverse(int reverse)
{
  cuemu::reversed = reverse != 0;
}

int64_t cuemu_launches(void)
{
  return cuemu::running.launch;
}
