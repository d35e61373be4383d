/* Devices, streams, events and errors. Work is done at once, so streams only have to be valid. */
#include "cuemu.h"

#include <mutex>
#include <set>
#include <stdlib.h>

struct CUstream_st {
  int device;
};
struct CUevent_st {
  int device;
};

namespace cuemu
{

static thread_local int device;
static thread_local cudaError_t lastError;
static int64_t failIn;
static int poolsSupported = 1;
static int64_t waits;
static std::mutex handleMutex;
static std::set<void *> handles; /* live streams and events */

static int deviceCount()
{
  static const int count = getenv("CUEMU_DEVICES") ? atoi(getenv("CUEMU_DEVICES")) : 2;
  return count;
}

bool hasPools()
{
  return poolsSupported != 0;
}

int currentDevice()
{
  return device;
}

cudaError_t setError(cudaError_t error)
{
  lastError = error;
  return error;
}

void noteWait()
{
  waits++;
}

bool launchShouldFail()
{
  return failIn > 0 && --failIn == 0;
}

static bool isLive(void *handle)
{
  std::lock_guard<std::mutex> lock(handleMutex);
  return handles.count(handle) > 0;
}

cudaError_t checkStream(cudaStream_t stream)
{
  if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return cudaSuccess;
  return isLive(stream) && stream->device == device ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

template <typename Handle> static cudaError_t create(Handle **handle)
{
  std::lock_guard<std::mutex> lock(handleMutex);
  *handle = new Handle{device};
  handles.insert(*handle);
  return cudaSuccess;
}

template <typename Handle> static cudaError_t destroy(Handle *handle)
{
  std::lock_guard<std::mutex> lock(handleMutex);
  if (handles.erase(handle) == 0)
    return setError(cudaErrorInvalidResourceHandle);
  delete handle;
  return cudaSuccess;
}

static cudaError_t checkEvent(cudaEvent_t event)
{
  return isLive(event) ? cudaSuccess : setError(cudaErrorInvalidResourceHandle);
}

struct Named {
  cudaError_t error;
  const char *name, *text;
};
static const Named errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

static const Named *find(cudaError_t error)
{
  for (const Named &named : errors)
    if (named.error == error)
      return &named;
  return nullptr;
}

} // namespace cuemu

using namespace cuemu;

const char *cudaGetErrorName(cudaError_t error)
{
  const Named *named = find(error);
  return named ? named->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
  const Named *named = find(error);
  return named ? named->text : "unrecognized error code";
}

cudaError_t cudaGetLastError(void)
{
  const cudaError_t error = lastError;
  lastError = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError(void)
{
  return lastError;
}

cudaError_t cudaGetDeviceCount(int *count)
{
  *count = deviceCount();
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *current)
{
  *current = device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int wanted)
{
  if (wanted < 0 || wanted >= deviceCount())
    return setError(cudaErrorInvalidDevice);
  device = wanted;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int of)
{
  if (of < 0 || of >= deviceCount())
    return setError(cudaErrorInvalidDevice);
  switch (attribute) {
  case cudaDevAttrMaxThreadsPerBlock:
    *value = 1024;
    return cudaSuccess;
  case cudaDevAttrMultiProcessorCount:
    *value = 4; /* few, so that grid-stride loops go round in small tests */
    return cudaSuccess;
  case cudaDevAttrL2CacheSize:
    *value = 64 << 10; /* small, so that chunks are many in small tests */
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMajor:
    *value = 7;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMinor:
    *value = 5;
    return cudaSuccess;
  case cudaDevAttrMemoryPoolsSupported:
    *value = poolsSupported;
    return cudaSuccess;
  }
  return setError(cudaErrorInvalidValue);
}

cudaError_t cudaDriverGetVersion(int *version)
{
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
  return create(stream);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
  return destroy(stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
  noteWait();
  const cudaError_t status = checkStream(stream);
  return status == cudaSuccess ? status : setError(status);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
  const cudaError_t status = checkStream(stream);
  return status == cudaSuccess ? checkEvent(event) : setError(status);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
  return create(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  return destroy(event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
  const cudaError_t status = checkStream(stream);
  return status == cudaSuccess ? checkEvent(event) : setError(status);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
  return checkEvent(event);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  noteWait();
  return checkEvent(event);
}

int64_t cuemu_waits(void)
{
  return waits;
}

void cuemu_failLaunch(int64_t which)
{
  failIn = which;
}

void cuemu_setPools(int supported)
{
  poolsSupported = supported;
}
