/* Kernels with one bug each: the emulation finds every one and names the kernel. A bug ends the
 * process that runs it, so each runs in a child. */
#include "kernels.cuh"

#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 64 };

/* ---- Barriers and warps */

static __global__ void __launch_bounds__(COUNT) halfWaits(int *out)
{
  if (threadIdx.x < COUNT / 2)
    __syncthreads();
  else
    __syncwarp();
  out[threadIdx.x] = 0;
  __syncthreads();
}

static __global__ void __launch_bounds__(COUNT) someLeave(int *out)
{
  if (threadIdx.x >= COUNT / 2)
    return;
  __syncthreads();
  out[threadIdx.x] = 0;
}

static __global__ void __launch_bounds__(COUNT) twoBarriers(int *out)
{
  if (threadIdx.x % 2)
    __syncthreads();
  else
    __syncthreads();
  out[threadIdx.x] = 0;
}

static __global__ void __launch_bounds__(COUNT) lanesMissing(int *out)
{
  if (threadIdx.x % 32 < 16)
    out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1, 1);
}

static __global__ void __launch_bounds__(COUNT) laneOutsideMask(int *out)
{
  if (threadIdx.x % 32 < 16)
    out[threadIdx.x] = __shfl_sync(0xffffu, 1, 20);
}

/* ---- Device memory */

static __global__ void __launch_bounds__(COUNT) readsBehind(const int *in, int *out)
{
  out[threadIdx.x] = in[threadIdx.x + 1];
}

static __global__ void __launch_bounds__(COUNT) writesBefore(int *out)
{
  out[(int)threadIdx.x - 1] = 0;
}

static __global__ void __launch_bounds__(COUNT) writesFarAway(int *out)
{
  out[threadIdx.x + (1 << 20)] = 0;
}

static __global__ void __launch_bounds__(COUNT) readsFreed(const int *const *where, int *out)
{
  out[threadIdx.x] = (*where)[threadIdx.x];
}

static __global__ void __launch_bounds__(COUNT) readsNothing(const int *in, int *out)
{
  if (in[threadIdx.x] > 0)
    out[threadIdx.x] = 1;
}

static __global__ void __launch_bounds__(COUNT) blocksRace(int *out)
{
  out[threadIdx.x] = blockIdx.x;
}

static __global__ void __launch_bounds__(COUNT) addsPlainly(int *out)
{
  out[0] += 1;
}

static __global__ void __launch_bounds__(COUNT) readsItsNeighbour(int *out)
{
  out[threadIdx.x] = out[(threadIdx.x + 1) % COUNT];
}

struct Parameters {
  const int *table;
};

static __global__ void __launch_bounds__(COUNT) followsHostPointer(Parameters parameters, int *out)
{
  out[threadIdx.x] = parameters.table[threadIdx.x];
}

static __global__ void __launch_bounds__(COUNT) copies(const int *in, int *out)
{
  out[threadIdx.x] = in[threadIdx.x];
}

/* ---- Shared memory */

static __global__ void __launch_bounds__(COUNT) noBarrier(const int *in, int *out)
{
  THC_SHARED(int, part, [COUNT]);
  part[threadIdx.x] = 0;
  __syncthreads();
  part[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = part[COUNT - 1 - threadIdx.x];
}

static __global__ void __launch_bounds__(COUNT) sharedOverrun(int *out)
{
  THC_SHARED(int, first, [COUNT]);
  THC_SHARED(int, second, [COUNT]);
  first[threadIdx.x + 1] = 1;
  second[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

static __global__ void __launch_bounds__(COUNT) sharedUnset(int *out)
{
  THC_SHARED(int, part, [COUNT]);
  if (threadIdx.x > 0)
    part[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = part[threadIdx.x];
}

static __global__ void __launch_bounds__(COUNT) sharedTooSmall(int *out)
{
  THC_DYNAMIC_SHARED(int, part);
  part[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = part[threadIdx.x];
}

/* ---- Running them */

static const std::vector<int> ones(COUNT, 1);

/* The kernel on memory that nobody has written, and on ones. */
template <void (*kernel)(int *)> static void onFresh(const char *name)
{
  DeviceArray<int> out(COUNT);
  launchNamed(name, kernel, 1, COUNT, 0, out.data);
}

template <void (*kernel)(int *)> static void onOnes(const char *name)
{
  DeviceArray<int> out(ones);
  launchNamed(name, kernel, 1, COUNT, 0, out.data);
}

template <void (*kernel)(const int *, int *)> static void fromOnes(const char *name)
{
  DeviceArray<int> in(ones), out(COUNT);
  launchNamed(name, kernel, 1, COUNT, 0, in.data, out.data);
}

static void runReadsFreed(const char *name)
{
  DeviceArray<int> out(COUNT), *in = new DeviceArray<int>(ones);
  DeviceArray<const int *> where(std::vector<const int *>(1, in->data));
  delete in;
  launchNamed(name, readsFreed, 1, COUNT, 0, where.data, out.data);
}

static void runReadsNothing(const char *name)
{
  DeviceArray<int> in(COUNT), out(COUNT);
  launchNamed(name, readsNothing, 1, COUNT, 0, in.data, out.data);
}

static void runTwoBlocks(const char *name)
{
  DeviceArray<int> out(COUNT);
  launchNamed(name, blocksRace, 2, COUNT, 0, out.data);
}

static void runFollowsHostPointer(const char *name)
{
  DeviceArray<int> out(COUNT);
  launchNamed(name, followsHostPointer, 1, COUNT, 0, Parameters{ones.data()}, out.data);
}

static void runOnHostPointer(const char *name)
{
  DeviceArray<int> out(COUNT);
  launchNamed(name, copies, 1, COUNT, 0, ones.data(), out.data);
}

static void runOnOtherDevice(const char *name)
{
  cudaSetDevice(1);
  DeviceArray<int> in(ones);
  cudaSetDevice(0);
  DeviceArray<int> out(COUNT);
  launchNamed(name, copies, 1, COUNT, 0, in.data, out.data);
}

static void runSharedTooSmall(const char *name)
{
  DeviceArray<int> out(COUNT);
  launchNamed(name, sharedTooSmall, 1, COUNT, (COUNT - 1) * sizeof(int), out.data);
}

static void runThenTouchOnHost(const char *name)
{
  static volatile int seen;
  DeviceArray<int> in(ones), out(COUNT);
  launchNamed(name, copies, 1, COUNT, 0, in.data, out.data);
  seen = out.data[3];
  printf("host code read %d\n", seen);
}

static void runThenCopyTooMuch(const char *name)
{
  static int target[COUNT + 1];
  DeviceArray<int> in(ones), out(COUNT);
  launchNamed(name, copies, 1, COUNT, 0, in.data, out.data);
  cudaMemcpy(target, out.data, sizeof target, cudaMemcpyDeviceToHost);
}

struct Bug {
  const char *kernel; /* its name, as it must appear */
  const char *text;   /* what must be said about it */
  void (*run)(const char *name);
  bool onlyIfChecked; /* found only where every access is checked */
};

static const Bug bugs[] = {
    {"halfWaits", "divergent barrier", onFresh<halfWaits>, false},
    {"someLeave", "have left the kernel", onFresh<someLeave>, false},
    {"twoBarriers", "divergent barrier", onFresh<twoBarriers>, false},
    {"lanesMissing", "divergent warp", onFresh<lanesMissing>, false},
    {"laneOutsideMask", "not in the mask", onFresh<laneOutsideMask>, false},
    {"readsBehind", "past the end", fromOnes<readsBehind>, false},
    {"writesBefore", "before an allocation", onFresh<writesBefore>, false},
    {"writesFarAway", "device memory", onFresh<writesFarAway>, false},
    {"readsFreed", "device memory", runReadsFreed, false},
    {"readsNothing", "device memory that nobody has written", runReadsNothing, true},
    {"blocksRace", "race", runTwoBlocks, true},
    {"addsPlainly", "race", onOnes<addsPlainly>, true},
    {"readsItsNeighbour", "race", onOnes<readsItsNeighbour>, true},
    {"followsHostPointer", "host memory", runFollowsHostPointer, true},
    {"copies", "host pointer", runOnHostPointer, false},
    {"copies", "memory of device 1", runOnOtherDevice, false},
    {"noBarrier", "race", fromOnes<noBarrier>, true},
    {"sharedOverrun", "outside shared memory", onFresh<sharedOverrun>, false},
    {"sharedUnset", "shared memory 'part' that nobody has written", onFresh<sharedUnset>, true},
    {"sharedTooSmall", "outside shared memory", runSharedTooSmall, false},
    {"sharedTooSmall", "launched with 0 bytes", onFresh<sharedTooSmall>, false},
    {"copies", "host code touches device memory", runThenTouchOnHost, false},
    {"copies", "past the end", runThenCopyTooMuch, false},
};

/* What a child that runs the bug writes to standard error before it ends by a signal; empty when
 * it ends otherwise. */
static std::string complaint(const Bug &bug)
{
  int ends[2];
  if (pipe(ends) != 0)
    return "";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    bug.run(bug.kernel);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[512];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, (size_t)got);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) || WEXITSTATUS(status) != 0 ? text : "";
}

static void testFound()
{
  for (const Bug &bug : bugs) {
    if (bug.onlyIfChecked && !cuemu_checked())
      continue;
    const std::string text = complaint(bug);
    /* A sanitizer's report comes first where there is one; UBSan's gives the source line only. */
    const bool located = text.find("runtime error") != std::string::npos;
    const bool sanitized = text.find("AddressSanitizer") != std::string::npos;
    const bool named = text.find(bug.kernel) != std::string::npos;
    const bool found =
        located || (named && (sanitized || text.find(bug.text) != std::string::npos));
    if (!found)
      printf("%s: expected \"%s\", found \"%s\"\n", bug.kernel, bug.text, text.c_str());
    CHECK(found);
  }
}

/* Without checks of accesses, a race shows as results that depend on the order, and memory that
 * nobody has written as numbers that nobody would expect. */
static void testFoundByResults()
{
  if (cuemu_checked())
    return;
  std::vector<int> values(COUNT);
  for (int i = 0; i < COUNT; i++)
    values[i] = i;
  DeviceArray<int> in(values), out(COUNT), unset(COUNT);
  cuemu_setReverse(0);
  launch(noBarrier, 1, COUNT, 0, in.data, out.data);
  const std::vector<int> forward = out.read();
  cuemu_setReverse(1);
  launch(noBarrier, 1, COUNT, 0, in.data, out.data);
  CHECK(out.read() != forward);
  launch(copies, 1, COUNT, 0, unset.data, out.data);
  CHECK(out.read()[0] < 0);
  DeviceArray<float> fresh(1);
  CHECK(fresh.read()[0] != fresh.read()[0]);
}

/* Impossible launches are errors with the kernel's name. */
static void testImpossibleLaunches()
{
  DeviceArray<int> in(ones), out(COUNT);
  CHECK_RAISES(
      launch(copies, 1, 513, 0, in.data, out.data),
      "test: copies failed: invalid configuration argument (cudaErrorInvalidConfiguration)");
  CHECK_RAISES(launch(copies, 0, COUNT, 0, in.data, out.data), "copies failed");
  CHECK_RAISES(launch(copies, 1, COUNT, 64 << 10, in.data, out.data), "copies failed");
  cuemu_failLaunch(1);
  CHECK_RAISES(launch(copies, 1, COUNT, 0, in.data, out.data), "cudaErrorLaunchOutOfResources");
}

int main(void)
{
  catchErrors();
  RUN(testFound());
  RUN(testFoundByResults());
  RUN(testImpossibleLaunches());
  THCState_free(testState());
  return checkResult();
}
