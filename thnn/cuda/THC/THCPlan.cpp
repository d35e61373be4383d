#include "THCPlan.h"
#include "THCLaunch.h"

#include <stdio.h>
#include "call/check.h"

/* ---- The device's memory, for the plan ------------------------------------------------------ */

static void enter(THCPlan *plan)
{
  if (plan->entered)
    return;
  plan->previousDevice = THC_enter(plan->state, &plan->failure);
  plan->entered = true;
}

static void leave(THCPlan *plan)
{
  if (plan->entered)
    THC_leave(plan->previousDevice);
  plan->entered = false;
}

/* Allocates on the state's device. On NULL the plan raises, so the caller's device is restored
 * first. */
static void *allocate(void *context, size_t bytes)
{
  THCPlan *plan = (THCPlan *)context;
  enter(plan);
  void *block = THC_allocate(plan->state, bytes);
  if (!block)
    leave(plan);
  return block;
}

static void release(void *context, void *block)
{
  THCPlan *plan = (THCPlan *)context;
  THCState *state = plan->state;
  THC_release(state, state->allocator, state->allocatorContext, block, state->device,
              &plan->failure);
}

static void gather(void *context, const THNNView *view, size_t elementSize, void *dense)
{
  THC_gather((THCPlan *)context, view, elementSize, dense);
}

static void scatter(void *context, const THNNView *view, size_t elementSize, const void *dense)
{
  THC_scatter((THCPlan *)context, view, elementSize, dense);
}

/* The operations are in the order of THNNElement. */
static const THNNPlanMemory deviceMemory = {
    {&THC_CudaTensorOperations, &THC_CudaDoubleTensorOperations, &THC_CudaLongTensorOperations,
     &THC_CudaIntTensorOperations},
    256,
    allocate,
    release,
    gather,
    scatter};

/* ---- The plan ------------------------------------------------------------------------------- */

void THC_planStart(THCPlan *plan, const char *function, THCState *state)
{
  THC_checkState(state, function);
  THC_raiseIndexError(state);
  THNN_planStartIn(&plan->plan, function, &deviceMemory, plan);
  plan->state = state;
  plan->failure = THC_noFailure();
  plan->entered = false;
}

void THC_planCheckDevice(const THCPlan *plan, const char *name, int position, int device)
{
  if (device == plan->state->device)
    return;
  char expected[40], found[32];
  snprintf(expected, sizeof expected, "a tensor on device %d", plan->state->device);
  snprintf(found, sizeof found, "one on device %d", device);
  THNN_reject(plan->plan.function, name, position, expected, found);
}

void THC_planAcquire(THCPlan *plan)
{
  THNN_planAcquire(&plan->plan);
  enter(plan);
}

void THC_planRelease(THCPlan *plan)
{
  THNN_planRelease(&plan->plan);
  leave(plan);
  THC_raise(plan->plan.function, plan->failure);
}

int64_t THC_largestIndex = INT32_MAX / 2;

bool THC_mayLaunch(THCPlan *plan, const char *name, dim3 grid, dim3 block)
{
  const int64_t threads = (int64_t)block.x * block.y * block.z;
  const bool empty = grid.x == 0 || grid.y == 0 || grid.z == 0;
  if (empty || threads == 0 || threads > THC_MAXIMUM_THREADS)
    THC_note(&plan->failure, name, cudaErrorInvalidConfiguration);
  return !plan->failure.what;
}
