/* Fibers: stacks that the scheduler switches between, always on one system thread. */
#ifndef CUEMU_FIBER_H
#define CUEMU_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#  include <ucontext.h>
#  define CUEMU_UCONTEXT 1
#endif

#if defined(__SANITIZE_ADDRESS__)
#  define CUEMU_ASAN 1
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define CUEMU_ASAN 1
#  endif
#endif

namespace cuemu
{

struct Fiber {
#ifdef CUEMU_UCONTEXT
  ucontext_t context;
#else
  void *stackPointer = nullptr; /* while it does not run */
#endif
  char *stack = nullptr; /* lowest address; unknown for the system thread's own stack */
  size_t stackBytes = 0;
#ifdef CUEMU_ASAN
  void *fakeStack = nullptr;
#endif
};

/* A fiber that enters `entry` at the first switch to it; `entry` never returns. The stack has a
 * guard page at its lower end. */
void fiberCreate(Fiber *fiber, size_t stackBytes, void (*entry)());

/* Goes on in `to`; returns when somebody switches back to `from`. */
void fiberSwitch(Fiber *from, Fiber *to);

/* The first thing a fiber's entry does. */
void fiberEntered();

} // namespace cuemu

#endif
